/** What `qa room --json` prints: a study as one JSON object. Names and labels of the user are keys of Maps, in their order. */

import type { JsonValue } from "../../decision/json.js";
import type { CheckpointRoom, StateRoom } from "../../engine/room-report.js";
import { explainAdvice } from "./explain-advice.js";
import type { Advice } from "./room-advice.js";
import type { RoomStudy } from "./room-study.js";
import type { CheckpointSurvey, QuestionFit, RoomSurvey, RowMark, UnfitRow } from "./room-survey.js";
import { binsOf } from "./token-histogram.js";

/**
 * The object, every number in tokens or rows; row numbers count from 1, lists hold the first 20.
 *
 * ```
 * checkpoints: [{role, checkpoint, window, cap, max_questions, questions: {id: {type, head, options: {label: tokens},
 *   prefix, room, fit: "fits" | "question_too_long" | "too_many_options", collisions: [[label]]}}}]
 * state?: {role, checkpoint, reason, state_tokens, fits, cost, cap, calls, questions: {id: {room, fits}}}
 * rows?: {
 *   rows, fit: {rows, calls, input_tokens, processed_tokens}, unfit: {rows, first: [{row, file, line, checkpoint,
 *     state_tokens, question, room}], fit_multilingual}, unreadable: {rows, first: [{row, file, line, code, message}]},
 *   over_cap: {rows, calls, most_calls, first: [{row, file, line}]}, long_chunk: {rows, chunks, input_tokens},
 *   routes: [{role, checkpoint, reason, language: string | null, rows}],
 *   checkpoints: [{role, checkpoint, state_tokens: {rows, total, min, p50, p90, p95, p99, max},
 *     histogram: [{from, to, rows}], questions: {id: {fit, unfit, first_unfit: [row]}}, own_questions: {fit, unfit, first_unfit}}]}
 * advice: [{type, ..., message}]
 * ```
 * `state` is there with a state, `rows` with a data file. `advice` has the fields of its type, see `Advice`; an `option` of
 * null stands for the instructions.
 */
export function roomToJson({ report: { checkpoints, state }, survey, advice }: RoomStudy): JsonValue {
  return {
    checkpoints: checkpoints.map(checkpointToJson),
    ...(state === undefined ? {} : { state: stateToJson(state) }),
    ...(survey === undefined ? {} : { rows: surveyToJson(survey, checkpoints) }),
    advice: advice.map(adviceToJson),
  };
}

function checkpointToJson({ role, checkpoint, window, cap, maxQuestions, questions }: CheckpointRoom): JsonValue {
  const entries = questions.map(({ id, type, head, options, prefix, room, fit, collisions }): [string, JsonValue] => {
    const labels = new Map(options.map(({ label, tokens }) => [label, tokens]));
    return [id, { type, head, options: labels, prefix, room, fit, collisions }];
  });
  return { role, checkpoint, window, cap, max_questions: maxQuestions, questions: new Map(entries) };
}

function stateToJson({
  role,
  checkpoint,
  reason,
  stateTokens,
  fits,
  cost,
  cap,
  calls,
  questions,
}: StateRoom): JsonValue {
  const rooms = new Map(questions.map(({ id, room, fits: own }) => [id, { room, fits: own }]));
  return { role, checkpoint, reason, state_tokens: stateTokens, fits, cost, cap, calls, questions: rooms };
}

/** The `rows` of the object; `checkpoints` give the borders of the histograms. */
export function surveyToJson(survey: RoomSurvey, checkpoints: readonly CheckpointRoom[] = []) {
  const { rows, totals, unfit, unreadable, overCap, chunked, routes } = survey;
  return {
    rows,
    fit: {
      rows: totals.rows,
      calls: totals.calls,
      input_tokens: totals.inputTokens,
      processed_tokens: totals.processedTokens,
    },
    unfit: { rows: unfit.count, first: unfit.first.map(unfitToJson), fit_multilingual: survey.unfitButMultilingual },
    unreadable: {
      rows: unreadable.count,
      first: unreadable.first.map(({ code, message, ...mark }) => ({ ...markToJson(mark), code, message })),
    },
    over_cap: {
      rows: overCap.count,
      calls: overCap.calls,
      most_calls: overCap.mostCalls,
      first: overCap.first.map(markToJson),
    },
    long_chunk: { rows: chunked.rows, chunks: chunked.chunks, input_tokens: chunked.inputTokens },
    routes: routes.map((route) => ({ ...route, language: route.language ?? null })),
    checkpoints: [...survey.checkpoints].map(([role, rowsOf]) => {
      const rooms = checkpoints.find((other) => other.role === role)?.questions.map(({ room }) => room) ?? [];
      return { role, ...checkpointSurveyToJson(rowsOf, rooms) };
    }),
  };
}

function checkpointSurveyToJson({ checkpoint, states, questions, own }: CheckpointSurvey, rooms: readonly number[]) {
  const borders = rooms.length === 0 ? [] : [Math.min(...rooms), Math.max(...rooms)];
  return {
    checkpoint,
    state_tokens: {
      rows: states.count,
      total: states.total,
      min: states.min,
      p50: states.atShare(0.5),
      p90: states.atShare(0.9),
      p95: states.atShare(0.95),
      p99: states.atShare(0.99),
      max: states.max,
    },
    histogram: binsOf(states, borders).map(({ from, to, rows }) => ({ from, to, rows })),
    questions: new Map([...questions].map(([id, fit]) => [id, fitToJson(fit)])),
    own_questions: fitToJson(own),
  };
}

function fitToJson({ fit, unfit }: QuestionFit): JsonValue {
  return { fit, unfit: unfit.count, first_unfit: unfit.first };
}

function unfitToJson({ checkpoint, stateTokens, question, room, ...mark }: UnfitRow): JsonValue {
  return { ...markToJson(mark), checkpoint, state_tokens: stateTokens, question, room };
}

function markToJson({ row, file, line }: RowMark) {
  return { row, file, line };
}

function adviceToJson(advice: Advice): JsonValue {
  const message = explainAdvice(advice);
  switch (advice.type) {
    case "shorten": {
      const questions = advice.questions.map(({ question, tokens, removals, longest }) => ({
        question,
        tokens,
        removals: removals.map(({ share, remove }) => ({ share, remove })),
        longest: longest.map(({ part, tokens: own }) => ({ option: part ?? null, tokens: own })),
      }));
      return { type: advice.type, checkpoint: advice.checkpoint, states: advice.states, questions, message };
    }
    case "split_calls": {
      const { type, checkpoint, questions, cost, cap, perCall } = advice;
      return { type, checkpoint, questions, cost, cap, questions_per_call: perCall, message };
    }
    default:
      return { ...advice, message };
  }
}
