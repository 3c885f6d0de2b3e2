import { describe, expect, it } from "vitest";
import { choiceConfidence, scoreConfidence } from "../../src/decision/answer.js";
import { type CombineRule, combineAnswers, DEFAULT_COMBINE_RULES } from "../../src/decision/combine.js";
import type { Question, QuestionType } from "../../src/decision/question.js";

function questionOf(type: QuestionType, options: number): Question {
  const labels = Array.from({ length: options }, (_, i) => ({ label: String(i), description: undefined }));
  return { id: "q", type, instructions: undefined, options: labels, legend: [] };
}

const THREE = [
  [0.4, 0.35, 0.25],
  [0.05, 0.15, 0.8],
  [0.6, 0.2, 0.2],
];

describe("combineAnswers", () => {
  it.each<{ type: QuestionType; how: CombineRule; perChunk: number[][]; from: number[] }>([
    {
      type: "noul",
      how: "max",
      perChunk: [
        [0.9, 0.1],
        [0.2, 0.8],
        [0.5, 0.5],
      ],
      from: [1],
    },
    {
      type: "noul",
      how: "max",
      perChunk: [
        [0.99, 0.01],
        [0.98, 0.02],
      ],
      from: [1],
    },
    { type: "choice", how: "confidence", perChunk: THREE, from: [1] },
    { type: "score", how: "confidence", perChunk: THREE, from: [1] },
    // as likely at the top, but the rest of the first lies farther away
    {
      type: "score",
      how: "confidence",
      perChunk: [
        [0.6, 0, 0.4],
        [0.6, 0.4, 0],
      ],
      from: [1],
    },
    {
      type: "choice",
      how: "confidence",
      perChunk: [
        [0.6, 0, 0.4],
        [0.6, 0.4, 0],
      ],
      from: [0],
    },
    { type: "choice", how: "confidence", perChunk: [[1], [1]], from: [0] },
  ])("takes a $type by $how from chunk $from of $perChunk", ({ type, how, perChunk, from }) => {
    const combined = combineAnswers(questionOf(type, perChunk[0]?.length ?? 0), perChunk, how);
    expect(combined.from).toEqual(from);
    expect(combined.probabilities).toEqual(perChunk[from[0] ?? -1]);
  });

  it("rests on the chunk whose confidence no other exceeds", () => {
    const confidences = { choice: choiceConfidence, score: scoreConfidence };
    for (const type of ["choice", "score"] as const) {
      const { probabilities } = combineAnswers(questionOf(type, 3), THREE, "confidence");
      expect(confidences[type](probabilities)).toBe(Math.max(...THREE.map(confidences[type])));
    }
  });

  it.each(["noul", "choice", "score"] as const)("means a %s over every chunk, to a sum of 1", (type) => {
    const { probabilities, from } = combineAnswers(questionOf(type, 3), THREE, "mean");
    expect(from).toEqual([0, 1, 2]);
    expect(probabilities[0]).toBeCloseTo(0.35, 12);
    expect(probabilities.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
  });

  it.each(["noul", "choice", "score"] as const)("returns a single chunk's %s as it is, by its default rule", (type) => {
    const combined = combineAnswers(questionOf(type, 2), [[0.3, 0.7]], DEFAULT_COMBINE_RULES[type]);
    expect(combined).toEqual({ probabilities: [0.3, 0.7], from: [0] });
  });

  it("refuses no chunks, and a rule of another type", () => {
    expect(() => combineAnswers(questionOf("noul", 2), [], "mean")).toThrow("bug in qa");
    expect(() => combineAnswers(questionOf("choice", 2), [[0.5, 0.5]], "max")).toThrow("bug in qa");
  });
});
