/** A request made ready to be read: routed, tokenised, and held to the limits of its model. */

import type { JsonValue } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { ParsedRequest } from "../decision/request.js";
import { costOf, type Limits, splitCalls } from "../decision/room.js";
import { QaError } from "../errors.js";
import type { Model } from "./model.js";
import { assertRoom, type QuestionSet } from "./question-set.js";
import type { Route } from "./router.js";

export interface Reading {
  readonly request: ParsedRequest;
  readonly route: Route;
  readonly model: Model;
  readonly set: QuestionSet;
  /** Token ids of the state, without special tokens. */
  readonly stateIds: readonly number[];
}

/** What a reading takes of its model: the numbers that `qa room` shows. */
export interface Measure {
  readonly stateTokens: number;
  /** Whether every question leaves room for the state. */
  readonly fits: boolean;
  /** Questions x longest sequence, in tokens. */
  readonly cost: number;
  readonly cap: number;
  /** Calls within the cap that the questions would be split over. */
  readonly calls: number;
}

export function measureOf({ set, stateIds, model: { limits } }: Reading): Measure {
  return {
    stateTokens: stateIds.length,
    fits: stateIds.length <= set.room,
    cost: costOf(set.prefixTokens, stateIds.length),
    cap: limits.cap,
    calls: splitCalls(set.prefixTokens, stateIds.length, limits).length,
  };
}

/**
 * Holds the questions of a reading, whatever its state, to the window and, in a single call, to their number.
 * @throws QaError `too_many_questions`, `question_too_long`, `too_many_options`
 */
export function assertQuestionsFit({ request: { questions }, model, set }: Reading, limits: "call" | "split"): void {
  if (limits === "call") assertQuestionCount(questions.length, model.limits);
  assertRoom(set, questions, model);
}

/**
 * Holds the state of a reading to the room of its questions and, in a single call, to the cap.
 * @throws QaError `state_too_long`, `processed_tokens_exceeded`
 */
export function assertStateReadable(reading: Reading, limits: "call" | "split"): void {
  assertStateFits(reading);
  if (limits === "call") assertCost(reading);
}

/** @throws QaError `too_many_questions` */
export function assertQuestionCount(questions: number, { maxQuestions: limit }: Pick<Limits, "maxQuestions">): void {
  if (questions <= limit) return;
  const message = `${questions} questions are over the ${limit} of one call; ask them in several`;
  throw new QaError("too_many_questions", message, { details: { questions, limit } });
}

function assertStateFits({ request: { questions }, set, stateIds }: Reading): void {
  if (stateIds.length <= set.room) return;
  throw new QaError(
    "state_too_long",
    `the state has ${stateIds.length} tokens and the tightest question leaves room for ${set.room}; shorten the state or that question, or have it answered in chunks`,
    { details: { state_tokens: stateIds.length, questions: roomsOf(questions, set, stateIds.length) } },
  );
}

/** question id -> its room, and whether so many tokens of a state fit it. */
export function roomsOf(questions: readonly Question[], { rooms }: QuestionSet, stateTokens: number): JsonValue {
  return Object.fromEntries(
    questions.map(({ id }, i): [string, JsonValue] => {
      const room = rooms[i] ?? 0;
      return [id, { room, fits: stateTokens <= room }];
    }),
  );
}

function assertCost(reading: Reading): void {
  const { cost, cap, stateTokens } = measureOf(reading);
  if (cost <= cap) return;
  const questions = reading.request.questions.length;
  const longest = Math.max(...reading.set.prefixTokens) + stateTokens + 1;
  throw new QaError(
    "processed_tokens_exceeded",
    `${questions} questions x ${longest} tokens cost ${cost}, over the cap of ${cap}; ask fewer questions a call or shorten the longest`,
    { details: { cost, cap, questions, longest_sequence: longest } },
  );
}
