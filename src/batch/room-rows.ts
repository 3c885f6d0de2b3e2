/** Rows as the requests that a run would make of them, for measuring. */

import type { ParsedRequest } from "../decision/request.js";
import { QaError } from "../errors.js";
import { type ReadOptions, readRows } from "./read-rows.js";
import type { Row, RowPlace } from "./row.js";
import { type RowRequestOptions, toRequest } from "./row-request.js";
import { firstRows } from "./select-rows.js";
import { requestOfRow, resolveStateSource, type StateOptions } from "./state-of-row.js";

/** Rows that tell the columns and the questions before the first is measured; of stdin one, since it may come slowly. */
const PEEKED_ROWS = 100;

export interface MeasuredRows extends Omit<RowRequestOptions, "source"> {
  readonly state: StateOptions;
  /** Resolved inputs; see `resolveInputs`. */
  readonly inputs: readonly string[];
  readonly read: ReadOptions;
  /** Default: all rows. */
  readonly limit: number | undefined;
}

export interface RowRequest {
  readonly place: RowPlace;
  readonly request: ParsedRequest | QaError;
  /** Whether the row carries its own questions. */
  readonly own: boolean;
}

/**
 * The requests of the rows of inputs, in order; a row that cannot be one is an error in its place.
 * @throws QaError `invalid_usage`: no row has the state that the options name, or nothing is asked; those of `readRows`
 */
export async function* readRequests({
  inputs,
  read,
  limit = Number.POSITIVE_INFINITY,
  state,
  ...options
}: MeasuredRows): AsyncGenerator<RowRequest, void, undefined> {
  const iterator = firstRows(readRows(inputs, read), limit);
  try {
    const sample = await take(iterator, inputs.includes("-") ? 1 : PEEKED_ROWS);
    if (options.questions === undefined) assertOwnQuestions(sample);
    const source = resolveStateSource(state, sample);
    const measured = (row: Row): RowRequest => {
      return {
        place: row.place,
        request: toRequest(row, { ...options, source }),
        own: requestOfRow(row) !== undefined,
      };
    };
    for (const row of sample) yield measured(row);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield measured(next.value);
  } finally {
    await iterator.return();
  }
}

async function take(iterator: AsyncIterator<Row>, count: number): Promise<Row[]> {
  const taken: Row[] = [];
  while (taken.length < count) {
    const next = await iterator.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

function assertOwnQuestions(sample: readonly Row[]): void {
  if (sample.length === 0 || sample.some((row) => requestOfRow(row) !== undefined)) return;
  throw new QaError(
    "invalid_usage",
    "no questions; pass --questions FILE or --preset NAME (or rows with `state` and `questions` of their own)",
  );
}
