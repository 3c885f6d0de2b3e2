/** Rows, decisions and questions by hand; what the output tests share. */

import type { Row, RowContent } from "../../../src/batch/read/row.js";
import type { Answer } from "../../../src/decision/answer.js";
import { parseJson } from "../../../src/decision/json.js";
import type { Question } from "../../../src/decision/question.js";
import type { Decision } from "../../../src/engine/decision.js";
import type { Route } from "../../../src/engine/router.js";

/** A row with its place; `index` from 0. */
export function rowOf(content: RowContent, index = 0): Row {
  return { place: { file: "in", line: index + 1, index }, format: "ndjson", content };
}

export function jsonRow(raw: string, index = 0): Row {
  return rowOf({ type: "json", raw, value: parseJson(raw) }, index);
}

export function recordRow(record: readonly (readonly [string, string])[], index = 0): Row {
  return rowOf({ type: "record", columns: record.map(([name]) => name), cells: record.map(([, cell]) => cell) }, index);
}

export function malformedRow(raw: string, columns: readonly string[] = [], cells: readonly string[] = []): Row {
  return rowOf({ type: "malformed", raw, columns, cells, message: "line 1 cannot be read" });
}

export const noul = (p: number): Answer => ({ type: "noul", noul: p });

export function choice(probabilities: readonly (readonly [string, number])[]): Answer {
  const [best = ["", 0] as const] = probabilities.toSorted(([, a], [, b]) => b - a);
  return { type: "choice", choice: best[0], confidence: 0.5, probabilities: new Map(probabilities) };
}

export function score(probabilities: readonly number[]): Answer {
  return {
    type: "score",
    score: probabilities.reduce((sum, p, level) => sum + p * level, 0),
    confidence: 0.25,
    legend: new Map(probabilities.map((_, level) => [String(level), null])),
    probabilities: new Map(probabilities.map((p, level) => [String(level), p])),
  };
}

const ENGLISH: Route = { role: "english", reason: { type: "language", language: "en" } };

export function decision(
  answers: Readonly<Record<string, Answer>>,
  { inputTokens = 10, route = ENGLISH, model = "core-1" } = {},
): Decision {
  return { model, answers: new Map(Object.entries(answers)), usage: { inputTokens }, route };
}

/** A decision that was combined from two chunks. */
export function chunkedDecision(answers: Readonly<Record<string, Answer>>): Decision {
  const chunk = { path: [], stateTokens: 5, answers: new Map(Object.entries(answers)) };
  return {
    ...decision(answers),
    chunked: {
      combine: { noul: "max", choice: "confidence", score: "confidence" },
      from: new Map([["urgent", [1]]]),
      chunks: [
        { ...chunk, from: 0, to: 4 },
        { ...chunk, from: 4, to: 9 },
      ],
    },
  };
}

export function question(id: string, type: Question["type"], labels: readonly string[] = []): Question {
  return {
    id,
    type,
    instructions: "?",
    options: labels.map((label) => ({ label, description: undefined })),
    legend: [],
  };
}
