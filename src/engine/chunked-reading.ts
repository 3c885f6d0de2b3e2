/** A long state answered in chunks: every chunk is read with all questions, then the chunks' answers are combined. */

import { type Answers, answerOf } from "../decision/answer.js";
import { chunkState } from "../decision/chunk.js";
import { type CombineRules, combineAnswers } from "../decision/combine.js";
import { renderText } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import { inputTokensOf } from "../decision/room.js";
import { QaError } from "../errors.js";
import type { ChunkDecision, Decision } from "./decision.js";
import type { Reading } from "./reading.js";

export interface ChunkOptions {
  /** Sentences of a text, or items of a list, that a chunk repeats of the one before. */
  readonly overlap: number;
  readonly combine: CombineRules;
}

/** Probabilities of each question's options for one state. */
export type ReadState = (stateIds: readonly number[]) => Promise<readonly (readonly number[])[]>;

/**
 * Answers a state that is over its room.
 * @throws QaError `state_too_long` where what every chunk must keep is itself over the room
 */
export async function decideInChunks(
  reading: Reading,
  { overlap, combine }: ChunkOptions,
  read: ReadState,
): Promise<Omit<Decision, "model" | "route">> {
  const { request, set } = reading;
  const { questions } = request;
  const parts = cut(reading, overlap);
  const perChunk = await Promise.all(parts.map((part) => read(part.stateIds)));
  const combined = questions.map((question, q) =>
    combineAnswers(
      question,
      perChunk.map((probabilities) => probabilities[q] ?? []),
      combine[question.type],
    ),
  );
  const chunks = parts.map(({ stateIds, path, from, to }, i): ChunkDecision => {
    return { path, from, to, stateTokens: stateIds.length, answers: answersFrom(questions, perChunk[i] ?? []) };
  });
  return {
    answers: answersFrom(
      questions,
      combined.map(({ probabilities }) => probabilities),
    ),
    usage: { inputTokens: parts.reduce((sum, part) => sum + inputTokensOf(set.prefixTokens, part.stateIds.length), 0) },
    chunked: { combine, from: new Map(questions.map(({ id }, q) => [id, combined[q]?.from ?? []])), chunks },
  };
}

/** The answers to questions from the probabilities of their options. */
export function answersFrom(questions: readonly Question[], probabilities: readonly (readonly number[])[]): Answers {
  return new Map(questions.map((question, q) => [question.id, answerOf(question, probabilities[q] ?? [])]));
}

function cut({ request: { state }, model, set, stateIds }: Reading, overlap: number) {
  const tokenize = (part: typeof state) => model.tokenizer.tokenize(renderText(part));
  const result = chunkState(state, { fits: (part) => tokenize(part).length <= set.room, overlap });
  if (result.type === "chunks") return result.chunks.map((chunk) => ({ ...chunk, stateIds: tokenize(chunk.state) }));
  const place = result.path.length === 0 ? "the state" : `the state's ${result.path.join(".")}`;
  const why = result.reason === "rest" ? `every chunk must keep ${place}, which fills` : `${place} cannot be cut to`;
  throw new QaError("state_too_long", `${why} the room of ${set.room} tokens; shorten it or the questions`, {
    details: { state_tokens: stateIds.length, path: result.path },
  });
}
