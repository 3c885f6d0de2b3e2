/**
 * What a data file takes of its checkpoints, measured row by row without answering any: where rows are routed, how long
 * their states are, which questions they fit, what the calls cost. Keeps counts and the first rows of each kind only, so
 * memory does not grow with the file.
 */

import type { ParsedRequest } from "../../decision/request.js";
import { costOf, inputTokensOf, splitCalls } from "../../decision/room.js";
import type { Role } from "../../engine/deployment.js";
import type { Engine } from "../../engine/engine.js";
import type { QuestionSet } from "../../engine/question-set.js";
import { measureOf, type Reading } from "../../engine/reading.js";
import type { Route, RouteReason } from "../../engine/router.js";
import { QaError, toQaError } from "../../errors.js";
import type { RowPlace } from "../read/row.js";
import { createTokenHistogram, type TokenHistogram } from "./token-histogram.js";

/** A request and the row it stands in. */
export interface MeasuredRequest {
  readonly row: { readonly place: RowPlace };
  readonly request: ParsedRequest | QaError;
  /** Whether the row carries its own questions. */
  readonly own: boolean;
}

/** Rows of a kind: how many, and the first of them. */
export interface RowList<T> {
  count: number;
  readonly first: T[];
}

const LISTED_ROWS = 20;

export interface RowMark {
  /** Number of the row over all inputs, from 1. */
  readonly row: number;
  readonly file: string;
  readonly line: number;
}

export interface UnfitRow extends RowMark {
  readonly checkpoint: string;
  readonly stateTokens: number;
  /** The question that leaves the least room. */
  readonly question: string;
  readonly room: number;
}

export interface UnreadableRow extends RowMark {
  readonly code: string;
  readonly message: string;
}

export interface RoomSurvey {
  rows: number;
  readonly unreadable: RowList<UnreadableRow>;
  readonly routes: RouteCount[];
  /** Only those that rows are routed to. */
  readonly checkpoints: Map<Role, CheckpointSurvey>;
  /** Rows whose state is over the room of a question. */
  readonly unfit: RowList<UnfitRow>;
  /** Of these: rows of the English checkpoint that fit the multilingual one. */
  unfitButMultilingual: number;
  /** Rows that fit but whose questions are over the cap of one call. */
  readonly overCap: RowList<RowMark> & { calls: number; mostCalls: number };
  /** Of the rows that fit: calls within the cap, tokens of all sequences, and questions x longest sequence of each call. */
  readonly totals: { rows: number; calls: number; inputTokens: number; processedTokens: number };
  /** An estimate of `--long chunk` for the rows that do not fit: ceil(state / room) chunks each. */
  readonly chunked: { rows: number; chunks: number; inputTokens: number };
}

export interface RouteCount {
  readonly role: Role;
  readonly checkpoint: string;
  readonly reason: RouteReason["type"];
  /** Where the reason is a language. */
  readonly language: string | undefined;
  rows: number;
}

export interface CheckpointSurvey {
  readonly checkpoint: string;
  readonly states: TokenHistogram;
  /** Of the rows that are asked the shared questions. */
  readonly sharedStates: TokenHistogram;
  /** Tokens of the longest of these that fits. */
  longestFit: number;
  /** question id -> rows that fit it and rows that do not; of the shared questions. */
  readonly questions: Map<string, QuestionFit>;
  /** Rows that carry their own questions. */
  readonly own: QuestionFit;
}

export interface QuestionFit {
  fit: number;
  readonly unfit: RowList<number>;
}

export interface SurveyOptions<T> {
  /** Called after each row with the number so far. */
  readonly onRow?: ((rows: number) => void) | undefined;
  /** Told what each row reads as, or why it cannot be read. */
  readonly onReading?: ((item: T, reading: Reading | QaError) => void) | undefined;
}

/**
 * Surveys requests in order.
 * @throws QaError `checkpoint_missing`, `checkpoint_damaged`; what is wrong with a row is counted
 */
export async function surveyRoom<T extends MeasuredRequest>(
  engine: Engine,
  requests: AsyncIterable<T>,
  { onRow, onReading }: SurveyOptions<T> = {},
): Promise<RoomSurvey> {
  const survey = emptySurvey();
  for await (const item of requests) {
    const { row, request, own } = item;
    const mark = markOf(row.place);
    survey.rows++;
    const reading = request instanceof QaError ? request : await engine.prepare(request).catch(errorOfRow);
    if (reading instanceof QaError) {
      list(survey.unreadable, { ...mark, code: reading.code, message: reading.message });
    } else {
      addRow(survey, reading, { mark, own });
      if (reading.stateIds.length > reading.set.room && (await fitsMultilingual(engine, reading)))
        survey.unfitButMultilingual++;
    }
    onReading?.(item, reading);
    onRow?.(survey.rows);
  }
  return survey;
}

function emptySurvey(): RoomSurvey {
  return {
    rows: 0,
    unreadable: emptyList(),
    routes: [],
    checkpoints: new Map(),
    unfit: emptyList(),
    unfitButMultilingual: 0,
    overCap: { ...emptyList<RowMark>(), calls: 0, mostCalls: 0 },
    totals: { rows: 0, calls: 0, inputTokens: 0, processedTokens: 0 },
    chunked: { rows: 0, chunks: 0, inputTokens: 0 },
  };
}

function emptyList<T>(): RowList<T> {
  return { count: 0, first: [] };
}

function list<T>(rows: RowList<T>, row: T): void {
  rows.count++;
  if (rows.first.length < LISTED_ROWS) rows.first.push(row);
}

function markOf({ file, line, index }: RowPlace): RowMark {
  return { row: index + 1, file, line };
}

function errorOfRow(error: unknown): QaError {
  const failure = toQaError(error);
  if (failure.code === "unknown_model") return failure;
  throw failure;
}

function addRow(survey: RoomSurvey, reading: Reading, { mark, own }: { mark: RowMark; own: boolean }): void {
  const { request, route, model, set, stateIds } = reading;
  const stateTokens = stateIds.length;
  addRoute(survey, route, model.checkpoint.name);
  const checkpoint = checkpointOf(survey, route.role, model.checkpoint.name);
  checkpoint.states.add(stateTokens);
  const fits = stateTokens <= set.room;
  if (own) addFit(checkpoint.own, fits, mark.row);
  else {
    checkpoint.sharedStates.add(stateTokens);
    if (fits) checkpoint.longestFit = Math.max(checkpoint.longestFit, stateTokens);
    request.questions.forEach(({ id }, i) => {
      addFit(fitOf(checkpoint, id), stateTokens <= (set.rooms[i] ?? 0), mark.row);
    });
  }
  if (fits) addCost(survey, reading, mark);
  else addUnfit(survey, reading, mark);
}

function addRoute({ routes }: RoomSurvey, { role, reason }: Route, checkpoint: string): void {
  const language = "language" in reason ? reason.language : undefined;
  const known = routes.find(
    (other) => other.role === role && other.reason === reason.type && other.language === language,
  );
  if (known === undefined) routes.push({ role, checkpoint, reason: reason.type, language, rows: 1 });
  else known.rows++;
}

function checkpointOf({ checkpoints }: RoomSurvey, role: Role, checkpoint: string): CheckpointSurvey {
  const known = checkpoints.get(role);
  if (known !== undefined) return known;
  const survey: CheckpointSurvey = {
    checkpoint,
    states: createTokenHistogram(),
    sharedStates: createTokenHistogram(),
    longestFit: 0,
    questions: new Map(),
    own: { fit: 0, unfit: emptyList() },
  };
  checkpoints.set(role, survey);
  return survey;
}

function fitOf({ questions }: CheckpointSurvey, id: string): QuestionFit {
  const known = questions.get(id) ?? { fit: 0, unfit: emptyList<number>() };
  questions.set(id, known);
  return known;
}

function addFit(question: QuestionFit, fits: boolean, row: number): void {
  if (fits) question.fit++;
  else list(question.unfit, row);
}

function addCost({ totals, overCap }: RoomSurvey, reading: Reading, mark: RowMark): void {
  const { set, model } = reading;
  const { stateTokens, cost, cap } = measureOf(reading);
  const calls = splitCalls(set.prefixTokens, stateTokens, model.limits);
  totals.rows++;
  totals.calls += calls.length;
  totals.inputTokens += inputTokensOf(set.prefixTokens, stateTokens);
  for (const [from, to] of calls) totals.processedTokens += costOf(set.prefixTokens.slice(from, to), stateTokens);
  if (cost <= cap) return;
  list(overCap, mark);
  overCap.calls += calls.length;
  overCap.mostCalls = Math.max(overCap.mostCalls, calls.length);
}

function addUnfit(survey: RoomSurvey, { request, set, model, stateIds }: Reading, mark: RowMark): void {
  const { room, rooms } = set;
  const stateTokens = stateIds.length;
  const question = request.questions[rooms.indexOf(room)]?.id ?? "";
  list(survey.unfit, { ...mark, checkpoint: model.checkpoint.name, stateTokens, question, room });
  if (room <= 0) return;
  const { chunks, inputTokens } = chunksOf(set, stateTokens);
  survey.chunked.rows++;
  survey.chunked.chunks += chunks;
  survey.chunked.inputTokens += inputTokens;
}

/** What a state over the room takes in chunks, as far as its length tells: the chunks, and the tokens of all sequences. */
export function chunksOf(
  { room, prefixTokens }: Pick<QuestionSet, "room" | "prefixTokens">,
  stateTokens: number,
): { readonly chunks: number; readonly inputTokens: number } {
  const chunks = Math.ceil(stateTokens / room);
  return { chunks, inputTokens: prefixTokens.length * stateTokens + chunks * inputTokensOf(prefixTokens, 0) };
}

/** Whether a row that is too long for the English checkpoint, where its language put it, fits the multilingual one. */
async function fitsMultilingual(engine: Engine, { request, route }: Reading): Promise<boolean> {
  if (route.role !== "english" || route.reason.type === "named") return false;
  const { name } = (await engine.model("multilingual")).checkpoint;
  return measureOf(await engine.prepare({ ...request, model: name })).fits;
}
