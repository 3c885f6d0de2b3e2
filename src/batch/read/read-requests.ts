/** The requests of the rows of inputs, for whoever answers or measures them: rows selected, checked at the first few, parsed. */

import type { Question } from "../../decision/question.js";
import type { ParsedRequest } from "../../decision/request.js";
import { QaError } from "../../errors.js";
import { createInputDigest, type InputDigest } from "./input-digest.js";
import { isInPart, type Part } from "./part.js";
import { type ReadOptions, readRows } from "./read-rows.js";
import type { Row } from "./row.js";
import { type RowRequestOptions, toRequest } from "./row-request.js";
import { firstRows, sampleRows } from "./select-rows.js";
import { requestOfRow, resolveStateSource, type StateOptions } from "./state-of-row.js";

export interface RequestSource extends Omit<RowRequestOptions, "source"> {
  /** Resolved inputs; see `resolveInputs`. */
  readonly inputs: readonly string[];
  readonly read: ReadOptions;
  readonly state: StateOptions;
  /** Only the first rows; default all. */
  readonly limit?: number | undefined;
  /** Only some rows drawn at random; default all. */
  readonly sample?: { readonly size: number; readonly seed: number } | undefined;
  /** Of the rows so selected only those of this part, by their numbers among them; default all. */
  readonly part?: Part | undefined;
  /** A place up to which the rows have to be the same as they were; default none. */
  readonly same?: InputPlace | undefined;
  /** Only the rows behind that place; default all. */
  readonly skipSame?: boolean | undefined;
}

/** A place in the rows so selected: how many are behind it, and their digest. */
export interface InputPlace {
  readonly rows: number;
  readonly digest: string;
}

export interface RowRequest {
  readonly row: Row;
  readonly request: ParsedRequest | QaError;
  /** Whether the row carries its own questions. */
  readonly own: boolean;
  /** The place behind the row. */
  readonly place: InputPlace;
}

export interface Requests {
  /** The first rows, looked at before anything is done; also those of other parts, so that all parts plan one output. */
  readonly head: readonly RowRequest[];
  /** Whether the head is all there is. */
  readonly isAll: boolean;
  /** The rows of the part in order, also those of the head; a row that cannot be a request is an error in its place. */
  readonly all: AsyncGenerator<RowRequest, void, undefined>;
  /** The rows read so far, a live view: of all parts, in the end the whole input. */
  readonly seen: Pick<InputDigest, "rows" | "value">;
}

/** Rows that tell the columns, the state and the questions; of stdin one, since it may come slowly. */
const PEEKED_ROWS = 100;

/**
 * Opens inputs as requests.
 * @throws QaError `invalid_usage`: no row has the state that the options name, or nothing is asked; those of `readRows`
 */
export async function openRequests(source: RequestSource): Promise<Requests> {
  const { inputs, questions, state } = source;
  const seen = createInputDigest();
  const rows = placed(selectRows(source), seen);
  const peeked = inputs.includes("-") ? 1 : PEEKED_ROWS;
  const head = await take(rows, peeked);
  const firstRows = head.map(({ row }) => row);
  if (questions === undefined) assertOwnQuestions(firstRows);
  const options = { ...source, source: resolveStateSource(state, firstRows) };
  const parse = ({ row, place }: PlacedRow): RowRequest => {
    return { row, request: toRequest(row, options), own: requestOfRow(row) !== undefined, place };
  };
  const all = parseAll(head, { ...source, rest: rows, parse });
  return { head: head.map(parse), isAll: head.length < peeked, all, seen };
}

function selectRows({ inputs, read, limit, sample }: RequestSource): AsyncGenerator<Row, void, undefined> {
  const rows = readRows(inputs, read);
  const limited = limit === undefined ? rows : firstRows(rows, limit);
  return sample === undefined ? limited : sampleRows(limited, sample);
}

type PlacedRow = Pick<RowRequest, "row" | "place">;

async function* placed(rows: AsyncIterable<Row>, seen: InputDigest): AsyncGenerator<PlacedRow, void, undefined> {
  for await (const row of rows) {
    const digest = seen.add(row);
    yield { row, place: { rows: seen.rows, digest } };
  }
}

async function take<T>(rows: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await rows.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

function assertOwnQuestions(head: readonly Row[]): void {
  if (head.length === 0 || head.some((row) => requestOfRow(row) !== undefined)) return;
  throw new QaError(
    "invalid_usage",
    "no questions; pass --questions FILE or --preset NAME (or rows with `state` and `questions` of their own)",
  );
}

interface ParseOptions extends Pick<RequestSource, "part" | "same" | "skipSame" | "limit"> {
  readonly rest: AsyncGenerator<PlacedRow, void, undefined>;
  readonly parse: (row: PlacedRow) => RowRequest;
}

async function* parseAll(
  head: readonly PlacedRow[],
  { rest, part, same, skipSame = false, limit, parse }: ParseOptions,
): AsyncGenerator<RowRequest, void, undefined> {
  const done = skipSame && same !== undefined ? same.rows : 0;
  let rows = 0;
  try {
    for await (const row of chain(head, rest)) {
      rows = row.place.rows;
      if (rows === same?.rows && row.place.digest !== same.digest)
        throw inputChanged(rows, "those are not the same any more");
      if (rows > done && (part === undefined || isInPart(part, rows - 1))) yield parse(row);
    }
    if (same !== undefined && rows < same.rows)
      throw inputChanged(same.rows, rows === limit ? `--limit takes only ${rows}` : `only ${rows} are left`);
  } finally {
    await rest.return();
  }
}

async function* chain<T>(head: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  yield* head;
  yield* rest;
}

function inputChanged(rows: number, how: string): QaError {
  const message = `the input has changed: ${rows} of its rows are done, and ${how}; restore it, name another output, or begin anew with --restart`;
  return new QaError("input_changed", message, { details: { rows } });
}

/** The question sets that rows carry, and the run's own where a row carries none. */
export function questionSetsOf(
  head: readonly RowRequest[],
  questions: readonly Question[] | undefined,
): readonly (readonly Question[])[] {
  const own = head.flatMap(({ request, own }) => (own && !(request instanceof QaError) ? [request.questions] : []));
  const isShared = head.length === 0 || head.some((each) => !each.own);
  return questions !== undefined && isShared ? [questions, ...own] : own;
}
