/**
 * What a reader of one format is: pure, fed with chunks of decoded text, handing on the rows that are whole.
 * Opening, decoding, file order and row numbers are left to bytes.ts and read-rows.ts.
 */

import { isDamaged, mendText } from "./decode-text.js";
import type { RowContent } from "./row.js";

export interface ReadRow {
  /** First line of the row in its file, from 1. */
  readonly line: number;
  readonly content: RowContent;
}

export interface RowReader {
  /** The rows that this chunk completes; to be read to its end before the next call. */
  push(chunk: string): Iterable<ReadRow>;
  /** The rows left when the input has ended. */
  end(): Iterable<ReadRow>;
}

/** How messages name an input. */
export function nameOf(file: string): string {
  return file === "-" ? "stdin" : file;
}

export interface Malformed {
  readonly raw: string;
  readonly message: string;
  readonly columns?: readonly string[];
  readonly cells?: readonly string[];
}

/** Content of a row that cannot be read; bytes that are no text show as U+FFFD in it. */
export function malformed({ raw, message, columns = [], cells = [] }: Malformed): RowContent {
  return { type: "malformed", raw: mendText(raw), columns, cells: cells.map(mendText), message };
}

/** The complaint about a row whose bytes are no text, `undefined` for every other row. */
export function damageMessage(raw: string, place: string): string | undefined {
  if (!isDamaged(raw)) return undefined;
  return `${place} holds bytes that are not valid UTF-8; save the file as UTF-8 (from Windows: iconv -f windows-1252 -t utf-8)`;
}
