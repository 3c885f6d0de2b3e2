/**
 * What a run has seen so far, in memory that does not grow with the file: rows, failures by code, tokens, routes, and the
 * distribution of the answers. Knows nothing of printing, nor of where a snapshot is kept.
 */

import { type ErrorCode, QaError } from "../../errors.js";
import type { Answered } from "../answerer.js";
import type { Row } from "../read/row.js";
import type { Band } from "../review/band.js";
import { type Outcome, replacedKeys } from "../write/output-record.js";
import { createAnswerCounter } from "./answer-counter.js";
import type { Distribution } from "./distribution.js";
import { createFailureCounter, type FailureCounts } from "./failure-counter.js";
import { createRouteCounter, type RouteCounts } from "./route-counter.js";
import { SNAPSHOT_VERSION, type TallySnapshot } from "./tally-snapshot.js";

/** A live view: it goes on changing as rows come. */
export interface TallyCounts {
  /** Rows handed to the engine; those not yet in `rows` are in its hands. */
  readonly rowsRead: number;
  /** Rows that have their outcome: answered and failed. */
  readonly rows: number;
  readonly answered: number;
  readonly failed: number;
  /** Of the failed, rows that could not be read. */
  readonly malformed: number;
  /** Of the answered, rows whose state was answered in chunks. */
  readonly chunked: number;
  /** Of the answered, rows that took the answer of an equal row of this run. */
  readonly duplicates: number;
  /** Of the answered, rows whose answer an earlier run had kept. */
  readonly cached: number;
  /** Of the answered, rows with an answer in the band of unsure answers. */
  readonly uncertain: number;
  readonly inputTokens: number;
  readonly failures: ReadonlyMap<ErrorCode, FailureCounts>;
  readonly routes: ReadonlyMap<string, RouteCounts>;
  /** In the order first seen; questions of one id and different types stand apart. */
  readonly distributions: readonly Distribution[];
  /** Answers to questions that are too many, or their names too long, for a distribution of their own. */
  readonly otherAnswers: number;
  /** Input field that the output replaced -> rows that had it. */
  readonly replaced: ReadonlyMap<string, number>;
}

export interface Tally {
  readonly counts: TallyCounts;
  /** Counts a row that the engine takes. */
  read(): void;
  /** Counts a row's outcome. */
  add(row: Row, outcome: Outcome): void;
  /** Takes the failed rows back, as if they had not been counted yet: for a run that answers them again. */
  forgetFailures(): void;
  /** All that is counted, as plain JSON of bounded size; rows in the engine's hands are left out. */
  snapshot(): TallySnapshot;
}

export interface TallyOptions {
  /** Answers in it are counted as uncertain. */
  readonly band?: Band | undefined;
}

/** A tally of nothing yet, or one that goes on from a snapshot. */
export function createTally(from?: TallySnapshot, { band }: TallyOptions = {}): Tally {
  const failures = createFailureCounter(from?.failures);
  const routes = createRouteCounter(from?.routes);
  const answers = createAnswerCounter(from?.distributions, band);
  const replaced = new Map(from?.replaced.map(([field, answered, failed]) => [field, answered + failed]));
  const replacedInFailed = new Map(from?.replaced.map(([field, , failed]) => [field, failed]));
  const counts = {
    ...totalsOf(from ?? NOTHING),
    rowsRead: from?.rows ?? 0,
    failures: failures.counts,
    routes: routes.counts,
    distributions: answers.distributions,
    replaced,
  };

  function addFailed(error: QaError, row: Row): void {
    counts.failed++;
    if (row.content.type === "malformed") counts.malformed++;
    failures.add(error.code, row.place.index + 1);
    for (const field of replacedKeys(row)) increase(replacedInFailed, field, 1);
  }

  function addAnswered(outcome: Answered): void {
    counts.answered++;
    counts.inputTokens += outcome.usage.inputTokens;
    if (outcome.chunked !== undefined) counts.chunked++;
    if (outcome.reused === "run") counts.duplicates++;
    if (outcome.reused === "cache") counts.cached++;
    routes.add(outcome.model, outcome.route);
    const { uncertain, other } = answers.add(outcome.answers);
    if (uncertain > 0) counts.uncertain++;
    counts.otherAnswers += other;
  }

  return {
    counts,
    read() {
      counts.rowsRead++;
    },
    add(row, outcome) {
      counts.rows++;
      for (const field of replacedKeys(row)) increase(replaced, field, 1);
      if (outcome instanceof QaError) addFailed(outcome, row);
      else addAnswered(outcome);
    },
    forgetFailures() {
      counts.rowsRead -= counts.failed;
      counts.rows -= counts.failed;
      counts.failed = 0;
      counts.malformed = 0;
      failures.clear();
      for (const [field, count] of replacedInFailed) increase(replaced, field, -count);
      for (const [field, count] of replaced) if (count === 0) replaced.delete(field);
      replacedInFailed.clear();
    },
    snapshot: () => ({
      version: SNAPSHOT_VERSION,
      ...totalsOf(counts),
      failures: failures.snapshot(),
      routes: routes.snapshot(),
      distributions: answers.snapshot(),
      replaced: [...replaced].map(([field, count]) => {
        const failed = replacedInFailed.get(field) ?? 0;
        return [field, count - failed, failed];
      }),
    }),
  };
}

type Totals = Omit<TallySnapshot, "version" | "failures" | "routes" | "distributions" | "replaced">;

const NOTHING: Totals = {
  rows: 0,
  answered: 0,
  failed: 0,
  malformed: 0,
  chunked: 0,
  duplicates: 0,
  cached: 0,
  uncertain: 0,
  inputTokens: 0,
  otherAnswers: 0,
};

function totalsOf({
  rows,
  answered,
  failed,
  malformed,
  chunked,
  duplicates,
  cached,
  uncertain,
  inputTokens,
  otherAnswers,
}: Totals) {
  return { rows, answered, failed, malformed, chunked, duplicates, cached, uncertain, inputTokens, otherAnswers };
}

function increase(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
