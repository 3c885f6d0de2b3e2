import { describe, expect, it } from "vitest";
import { drawAnswers } from "../../src/batch/draw-answers.js";
import { drawBar } from "../../src/batch/progress/bar.js";
import type { Answers } from "../../src/decision/answer.js";

const ANSWERS: Answers = new Map([
  ["urgent", { type: "noul", noul: 0.25 }],
  [
    "team",
    {
      type: "choice",
      choice: "billing",
      confidence: 0.5,
      probabilities: new Map([
        ["billing", 0.75],
        ["a label that is far too long to be shown in whole", 0.25],
      ]),
    },
  ],
  [
    "anger",
    {
      type: "score",
      score: 1.5,
      confidence: 0,
      legend: new Map<string, string | null>([
        ["0", "calm"],
        ["1", null],
      ]),
      probabilities: new Map([
        ["0", 0.25],
        ["1", 0.75],
      ]),
    },
  ],
]);

describe("a bar", () => {
  it.each([
    [0, ""],
    [0.5, "██"],
    [1, "████"],
    [0.53125, "██▏"],
    [-1, ""],
    [2, "████"],
  ])("of the share %d tells eighths and has its width", (share, blocks) => {
    expect(drawBar(share, 4)).toBe(blocks.padEnd(4));
  });
});

describe("answers drawn for a person", () => {
  const lines = drawAnswers(ANSWERS).split("\n");

  it("begin with what was decided", () => {
    expect(lines).toContain("urgent: no");
    expect(lines).toContain("team: billing  (confidence 0.50)");
    expect(lines).toContain("anger: 1.50 of 1  (confidence 0.00)");
  });

  it("have a bar for each option, its description where it has one, and stay narrow", () => {
    expect(lines.filter((line) => line.includes("0.7500"))).toHaveLength(2);
    expect(lines.some((line) => line.startsWith("  0 calm  █████ "))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90);
  });
});
