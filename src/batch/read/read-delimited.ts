/**
 * CSV and TSV as rows (docs/decisions/0002-delimited-records.md says why csv-parse is the tests' judge and not the reader).
 * Empty lines are skipped, cells are kept as they are. A row with too few or too many cells, or with broken quotes, is
 * malformed and keeps its place.
 */

import { QaError } from "../../errors.js";
import { type BrokenScan, type RecordScan, resumeAfter, scanRecord } from "./delimited-record.js";
import { detectDelimiter } from "./delimiter.js";
import { PendingText } from "./pending-text.js";
import type { RowContent } from "./row.js";
import { damageMessage, malformed, nameOf, type ReadRow, type RowReader } from "./row-reader.js";

export interface DelimitedOptions {
  readonly file: string;
  /** Default: found in the header. */
  readonly delimiter?: string | undefined;
}

/** The longest record, in characters: a quoted cell still open here counts as never closed. */
export const MAX_RECORD_LENGTH = 16 * 1024 * 1024;

interface FoundRecord {
  readonly scan: Exclude<RecordScan, { type: "more" }>;
  readonly next: number;
}

/** A reader of delimited text whose first record is its header. */
export function createDelimitedReader({ file, delimiter: given }: DelimitedOptions): RowReader {
  const pending = new PendingText();
  let line = 1;
  let delimiter = given;
  let columns: readonly string[] | undefined;

  function* read(isFinal: boolean): Generator<ReadRow> {
    const { text } = pending;
    delimiter ??= detectDelimiter(text, isFinal);
    let at = 0;
    while (delimiter !== undefined && at < text.length) {
      const found = findRecord(text, at, { delimiter, isFinal, cellCount: columns?.length });
      if (found === undefined) break;
      const start = at;
      const startLine = line;
      at = found.next;
      line += lineEndsIn(text, start, at);
      const { scan } = found;
      if (scan.type === "record" && scan.end === start) continue; // an empty line
      if (columns === undefined) columns = headerOf(scan, file, startLine);
      else
        yield { line: startLine, content: contentOf({ text, start, next: at, scan, columns, line: startLine, file }) };
    }
    pending.drop(at);
  }

  return {
    *push(chunk) {
      if (pending.add(chunk)) yield* read(false);
    },
    *end() {
      pending.join();
      yield* read(true);
    },
  };
}

interface FindOptions {
  readonly delimiter: string;
  readonly isFinal: boolean;
  /** `undefined` for the header. */
  readonly cellCount: number | undefined;
}

function findRecord(
  text: string,
  start: number,
  { delimiter, isFinal, cellCount }: FindOptions,
): FoundRecord | undefined {
  const scan = scanRecord(text, start, { delimiter, isFinal });
  const isLong = text.length - start > MAX_RECORD_LENGTH;
  const options = { delimiter, isFinal: isFinal || isLong };
  const settled = scan.type === "more" && isLong ? scanRecord(text, start, options) : scan;
  if (settled.type === "more") return undefined;
  if (settled.type === "record" && scan.type === "more") return undefined; // a long line, no quote is open in it
  if (settled.type === "record") return { scan: settled, next: settled.next };
  const next =
    cellCount === undefined ? text.length : resumeAfter({ text, start, broken: settled, cellCount }, options);
  return next === undefined ? undefined : { scan: settled, next };
}

function headerOf(scan: FoundRecord["scan"], file: string, line: number): readonly string[] {
  const place = `the header of ${nameOf(file)} (line ${line})`;
  if (scan.type !== "record") throw new QaError("input_unsupported", `${place} cannot be read: ${faultOf(scan, line)}`);
  const text = scan.cells.join("");
  if (/\r(?!\n)/.test(text) && scan.cells.some((cell) => cell.includes("\r")))
    throw new QaError(
      "input_unsupported",
      `${place} holds a carriage return alone; make the line ends LF: tr '\\r' '\\n'`,
    );
  const damage = damageMessage(text, place);
  if (damage !== undefined) throw new QaError("input_unsupported", damage);
  return columnNames(scan.cells);
}

/** Names of columns: an empty one becomes `column_3` (its place), a repeated one `name_2`, `name_3`, ... */
export function columnNames(cells: readonly string[]): readonly string[] {
  const given = cells.map((cell, at) => (cell === "" ? `column_${at + 1}` : cell));
  const taken = new Set<string>();
  return given.map((name) => {
    let unique = name;
    for (let count = 2; taken.has(unique) || (unique !== name && given.includes(unique)); count++)
      unique = `${name}_${count}`;
    taken.add(unique);
    return unique;
  });
}

interface Found {
  readonly text: string;
  readonly start: number;
  readonly next: number;
  readonly scan: FoundRecord["scan"];
  readonly columns: readonly string[];
  readonly line: number;
  readonly file: string;
}

function contentOf({ text, start, next, scan, columns, line, file }: Found): RowContent {
  const { cells } = scan;
  const raw = text.slice(start, scan.type === "record" ? scan.end : next).replace(/\r?\n$/, "");
  const place = `line ${line} of ${nameOf(file)}`;
  const complaint = (message: string) => malformed({ raw, columns, cells, message });
  if (scan.type !== "record") {
    const lines = lineEndsIn(raw, 0, raw.length);
    const extent = lines === 0 ? "" : `; lines ${line} to ${line + lines} count as this row`;
    const quoteLine = line + lineEndsIn(text, start, scan.quoteAt);
    return complaint(`${place}: ${faultOf(scan, quoteLine)}${extent}`);
  }
  const damage = damageMessage(raw, place);
  if (damage !== undefined) return complaint(damage);
  if (cells.length === columns.length) return { type: "record", columns, cells };
  return complaint(
    `${place} has ${cells.length} cells, the header ${columns.length}; add or quote cells so that they are as many`,
  );
}

function faultOf({ type, cells }: BrokenScan, line: number): string {
  const quote = `the quote opened on line ${line} in cell ${cells.length + 1}`;
  const remedy = 'write quotes inside a quoted cell twice: ""';
  if (type === "unclosed") return `${quote} is never closed; close it, and ${remedy}`;
  return `${quote} is closed in the middle of its cell; ${remedy}`;
}

function lineEndsIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
