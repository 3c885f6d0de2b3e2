import { describe, expect, it } from "vitest";
import { MAX_NAMES } from "../../../src/batch/progress/answer-counter.js";
import { summaryText } from "../../../src/batch/progress/summary.js";
import { createTally, type Tally } from "../../../src/batch/progress/tally.js";
import { isTallySnapshot, type TallySnapshot } from "../../../src/batch/progress/tally-snapshot.js";
import type { Row } from "../../../src/batch/read/row.js";
import type { Outcome } from "../../../src/batch/write/output-record.js";
import { QaError } from "../../../src/errors.js";
import { choice, decision, jsonRow, noul } from "../write/output-rows.js";
import { drawRows } from "./tally-rows.js";

const band = { low: 0.4, high: 0.6 };

function add(tally: Tally, rows: readonly (readonly [Row, Outcome])[]): Tally {
  for (const [row, outcome] of rows) {
    tally.read();
    tally.add(row, outcome);
  }
  return tally;
}

/** What a sidecar makes of a snapshot. */
function stored(tally: Tally): TallySnapshot {
  const value: unknown = JSON.parse(JSON.stringify(tally.snapshot()));
  if (!isTallySnapshot(value)) throw new Error("a snapshot is not one");
  return value;
}

const summaryOf = ({ counts }: Tally) => summaryText(counts, { elapsedMs: 1000, columns: 100 });

describe("a snapshot of a tally", () => {
  it("goes on exactly where it was taken: any split of the rows into sittings counts as one", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const rows = drawRows(seed, 3 * seed);
      const whole = add(createTally(undefined, { band }), rows);
      const at = (seed * 7919) % (rows.length + 1);
      const first = add(createTally(undefined, { band }), rows.slice(0, at));
      for (let inHand = 0; inHand < 5; inHand++) first.read();
      const second = add(createTally(stored(first), { band }), rows.slice(at));
      expect(second.counts).toEqual(whole.counts);
      expect(second.snapshot()).toEqual(whole.snapshot());
      expect(summaryOf(second)).toBe(summaryOf(whole));
    }
  });

  it("no longer changes, nor does the tally that gave it when another goes on from it", () => {
    const rows = drawRows(5, 80);
    const first = add(createTally(), rows.slice(0, 40));
    const snapshot = first.snapshot();
    const before = JSON.stringify(snapshot);
    add(createTally(snapshot), rows.slice(40));
    expect(JSON.stringify(snapshot)).toBe(before);
    expect(JSON.stringify(first.snapshot())).toBe(before);
    add(first, rows.slice(40));
    expect(JSON.stringify(snapshot)).toBe(before);
  });

  it("takes some 10 KB for 20 questions of 10 labels, however many rows there are", () => {
    const labels = Array.from({ length: 10 }, (_, i) => [`a label of a team ${i}`, i === 3 ? 1 : 0] as const);
    const answers = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`question_${i}`, choice(labels)]));
    const tally = createTally();
    for (let index = 0; index < 5000; index++) tally.add(jsonRow("{}", index), decision(answers));
    expect(JSON.stringify(tally.snapshot()).length).toBeLessThan(12_000);
  });

  it("has a bound that no labels and question ids can pass", () => {
    const tally = createTally();
    for (let index = 0; index < 3000; index++)
      tally.add(
        jsonRow("{}", index),
        decision({
          [`${index % 300} ${"x".repeat(300)}`]: noul(1),
          team: choice([[`${index} ${"y".repeat(2000)}`, 1]]),
        }),
      );
    const { counts } = tally;
    expect(JSON.stringify(tally.snapshot()).length).toBeLessThan(MAX_NAMES + 50_000);
    const team = counts.distributions.find(({ type }) => type === "choice");
    expect(team).toMatchObject({ count: 3000 });
    expect(team?.type === "choice" ? team.other : 0).toBeGreaterThan(2000);
    expect(counts.otherAnswers).toBeGreaterThan(0);
  });
});

describe("isTallySnapshot", () => {
  const snapshot = stored(add(createTally(), drawRows(3, 60)));

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an array", [snapshot]],
    ["another version", { ...snapshot, version: 2 }],
    ["a count that is missing", { ...snapshot, rows: undefined }],
    ["a count below 0", { ...snapshot, failed: -1 }],
    ["a code that this qa does not know", { ...snapshot, failures: [["no_such_code", 1, [1]]] }],
    ["a histogram of other bins", { ...snapshot, distributions: [{ ...snapshot.distributions[0], histogram: [1] }] }],
    ["a type of question that there is not", { ...snapshot, distributions: [{ type: "toString" }] }],
  ])("refuses %s", (_, value) => {
    expect(isTallySnapshot(value)).toBe(false);
  });
});

describe("forgetFailures", () => {
  it("leaves what the answered rows alone would have left, so that failed rows can be answered again", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const rows = drawRows(seed, 60);
      const answered = rows.filter(([, outcome]) => !(outcome instanceof QaError));
      const tally = createTally(stored(add(createTally(), rows)));
      tally.forgetFailures();
      const expected = add(createTally(), answered);
      expect(tally.counts).toEqual(expected.counts);
      const again = rows.filter(([, outcome]) => outcome instanceof QaError);
      expect(add(tally, again).counts).toEqual(add(expected, again).counts);
    }
  });
});
