import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { engineAnswerer } from "../../src/batch/answerer.js";
import { openSink } from "../../src/batch/open-sink.js";
import { createTally } from "../../src/batch/progress/tally.js";
import { type RunEnd, type RunOptions, run } from "../../src/batch/run.js";
import { parseQuestions } from "../../src/decision/question.js";
import { Engine } from "../../src/engine/engine.js";
import { createFakeInference, type FakeInference } from "../fake-inference.js";

const folder = mkdtempSync(join(tmpdir(), "qa-run-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface Ended {
  readonly end: RunEnd | undefined;
  readonly error: unknown;
  readonly text: string;
  readonly tally: ReturnType<typeof createTally>;
}

/** Runs over inputs with fake inference; what the output holds is told also where the run fails. */
async function runOver(
  inputs: readonly string[],
  options: Partial<RunOptions> = {},
  inference: FakeInference = createFakeInference(),
): Promise<Ended> {
  const engine = await Engine.open({}, inference);
  const out = join(folder, "out");
  rmSync(out, { force: true });
  const tally = createTally();
  let error: unknown;
  const end = await run(engineAnswerer(engine), {
    inputs,
    read: {},
    state: {},
    questions,
    model: "core-0.3.20",
    output: { format: "ndjson" },
    files: { out },
    sink: await openSink({ files: { out }, restart: true, inputs }),
    tally,
    onRow: () => {},
    signal: new AbortController().signal,
    ...options,
  }).catch((caught: unknown) => {
    error = caught;
    return undefined;
  });
  await engine.close();
  return { end, error, text: readOr(out), tally };
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "nothing was written";
  }
}

function rowsOf({ text }: Ended): Record<string, unknown>[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("a run", () => {
  it("writes one row for each row of all files, in order, whatever their lengths", async () => {
    const lines = Array.from({ length: 700 }, (_, i) => `${i} ${"word ".repeat((i * 37) % 90)}`);
    const first = file("a.txt", lines.slice(0, 400).join("\n"));
    const second = file(
      "b.ndjson",
      lines
        .slice(400)
        .map((text) => JSON.stringify({ text }))
        .join("\n"),
    );
    const ended = await runOver([first, second]);
    expect(ended.end).toBe("finished");
    expect(rowsOf(ended).map((row) => row.text)).toEqual(lines);
    expect(ended.tally.counts).toMatchObject({ rows: 700, answered: 700, rowsRead: 700 });
  });

  it("keeps failed rows in their place and answers the others", async () => {
    const input = file("c.ndjson", '{"text":"one"}\n{broken\n{"text":null}\n{"text":"four"}\n');
    const rows = rowsOf(await runOver([input]));
    expect(rows.map((row) => (row.error as { code: string } | undefined)?.code)).toEqual([
      undefined,
      "malformed_row",
      "state_missing",
      undefined,
    ]);
    expect(rows[1]?.row).toBe("{broken");
  });

  it("lets rows that are requests keep their questions and their model, and reports their issues", async () => {
    const own = { state: "hi", model: "core-multilingual", questions: { a: { type: "noul", instructions: "A?" } } };
    const bad = { state: 5, questions: { a: { type: "noul" } } };
    const input = file("d.ndjson", `${JSON.stringify(own)}\n${JSON.stringify(bad)}\n{"text":"plain"}\n`);
    const rows = rowsOf(await runOver([input]));
    expect(Object.keys(rows[0]?.answers as object)).toEqual(["a"]);
    expect(rows[0]?.model).toBe("core-multilingual-0.3.20");
    expect(rows[1]?.error).toMatchObject({ issues: [{ path: "state" }, { path: "questions.a" }] });
    expect(Object.keys(rows[2]?.answers as object)).toEqual(["urgent"]);
  });

  it("writes all rows before the place where an input is damaged, then fails", async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => JSON.stringify({ text: `${i} ${Math.sin(i)}` }));
    const packed = gzipSync(lines.join("\n"));
    const input = file("e.ndjson.gz", packed.subarray(0, packed.length - 2000));
    const ended = await runOver([input]);
    expect(ended.error).toMatchObject({ code: "input_damaged" });
    const rows = rowsOf(ended);
    expect(rows.length).toBeGreaterThan(1000);
    expect(rows.every((row) => row.answers !== undefined)).toBe(true);
    expect((ended.error as Error).message).toContain(`after row ${rows.length} `);
  });

  it("finds what is wrong with it before the output is touched", async () => {
    const input = file("f.csv", "id,note,subject\n1,a,b\n");
    const ended = await runOver([input]);
    expect(ended.error).toMatchObject({ code: "invalid_usage" });
    expect((ended.error as Error).message).toContain("id, note, subject");
    expect(ended.text).toBe("nothing was written");
  });

  it("says that nothing is asked where neither run nor rows have questions", async () => {
    const ended = await runOver([file("g.txt", "hello\n")], { questions: undefined });
    expect((ended.error as Error).message).toContain("--questions FILE or --preset NAME");
  });

  it("stopped by its signal, writes the batches in hand as whole rows and begins no more", async () => {
    const stop = new AbortController();
    const input = file("h.txt", "one\n".repeat(5000));
    const options = { signal: stop.signal, onRow: () => stop.abort() };
    const ended = await runOver([input], options);
    expect(ended.end).toBe("interrupted");
    const rows = rowsOf(ended);
    expect(rows.length).toBeLessThan(1000);
    expect(rows.every((row) => row.error === undefined)).toBe(true);
  });

  it("writes a CSV header even where there is no row", async () => {
    const ended = await runOver([file("i.csv", "text\n")], { output: { format: "csv" } });
    expect(ended.end).toBe("finished");
    expect(ended.text).toBe("urgent,model,error.code,error.message\n");
  });

  it("has at most its window of rows in hand", async () => {
    const inference = createFakeInference({ hold: true });
    const input = file("j.txt", "one\n".repeat(2000));
    const tally = createTally();
    const engine = await Engine.open({}, inference);
    const stop = new AbortController();
    const running = run(engineAnswerer(engine), {
      inputs: [input],
      read: {},
      state: {},
      questions,
      model: "core-0.3.20",
      output: { format: "ndjson" },
      files: { out: join(folder, "held") },
      sink: await openSink({ files: { out: join(folder, "held") }, restart: true, inputs: [input] }),
      tally,
      onRow: () => {},
      signal: stop.signal,
    });
    while (inference.batches.length < inference.slots) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(tally.counts.rowsRead).toBeLessThanOrEqual(engine.config.windowRows + 1);
    stop.abort();
    for (const batch of inference.batches) batch.settle();
    expect(await running).toBe("interrupted");
  });
});
