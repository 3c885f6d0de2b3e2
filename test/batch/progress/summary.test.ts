import { describe, expect, it } from "vitest";
import { summaryText } from "../../../src/batch/progress/summary.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import { textWidth } from "../../../src/batch/progress/text-width.js";
import { QaError } from "../../../src/errors.js";
import { choice, decision, jsonRow, noul, recordRow, score } from "../write/output-rows.js";

function tallyOf(rows: number, labels: readonly string[] = ["billing", "怒っている人", "sales"]) {
  const tally = createTally();
  for (let index = 0; index < rows; index++)
    tally.add(
      jsonRow("{}", index),
      index % 10 === 9
        ? new QaError("state_too_long", "x")
        : decision(
            {
              team: choice(labels.map((label, i) => [label, i === index % labels.length ? 1 : 0])),
              ["a_question_with_an_id_".repeat(6)]: noul(index % 2),
              mood: score([0.25, 0.75]),
            },
            index % 3 === 0
              ? {
                  model: "core-m",
                  route: { role: "multilingual", reason: { type: "foreign_paragraph", language: "de" } },
                }
              : {},
          ),
    );
  return tally;
}

describe("summaryText", () => {
  it.each([20, 60, 80, 100])("has no line wider than %i columns", (columns) => {
    const text = summaryText(tallyOf(100).counts, { elapsedMs: 4200, columns });
    expect(Math.max(...text.split("\n").map(textWidth))).toBeLessThanOrEqual(columns);
  });

  it("uses at most 100 columns of a wide terminal", () => {
    const counts = tallyOf(100).counts;
    expect(summaryText(counts, { elapsedMs: 1, columns: 300 })).toBe(
      summaryText(counts, { elapsedMs: 1, columns: 100 }),
    );
  });

  it("tells rows, time, rates and tokens, failures with their first rows, models and why", () => {
    const text = summaryText(tallyOf(100).counts, { elapsedMs: 4000, columns: 100 });
    const [headline, failures] = text.split("\n");
    expect(headline).toBe("90 of 100 rows answered in 4.0 s, 25.0 rows/s, 900 tokens, 225 tokens/s");
    expect(failures?.trim()).toBe("10 failed: state_too_long  rows 10, 20, 30, 40, 50, ...");
    expect(text).toMatch(/^core-m +30 rows {2}a paragraph in de$/m);
    expect(text).toMatch(/^core-1 +60 rows {2}language en$/m);
  });

  it("says how many rows were not answered anew, where there are any", () => {
    const tally = tallyOf(9);
    const other = { ...decision({}), reused: "run" } as const;
    tally.add(jsonRow("{}", 9), other);
    tally.add(jsonRow("{}", 10), { ...other, reused: "cache" });
    const text = summaryText(tally.counts, { elapsedMs: 4000, columns: 100 });
    expect(text).toMatch(/1 duplicate row answered once,?\s1 row from the cache/);
    expect(summaryText(tallyOf(9).counts, { elapsedMs: 4000, columns: 100 })).not.toMatch(/duplicate|cache/);
  });

  it("draws the answers to each question as bars that stand below each other", () => {
    const text = summaryText(tallyOf(9).counts, { elapsedMs: 4000, columns: 80 });
    expect(text).toMatch(/^mood, 9 answers, mean score 0.75$/m);
    const bars = text.split("\n").filter((line) => line.includes("%"));
    expect(bars).toHaveLength(3 + 1 + 2);
    expect(new Set(bars.map((line) => textWidth(line.slice(0, line.indexOf("%"))))).size).toBe(1);
  });

  it("names the most frequent labels, and how many more there are", () => {
    const labels = Array.from({ length: 30 }, (_, i) => `label ${i}`);
    const text = summaryText(tallyOf(5, labels).counts, { elapsedMs: 1, columns: 80 });
    expect(text).toContain("label 4 ");
    expect(text).toContain("and 18 more labels");
  });

  it("tells which fields of the input gave way", () => {
    const tally = createTally();
    tally.add(recordRow([["model", "T"]]), decision({}));
    expect(summaryText(tally.counts, { elapsedMs: 1, columns: 80 })).toContain("model, a field of 1 row, gave way");
  });

  it("tells how many rows have an unsure answer", () => {
    const tally = createTally(undefined, { band: { low: 0.4, high: 0.6 } });
    tally.add(jsonRow("{}"), decision({ urgent: noul(0.5) }));
    expect(summaryText(tally.counts, { elapsedMs: 1, columns: 100 })).toContain(", 1 row uncertain\n");
  });

  it("is short for a run without rows", () => {
    expect(summaryText(createTally().counts, { elapsedMs: 0, columns: 80 })).toBe(
      "0 rows answered in 0.0 s, 0 rows/s, 0 tokens, 0 tokens/s\n",
    );
  });
});
