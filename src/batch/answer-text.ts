/**
 * An answer as a short text and back, without loss: what its request's questions say already (ids, labels, legends) is
 * left out. What does not have the form of its questions has no such text.
 */

import type { Answer, Answers } from "../decision/answer.js";
import { stringifyJson } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { ChunkDecision, Chunked } from "../engine/decision.js";
import type { Answered } from "./answerer.js";

/** noul: [P(yes)]; choice: [index of the label, confidence, probabilities]; score: [score, confidence, probabilities]. */
type Numbers = readonly number[];
type PackedChunk = readonly [Omit<ChunkDecision, "answers">, readonly Numbers[]];
type PackedChunked = readonly [Chunked["combine"], readonly (readonly number[])[], readonly PackedChunk[]];
type Packed = readonly [
  model: string,
  inputTokens: number,
  route: Answered["route"],
  answers: readonly Numbers[],
  chunked?: PackedChunked,
];

/** The text of an answer, `undefined` where it would not come back the same from these questions. */
export function printAnswered(
  { model, usage, route, answers, chunked }: Answered,
  questions: readonly Question[],
): string | undefined {
  const numbers = packAnswers(answers, questions);
  if (numbers === undefined) return undefined;
  if (chunked === undefined) return JSON.stringify([model, usage.inputTokens, route, numbers] satisfies Packed);
  const from = questions.map(({ id }) => chunked.from.get(id) ?? []);
  const chunks: PackedChunk[] = [];
  for (const { answers: own, ...source } of chunked.chunks) {
    const packed = packAnswers(own, questions);
    if (packed === undefined) return undefined;
    chunks.push([source, packed]);
  }
  return JSON.stringify([model, usage.inputTokens, route, numbers, [chunked.combine, from, chunks]] satisfies Packed);
}

/** The answer of a text that `printAnswered` made of the answer to these questions; `undefined` for any other text. */
export function parseAnswered(text: string, questions: readonly Question[]): Answered | undefined {
  try {
    const [model, inputTokens, route, numbers, chunked] = JSON.parse(text) as Packed;
    const answered = { model, usage: { inputTokens }, route, answers: unpackAnswers(numbers, questions) };
    return chunked === undefined ? answered : { ...answered, chunked: unpackChunked(chunked, questions) };
  } catch {
    return undefined; // the caller asks again
  }
}

function unpackChunked([combine, from, chunks]: PackedChunked, questions: readonly Question[]): Chunked {
  return {
    combine,
    from: new Map(questions.map(({ id }, q) => [id, from[q] ?? []])),
    chunks: chunks.map(([source, numbers]) => ({ ...source, answers: unpackAnswers(numbers, questions) })),
  };
}

function packAnswers(answers: Answers, questions: readonly Question[]): Numbers[] | undefined {
  if (answers.size !== questions.length) return undefined;
  const packed: Numbers[] = [];
  let at = 0;
  for (const [id, answer] of answers) {
    const question = questions[at++];
    const numbers = question?.id === id && question.type === answer.type ? packAnswer(answer, question) : undefined;
    if (numbers === undefined || !numbers.every(Number.isFinite)) return undefined;
    packed.push(numbers);
  }
  return packed;
}

function packAnswer(answer: Answer, { options, legend }: Question): Numbers | undefined {
  if (answer.type === "noul") return [answer.noul];
  const labels = [...answer.probabilities.keys()];
  if (labels.length !== options.length || labels.some((label, i) => label !== options[i]?.label)) return undefined;
  const { confidence } = answer;
  if (answer.type === "choice") {
    const chosen = labels.indexOf(answer.choice);
    return chosen === -1 ? undefined : [chosen, confidence, ...answer.probabilities.values()];
  }
  const echoed = [...answer.legend];
  const isEcho = echoed.every(([level, text], i) => level === String(i) && isSame(text, legend[i]));
  return isEcho && echoed.length === legend.length
    ? [answer.score, confidence, ...answer.probabilities.values()]
    : undefined;
}

function isSame(one: Question["legend"][number], other: Question["legend"][number] | undefined): boolean {
  return one === other || (other !== undefined && stringifyJson(one) === stringifyJson(other));
}

function unpackAnswers(numbers: readonly Numbers[], questions: readonly Question[]): Answers {
  if (numbers.length !== questions.length) throw new Error("not the answers to these questions");
  return new Map(questions.map((question, q) => [question.id, unpackAnswer(question, numbers[q] ?? [])]));
}

function unpackAnswer({ type, options, legend }: Question, [first, confidence, ...rest]: Numbers): Answer {
  if (first === undefined) throw new Error("not the answer to this question");
  if (type === "noul") return { type, noul: first };
  if (confidence === undefined || rest.length !== options.length) throw new Error("not the answer to this question");
  const probabilities = new Map(options.map(({ label }, i) => [label, rest[i] ?? 0]));
  if (type === "choice") {
    const choice = options[first]?.label;
    if (choice === undefined) throw new Error("not the answer to this question");
    return { type, choice, confidence, probabilities };
  }
  const echo = new Map(legend.map((criterion, level) => [String(level), criterion]));
  return { type, score: first, confidence, legend: echo, probabilities };
}
