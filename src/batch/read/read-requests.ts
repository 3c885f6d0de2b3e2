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
}

export interface RowRequest {
  readonly row: Row;
  readonly request: ParsedRequest | QaError;
  /** Whether the row carries its own questions. */
  readonly own: boolean;
  /** Digest of the rows up to this one. */
  readonly digest: string;
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
  const rows = digested(selectRows(source), seen);
  const peeked = inputs.includes("-") ? 1 : PEEKED_ROWS;
  const head = await take(rows, peeked);
  const firstRows = head.map(({ row }) => row);
  if (questions === undefined) assertOwnQuestions(firstRows);
  const options = { ...source, source: resolveStateSource(state, firstRows) };
  const parse = ({ row, digest }: DigestedRow): RowRequest => {
    return { row, request: toRequest(row, options), own: requestOfRow(row) !== undefined, digest };
  };
  const all = parseAll(head, { rest: rows, part: source.part, parse });
  return { head: head.map(parse), isAll: head.length < peeked, all, seen };
}

function selectRows({ inputs, read, limit, sample }: RequestSource): AsyncGenerator<Row, void, undefined> {
  const rows = readRows(inputs, read);
  const limited = limit === undefined ? rows : firstRows(rows, limit);
  return sample === undefined ? limited : sampleRows(limited, sample);
}

interface DigestedRow extends Pick<RowRequest, "row" | "digest"> {
  /** Number of the row among those selected, from 0: `place.index`, but for a sample. */
  readonly number: number;
}

async function* digested(rows: AsyncIterable<Row>, digest: InputDigest): AsyncGenerator<DigestedRow, void, undefined> {
  for await (const row of rows) yield { row, number: digest.rows, digest: digest.add(row) };
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

interface ParseOptions {
  readonly rest: AsyncGenerator<DigestedRow, void, undefined>;
  readonly part: Part | undefined;
  readonly parse: (row: DigestedRow) => RowRequest;
}

async function* parseAll(
  head: readonly DigestedRow[],
  { rest, part, parse }: ParseOptions,
): AsyncGenerator<RowRequest, void, undefined> {
  const isWanted = ({ number }: DigestedRow) => part === undefined || isInPart(part, number);
  try {
    for (const row of head) if (isWanted(row)) yield parse(row);
    for await (const row of rest) if (isWanted(row)) yield parse(row);
  } finally {
    await rest.return();
  }
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
