import { PassThrough } from "node:stream";
import { render } from "ink-testing-library";
import { createElement } from "react";
import { describe, expect, it } from "vitest";
import { createProgress } from "../../../src/batch/progress/create-progress.js";
import { type Clock, createPace } from "../../../src/batch/progress/pace.js";
import { ProgressScreen, type ScreenProps } from "../../../src/batch/progress/progress.js";
import { progressLine } from "../../../src/batch/progress/progress-lines.js";
import { createTally, type TallyCounts } from "../../../src/batch/progress/tally.js";
import { textWidth } from "../../../src/batch/progress/text-width.js";
import { QaError } from "../../../src/errors.js";
import { choice, decision, jsonRow, noul, score } from "../write/output-rows.js";

function countsOf(rows: number): TallyCounts {
  const tally = createTally();
  const labels = ["billing", "怒っている人", "a label of many words", "x"];
  for (let index = 0; index < rows; index++) {
    tally.read();
    const outcome =
      index % 10 === 9
        ? new QaError("state_too_long", "x")
        : decision({
            team: choice(labels.map((label, i) => [label, i === index % 4 ? 1 : 0])),
            a_question_with_a_very_long_id: noul(index % 2),
            urgency: score([0, 1, 0]),
            質問: noul(1),
          });
    tally.add(jsonRow("{}", index), outcome);
  }
  return tally.counts;
}

const paceOf = (counts: TallyCounts, fraction?: number) => createPace(0).observe(counts, fraction, 8000);

function screenOf(props: Partial<ScreenProps> = {}): string[] {
  const counts = props.counts ?? countsOf(40);
  const defaults = { files: ["tickets.csv"], pace: paceOf(counts, 0.5), columns: 80, rows: 24, colors: false };
  const { lastFrame, unmount } = render(createElement(ProgressScreen, { ...defaults, ...props, counts }));
  const lines = (lastFrame() ?? "").split("\n");
  unmount();
  return lines;
}

describe("ProgressScreen", () => {
  it.each([20, 34, 60, 80, 100])("has no line wider than a terminal of %i columns, and as many lines", (columns) => {
    const lines = screenOf({ columns, files: ["怒っている/".repeat(20), "b.csv"] });
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns);
    expect(lines).toHaveLength(screenOf({ columns: 100 }).length);
  });

  it.each([9, 10, 12, 24])("is lower than a terminal of %i lines, so that nothing flickers", (rows) => {
    expect(screenOf({ rows }).length).toBeLessThan(rows - 1);
  });

  it("says how many questions there was no room for", () => {
    expect(screenOf({ rows: 10 }).at(-1)).toContain("and 3 more questions");
  });

  it("shows rows, rates, time left, failures by code and the mix of answers", () => {
    const text = screenOf().join("\n");
    for (const part of ["tickets.csv", " 50%", "about 8 s left", "40 rows", "5.0 rows/s", "45.0 tokens/s"])
      expect(text).toContain(part);
    for (const part of ["4 failed  state_too_long 4", "billing", "mean 1.00", "mean 0.44", "28%"])
      expect(text).toContain(part);
  });

  it("has no bar and no time left where the input's length is unknown", () => {
    const counts = countsOf(40);
    const text = screenOf({ counts, pace: paceOf(counts), files: ["-"] }).join("\n");
    expect(text).toContain("stdin");
    expect(text).not.toMatch(/━|─|left/);
  });

  it("waits before the first answer", () => {
    const counts = createTally().counts;
    expect(screenOf({ counts, pace: createPace(0).observe(counts, 1, 10) }).join("\n")).toContain(
      "waiting for the first",
    );
  });

  it("says of a run that was told to stop what it waits for, on a line that even a low and narrow terminal has", () => {
    expect(screenOf({ isStopping: true })).toContain(" stopping behind the rows in hand; Ctrl-C again: at once");
    expect(
      screenOf({ isStopping: true, columns: 30 })
        .map(textWidth)
        .toSorted((a, b) => a - b)
        .at(-1),
    ).toBeLessThanOrEqual(30);
    expect(screenOf({ isStopping: true, rows: 9 }).length).toBeLessThan(8);
    expect(screenOf().join()).not.toContain("stopping");
  });

  it("has colours only where it may", () => {
    expect(screenOf().join("")).not.toContain("\u001b");
    expect(screenOf({ colors: true }).join("")).toContain("\u001b[36m");
  });
});

/** A clock that stands still until it is told. */
function fakeClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  const calls: { ms: number; due: number; call: () => void }[] = [];
  return {
    now: () => now,
    every(ms, call) {
      const timer = { ms, due: now + ms, call };
      calls.push(timer);
      return () => {
        calls.splice(calls.indexOf(timer), 1);
      };
    },
    pass(ms) {
      const end = now + ms;
      for (; now < end; now++)
        for (const timer of calls)
          if (timer.due <= now) {
            timer.due += timer.ms;
            timer.call();
          }
      now = end;
    },
  };
}

/** A stream that is no terminal, or one of 80 columns. */
function fakeStream(isTTY: boolean) {
  const written: string[] = [];
  const stream = new PassThrough() as unknown as NodeJS.WriteStream;
  stream.on("data", (chunk) => written.push(String(chunk)));
  return { stream: Object.assign(stream, { isTTY, columns: 80, rows: 24 }), written };
}

describe("createProgress", () => {
  it("writes a plain line every five seconds, and nothing once it is closed", async () => {
    const clock = fakeClock();
    const { stream, written } = fakeStream(false);
    const progress = await createProgress({ kind: "lines", stream, files: ["a"], colors: false, clock });
    const counts = countsOf(40);
    progress.update(counts, 0.5);
    clock.pass(4999);
    expect(written).toEqual([]);
    clock.pass(7000);
    await progress.close();
    clock.pass(60_000);
    expect(written).toHaveLength(2);
    expect(written[0]).toBe("40 rows, 8.0 rows/s, 72.0 tokens/s, 50%, about 5 s left, 4 failed (state_too_long 4)\n");
  });

  it("writes at once that a run was told to stop, and nothing of a stop after the end", async () => {
    const { stream, written } = fakeStream(false);
    const [stop, late] = [new AbortController(), new AbortController()];
    const options = { kind: "lines", stream, files: ["a"], colors: false, clock: fakeClock() } as const;
    const progress = await createProgress({ ...options, signal: stop.signal });
    stop.abort();
    await progress.close();
    await (await createProgress({ ...options, signal: late.signal })).close();
    late.abort();
    expect(written).toEqual(["stopping behind the rows in hand; Ctrl-C again: at once\n"]);
  });

  it("writes nothing when quiet", async () => {
    const clock = fakeClock();
    const { stream, written } = fakeStream(true);
    const progress = await createProgress({ kind: "none", stream, files: ["a"], colors: true, clock });
    progress.update(countsOf(40), 0.5);
    clock.pass(60_000);
    await progress.close();
    expect(written).toEqual([]);
  });

  it("leaves no text on a terminal, and the cursor shown where the screen began", async () => {
    const clock = fakeClock();
    const { stream, written } = fakeStream(true);
    const progress = await createProgress({ kind: "screen", stream, files: ["a"], colors: false, clock });
    progress.update(countsOf(40), 0.5);
    clock.pass(1000);
    await expect.poll(() => written.join("")).toContain("40 rows");
    await progress.close();
    clock.pass(1000);
    const all = written.join("");
    const last = all.slice(all.lastIndexOf("\u001b[2K"));
    expect(last).not.toContain("rows");
    expect(last).toMatch(/\u001b\[\?25h/);
    expect(all.endsWith("\u001b[1A")).toBe(true);
  });
});

describe("progressLine", () => {
  it("says only what is known", () => {
    const counts = createTally().counts;
    expect(progressLine(counts, createPace(0).observe(counts, undefined, 100))).toBe("0 rows");
  });
});
