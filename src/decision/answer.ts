/** Answers and their confidence, from probabilities (CONTRACT 2). Numbers are rounded to 4 decimals at the very end. */

import { type JsonValue, stringifyJson } from "./json.js";
import type { Question } from "./question.js";

export interface NoulAnswer {
  readonly type: "noul";
  /** P(yes). */
  readonly noul: number;
}

export interface ChoiceAnswer {
  readonly type: "choice";
  readonly choice: string;
  readonly confidence: number;
  /** label -> probability, in the order of the criteria. */
  readonly probabilities: ReadonlyMap<string, number>;
}

export interface ScoreAnswer {
  readonly type: "score";
  /** Expected level. */
  readonly score: number;
  readonly confidence: number;
  /** level -> criterion as given. */
  readonly legend: ReadonlyMap<string, JsonValue>;
  readonly probabilities: ReadonlyMap<string, number>;
}

export type Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer;

/** question id -> answer, in the order of the questions. */
export type Answers = ReadonlyMap<string, Answer>;

/** The answer to a question from the probabilities of its options, in their order. */
export function answerOf(question: Question, probabilities: readonly number[]): Answer {
  switch (question.type) {
    case "noul":
      return { type: "noul", noul: round4(probabilities[1] ?? 0) };
    case "choice":
      return {
        type: "choice",
        choice: question.options[indexOfMax(probabilities)]?.label ?? "",
        confidence: round4(choiceConfidence(probabilities)),
        probabilities: byLabel(question, probabilities),
      };
    case "score":
      return {
        type: "score",
        score: round4(probabilities.reduce((sum, p, level) => sum + level * p, 0)),
        confidence: round4(scoreConfidence(probabilities)),
        legend: new Map(question.legend.map((criterion, level) => [String(level), criterion])),
        probabilities: byLabel(question, probabilities),
      };
    default:
      return question.type satisfies never;
  }
}

function byLabel(question: Question, probabilities: readonly number[]): Map<string, number> {
  return new Map(question.options.map(({ label }, i) => [label, round4(probabilities[i] ?? 0)]));
}

/** (n * p_max - 1) / (n - 1), and 1 when n = 1. */
export function choiceConfidence(probabilities: readonly number[]): number {
  const n = probabilities.length;
  return n === 1 ? 1 : (n * Math.max(...probabilities) - 1) / (n - 1);
}

/** max(0, 1 - E|level - mode| / MAD of the uniform distribution), and 1 when n = 1. */
export function scoreConfidence(probabilities: readonly number[]): number {
  const n = probabilities.length;
  if (n === 1) return 1;
  const mode = indexOfMax(probabilities);
  const spread = probabilities.reduce((sum, p, level) => sum + p * Math.abs(level - mode), 0);
  const uniform = probabilities.reduce((sum, _, level) => sum + Math.abs(level - (n - 1) / 2), 0) / n;
  return Math.max(0, 1 - spread / uniform);
}

function indexOfMax(values: readonly number[]): number {
  return values.reduce((best, value, i) => (value > (values[best] ?? Number.NEGATIVE_INFINITY) ? i : best), 0);
}

/** Rounds to 4 decimals; never to -0. */
export function round4(value: number): number {
  return Math.round(value * 1e4) / 1e4 + 0;
}

/** Answers as the wire's JSON text, keys in the order of questions and criteria. */
export function stringifyAnswers(answers: Answers): string {
  return stringifyJson(answersToJson(answers));
}

/** Answers as a JSON value whose objects keep their order. */
export function answersToJson(answers: Answers): JsonValue {
  return new Map([...answers].map(([id, answer]) => [id, { ...answer } as unknown as JsonValue]));
}
