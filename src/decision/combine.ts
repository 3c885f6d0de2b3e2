/** One answer from the answers to the chunks of a long state: the chunk that decides, or the mean of all. */

import { choiceConfidence, scoreConfidence } from "./answer.js";
import type { Question, QuestionType } from "./question.js";

/** How the chunks' answers become one, by question type. */
export interface CombineRules {
  /** `max`: the chunk with the highest P(yes). */
  readonly noul: "max" | "mean";
  /** `confidence`: the chunk with the highest confidence. */
  readonly choice: "confidence" | "mean";
  /** `confidence`: the chunk with the highest confidence. */
  readonly score: "confidence" | "mean";
}

export type CombineRule = CombineRules[QuestionType];

export const DEFAULT_COMBINE_RULES: CombineRules = {
  noul: "max",
  choice: "confidence",
  score: "confidence",
};

export interface Combined {
  /** One per option, in their order. */
  readonly probabilities: readonly number[];
  /** Indexes of the chunks that the probabilities rest on, ascending. */
  readonly from: readonly number[];
}

type Measure = (probabilities: readonly number[]) => number;

const MEASURES: Record<QuestionType, { rule: CombineRule; measure: Measure }> = {
  noul: { rule: "max", measure: (probabilities) => probabilities[1] ?? 0 },
  choice: { rule: "confidence", measure: choiceConfidence },
  score: { rule: "confidence", measure: scoreConfidence },
};

/**
 * Combines the probabilities that each chunk gave to a question's options, unrounded; of chunks that tie the first
 * decides, and in a mean every chunk weighs the same.
 * @throws Error without any chunk, or for a rule that the question's type does not have
 */
export function combineAnswers(
  question: Question,
  perChunk: readonly (readonly number[])[],
  how: CombineRule,
): Combined {
  if (perChunk.length === 0) throw new Error("no chunk was answered; this is a bug in qa");
  if (how === "mean") return { probabilities: meanOf(perChunk), from: perChunk.map((_, i) => i) };
  const { rule, measure } = MEASURES[question.type];
  if (how !== rule) throw new Error(`a ${question.type} cannot be combined by ${how}; this is a bug in qa`);
  const measures = perChunk.map(measure);
  const best = measures.indexOf(Math.max(...measures));
  return { probabilities: perChunk[best] ?? [], from: [best] };
}

function meanOf(perChunk: readonly (readonly number[])[]): number[] {
  const first = perChunk[0] ?? [];
  return first.map((_, option) => perChunk.reduce((sum, p) => sum + (p[option] ?? 0), 0) / perChunk.length);
}
