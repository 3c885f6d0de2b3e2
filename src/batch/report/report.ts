/** What a run came to, as data: the one source of the report's two forms. Pure. */

import { round4 } from "../../decision/answer.js";
import type { Question } from "../../decision/question.js";
import type { ErrorCode, QaError } from "../../errors.js";
import type { TallyCounts } from "../progress/tally.js";
import type { Band } from "../review/band.js";
import type { RunEnd } from "../run.js";
import { type QuestionReport, questionReports } from "./question-report.js";

/** How a run ended; `failed` with an error of the whole run. */
export type ReportEnd = RunEnd | "failed";

/** What the run knows of itself and the tally does not. */
export interface RunFacts {
  readonly version: string;
  readonly end: ReportEnd;
  /** What a failed run ended with. */
  readonly error?: QaError | undefined;
  readonly inputs: readonly string[];
  readonly output: string;
  /** File of the uncertain answers. */
  readonly review?: string | undefined;
  /** The run's own questions; those that rows carry are told by the tally. */
  readonly questions?: readonly Question[] | undefined;
  /** Flags as given. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly band?: Band | undefined;
  /** When this sitting began. */
  readonly startedAt: Date;
  readonly writtenAt: Date;
  /** Sittings so far, this one included; more than 1 after a resume. */
  readonly sittings: number;
  /** Of all sittings. */
  readonly elapsedMs: number;
  readonly thisSitting: { readonly rows: number; readonly elapsedMs: number };
}

export interface Pace {
  readonly rows: number;
  readonly elapsedMs: number;
  readonly rowsPerSecond: number;
}

export interface ErrorReport {
  readonly code: ErrorCode;
  readonly rows: number;
  /** Of all rows, 0 to 1. */
  readonly share: number;
  /** Numbers from 1, five at most. */
  readonly firstRows: readonly number[];
}

export interface RouteReport {
  readonly model: string;
  readonly reason: string;
  readonly rows: number;
  /** Of the answered rows, 0 to 1. */
  readonly share: number;
}

export interface Report extends Omit<RunFacts, "questions" | "elapsedMs" | "thisSitting"> {
  readonly rows: {
    readonly total: number;
    readonly answered: number;
    readonly failed: number;
    readonly malformed: number;
    readonly chunked: number;
    /** Of the answered, rows that took the answer of an equal row of the run. */
    readonly duplicates: number;
    /** Of the answered, rows whose answer an earlier run had kept. */
    readonly cached: number;
    /** Rows with an answer in the band; only with a band. */
    readonly uncertain: number | undefined;
  };
  readonly inputTokens: number;
  readonly allSittings: Pace;
  readonly thisSitting: Pace;
  /** Checkpoints that answered, those of most rows first. */
  readonly checkpoints: readonly string[];
  readonly questions: readonly QuestionReport[];
  /** Answers to questions beyond those that are counted one by one. */
  readonly otherAnswers: number;
  readonly errors: readonly ErrorReport[];
  readonly routes: readonly RouteReport[];
  readonly replacedFields: readonly { readonly field: string; readonly rows: number }[];
}

/** The report of a run. */
export function reportOf(counts: TallyCounts, facts: RunFacts): Report {
  const { questions = [], elapsedMs, thisSitting, ...known } = facts;
  const { rows, answered, failed, malformed, chunked, duplicates, cached, uncertain } = counts;
  const routes = [...counts.routes.values()]
    .map(({ model, reason, count }) => ({ model, reason, rows: count, share: shareOf(count, answered) }))
    .toSorted((a, b) => b.rows - a.rows);
  return {
    ...known,
    rows: {
      total: rows,
      answered,
      failed,
      malformed,
      chunked,
      duplicates,
      cached,
      uncertain: facts.band === undefined ? undefined : uncertain,
    },
    inputTokens: counts.inputTokens,
    allSittings: paceOf(rows, elapsedMs),
    thisSitting: paceOf(thisSitting.rows, thisSitting.elapsedMs),
    checkpoints: [...new Set(routes.map(({ model }) => model))],
    questions: questionReports(counts.distributions, questions, facts.band),
    otherAnswers: counts.otherAnswers,
    errors: [...counts.failures]
      .map(([code, { count, firstRows }]) => ({ code, rows: count, share: shareOf(count, rows), firstRows }))
      .toSorted((a, b) => b.rows - a.rows),
    routes,
    replacedFields: [...counts.replaced].map(([field, count]) => ({ field, rows: count })),
  };
}

/** A part of a whole, 0 to 1 with four decimals; 0 of nothing. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : round4(part / whole);
}

function paceOf(rows: number, elapsedMs: number): Pace {
  const perSecond = elapsedMs > 0 ? (rows * 1000) / elapsedMs : 0;
  return { rows, elapsedMs: Math.round(elapsedMs), rowsPerSecond: Math.round(perSecond * 100) / 100 };
}
