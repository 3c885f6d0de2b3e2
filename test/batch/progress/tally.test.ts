import { describe, expect, it } from "vitest";
import { MAX_QUESTIONS } from "../../../src/batch/progress/answer-counter.js";
import { MAX_LABELS } from "../../../src/batch/progress/distribution.js";
import { meanOf, sharesOf } from "../../../src/batch/progress/shares.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import { type ErrorCode, QaError } from "../../../src/errors.js";
import {
  choice,
  chunkedDecision,
  decision,
  jsonRow,
  malformedRow,
  noul,
  recordRow,
  score,
} from "../write/output-rows.js";

const row = (index = 0) => jsonRow("{}", index);
const failure = (code: ErrorCode) => new QaError(code, "x");

describe("createTally", () => {
  it("counts answered and failed rows, the failed by code with their first rows", () => {
    const tally = createTally();
    for (let index = 0; index < 8; index++) {
      tally.read();
      tally.add(row(index), index === 0 ? decision({ a: noul(1) }) : failure("state_too_long"));
    }
    tally.read();
    tally.add(malformedRow("x"), failure("malformed_row"));
    tally.read();
    expect(tally.counts).toMatchObject({ rowsRead: 10, rows: 9, answered: 1, failed: 8, malformed: 1 });
    expect([...tally.counts.failures]).toEqual([
      ["state_too_long", { count: 7, firstRows: [2, 3, 4, 5, 6] }],
      ["malformed_row", { count: 1, firstRows: [1] }],
    ]);
  });

  it("adds up tokens and the rows that were answered in chunks", () => {
    const tally = createTally();
    tally.add(row(), decision({}, { inputTokens: 7 }));
    tally.add(row(), chunkedDecision({}));
    expect(tally.counts).toMatchObject({ inputTokens: 17, chunked: 1 });
  });

  it("counts the rows that took the answer of an equal row, and those answered from a cache", () => {
    const tally = createTally();
    for (const reused of [undefined, "run", "run", "cache"] as const) tally.add(row(), { ...decision({}), reused });
    expect(tally.counts).toMatchObject({ answered: 4, duplicates: 2, cached: 1 });
  });

  it("keeps the routes by model and reason, whatever the reason's numbers", () => {
    const tally = createTally();
    const short = (letters: number) =>
      ({ role: "multilingual", reason: { type: "few_letters", letters, needed: 160 } }) as const;
    tally.add(row(), decision({}));
    tally.add(row(), decision({}, { model: "m", route: short(3) }));
    tally.add(row(), decision({}, { model: "m", route: short(4) }));
    expect([...tally.counts.routes.values()]).toEqual([
      { model: "core-1", reason: "language en", count: 1 },
      { model: "m", reason: "too short to be sure it is English", count: 2 },
    ]);
  });

  it("counts a choice by label in the order of the criteria, labels never chosen too", () => {
    const tally = createTally();
    tally.add(
      row(),
      decision({
        team: choice([
          ["10", 0.1],
          ["2", 0.9],
        ]),
      }),
    );
    const [team] = tally.counts.distributions;
    expect(team && sharesOf(team)).toEqual([
      { label: "10", count: 0, share: 0 },
      { label: "2", count: 1, share: 1 },
    ]);
  });

  it("takes a noul of 0.5 as yes, and keeps the mean", () => {
    const tally = createTally();
    for (const p of [0.5, 0.49, 0.9, 0]) tally.add(row(), decision({ urgent: noul(p) }));
    const [urgent] = tally.counts.distributions;
    expect(urgent && sharesOf(urgent)).toEqual([{ label: "yes", count: 2, share: 0.5 }]);
    expect(urgent && meanOf(urgent)).toBeCloseTo(0.4725);
  });

  it("counts a score by its most probable level, and keeps the mean of the scores", () => {
    const tally = createTally();
    tally.add(row(), decision({ mood: score([0.45, 0, 0.55]) }));
    tally.add(row(), decision({ mood: score([1, 0, 0]) }));
    const [mood] = tally.counts.distributions;
    expect(mood && sharesOf(mood).map(({ count }) => count)).toEqual([1, 0, 1]);
    expect(mood && meanOf(mood)).toBeCloseTo(0.55);
  });

  it("keeps questions of one id and different types apart", () => {
    const tally = createTally();
    tally.add(row(), decision({ a: noul(1) }));
    tally.add(row(), decision({ a: score([1]) }));
    expect(tally.counts.distributions.map(({ type }) => type)).toEqual(["noul", "score"]);
  });

  it("does not grow with questions and labels beyond its bounds, and counts what it leaves out", () => {
    const tally = createTally();
    for (let i = 0; i < 1000; i++) tally.add(row(), decision({ [`q${i}`]: noul(1) }));
    expect(tally.counts.distributions).toHaveLength(MAX_QUESTIONS);
    expect(tally.counts.otherAnswers).toBe(1000 - MAX_QUESTIONS);
    const labels = createTally();
    for (let i = 0; i < 1000; i++) labels.add(row(), decision({ q: choice([[`label ${i}`, 1]]) }));
    const [q] = labels.counts.distributions;
    const shares = q === undefined ? [] : sharesOf(q);
    expect(shares).toHaveLength(MAX_LABELS + 1);
    expect(shares.at(-1)).toMatchObject({ label: "other labels", count: 1000 - MAX_LABELS });
  });

  it("puts P(yes) of a noul and the confidence of the others into twenty bins", () => {
    const tally = createTally();
    for (const p of [0, 0.049, 0.05, 1]) tally.add(row(), decision({ urgent: noul(p), mood: score([1, 0]) }));
    const [urgent, mood] = tally.counts.distributions.map(({ histogram }) => histogram);
    expect(urgent).toEqual([2, 1, ...new Array(17).fill(0), 1]);
    expect(mood?.[5]).toBe(4);
  });

  it("counts the answers in the band, and each row with one once", () => {
    const tally = createTally(undefined, { band: { low: 0.2, high: 0.5 } });
    tally.add(row(), decision({ urgent: noul(0.5), mood: score([1, 0]) }));
    tally.add(row(), decision({ urgent: noul(0.51), mood: score([1, 0]) }));
    tally.add(row(), decision({ urgent: noul(0.1) }));
    expect(tally.counts.uncertain).toBe(2);
    expect(tally.counts.distributions.map(({ uncertain }) => uncertain)).toEqual([1, 2]);
  });

  it("counts the rows whose own fields gave way to the output's", () => {
    const tally = createTally();
    tally.add(recordRow([["model", "T"]]), decision({}));
    tally.add(recordRow([["model", "S"]]), failure("state_too_long"));
    expect([...tally.counts.replaced]).toEqual([["model", 2]]);
  });
});
