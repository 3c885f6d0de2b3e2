/**
 * What a run has seen so far, in memory that does not grow with the file: rows, failures by code, tokens, routes, and the
 * distribution of the answers. Knows nothing of printing.
 */

import type { Answer } from "../../decision/answer.js";
import { type ErrorCode, QaError } from "../../errors.js";
import type { AnsweredBy } from "../answerer.js";
import type { Row } from "../read/row.js";
import { type Outcome, replacedKeys } from "../write/output-record.js";
import { createDistribution, type Distribution } from "./distribution.js";

interface FailureCounts {
  readonly count: number;
  /** Numbers (from 1) of the first rows that failed so. */
  readonly firstRows: readonly number[];
}

export interface RouteCounts {
  readonly model: string;
  /** Without the details that vary from row to row. */
  readonly reason: string;
  readonly count: number;
}

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
  readonly inputTokens: number;
  readonly failures: ReadonlyMap<ErrorCode, FailureCounts>;
  readonly routes: ReadonlyMap<string, RouteCounts>;
  /** In the order first seen; questions of one id and different types stand apart. */
  readonly distributions: readonly Distribution[];
  /** Answers to questions beyond the first `MAX_QUESTIONS`, which have no distribution. */
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
}

export const MAX_QUESTIONS = 200;
const MAX_ROUTES = 200;
const FIRST_ROWS = 5;

/** A tally of nothing yet. */
export function createTally(): Tally {
  const failures = new Map<ErrorCode, { count: number; firstRows: number[] }>();
  const routes = new Map<string, { model: string; reason: string; count: number }>();
  const replaced = new Map<string, number>();
  const distributions: Distribution[] = [];
  const byKey = new Map<string, ReturnType<typeof createDistribution>>();
  const none = {
    rowsRead: 0,
    rows: 0,
    answered: 0,
    failed: 0,
    malformed: 0,
    chunked: 0,
    duplicates: 0,
    cached: 0,
    inputTokens: 0,
    otherAnswers: 0,
  };
  const counts = { ...none, failures, routes, distributions, replaced };

  function addFailure({ code }: QaError, row: Row): void {
    const failure = failures.get(code) ?? { count: 0, firstRows: [] };
    failures.set(code, failure);
    failure.count++;
    if (failure.firstRows.length < FIRST_ROWS) failure.firstRows.push(row.place.index + 1);
    counts.failed++;
    if (row.content.type === "malformed") counts.malformed++;
  }

  function addRoute(model: string, { reason }: AnsweredBy): void {
    const known = `${model}\n${reasonInWords(reason)}`;
    const key = routes.has(known) || routes.size < MAX_ROUTES ? known : `${model}\nother reasons`;
    const route = routes.get(key) ?? { model, reason: key.slice(model.length + 1), count: 0 };
    routes.set(key, route);
    route.count++;
  }

  function addAnswer(id: string, answer: Answer): void {
    const key = `${answer.type} ${id}`;
    let distribution = byKey.get(key);
    if (distribution === undefined) {
      if (byKey.size === MAX_QUESTIONS) {
        counts.otherAnswers++;
        return;
      }
      distribution = createDistribution(id, answer.type);
      byKey.set(key, distribution);
      distributions.push(distribution.view);
    }
    distribution.add(answer);
  }

  return {
    counts,
    read() {
      counts.rowsRead++;
    },
    add(row, outcome) {
      counts.rows++;
      for (const key of replacedKeys(row)) replaced.set(key, (replaced.get(key) ?? 0) + 1);
      if (outcome instanceof QaError) return addFailure(outcome, row);
      counts.answered++;
      counts.inputTokens += outcome.usage.inputTokens;
      if (outcome.chunked !== undefined) counts.chunked++;
      if (outcome.reused === "run") counts.duplicates++;
      if (outcome.reused === "cache") counts.cached++;
      addRoute(outcome.model, outcome.route);
      for (const [id, answer] of outcome.answers) addAnswer(id, answer);
    },
  };
}

function reasonInWords(reason: AnsweredBy["reason"]): string {
  switch (reason.type) {
    case "named":
      return "asked for by name";
    case "script":
      return "not in Latin script";
    case "language":
      return `language ${reason.language}`;
    case "foreign_paragraph":
      return `a paragraph in ${reason.language}`;
    case "few_letters":
      return "too short to be sure it is English";
    case "undecided":
      return "language undecided";
    case "endpoint":
      return `answered by ${reason.host}`;
    default:
      return reason satisfies never;
  }
}
