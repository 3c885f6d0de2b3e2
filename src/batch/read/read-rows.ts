/** The rows of many inputs, one after the other, numbered over all. Owns the life of the open file and the place of errors. */

import { QaError } from "../../errors.js";
import { type OpenOptions, openText } from "./bytes.js";
import { formatOfInput, sniffFormat } from "./format.js";
import { createDelimitedReader } from "./read-delimited.js";
import { createJsonArrayReader } from "./read-json-array.js";
import { createLineReader } from "./read-lines.js";
import type { Row, RowFormat, TextFormat } from "./row.js";
import type { RowReader } from "./row-reader.js";

export interface ReadOptions extends OpenOptions {
  /** Default: by extension; for stdin by its first character. */
  readonly from?: RowFormat | undefined;
  /** One character. Default: a tab for TSV, for CSV found in each header. */
  readonly delimiter?: string | undefined;
}

/**
 * Reads inputs (see `resolveInputs`) row by row, at most one chunk of 64 KiB (of Parquet one slice of a row group) ahead; stopping early closes the file.
 * Rows that cannot be read are rows of type `malformed`.
 * @throws QaError `input_missing`, `input_unsupported`, `input_damaged` (after all whole rows), `aborted`
 */
export async function* readRows(
  inputs: readonly string[],
  options: ReadOptions = {},
): AsyncGenerator<Row, void, undefined> {
  let index = 0;
  for (const file of inputs) {
    const first = index;
    let line = 0;
    const rowOf = (format: RowFormat, row: { line: number; content: Row["content"] }): Row => {
      line = row.line;
      return { place: { file, line, index: index++ }, format, content: row.content };
    };
    const told = formatOfInput(file, options.from);
    let reader: RowReader | undefined;
    let blank = "";
    try {
      if (told === "parquet") {
        const { readParquet } = await import("./read-parquet.js"); // few runs need it
        for await (const row of readParquet(file, options)) yield rowOf(told, row);
        continue;
      }
      let format: TextFormat | undefined = told;
      for await (const chunk of openText(file, options)) {
        const text = blank + chunk;
        format ??= sniffFormat(text);
        blank = format === undefined ? text : "";
        if (format === undefined) continue;
        reader ??= createReader(file, format, options.delimiter);
        for (const row of reader.push(text)) yield rowOf(format, row);
      }
      if (format === undefined) continue;
      reader ??= createReader(file, format, options.delimiter);
      for (const row of reader.end()) yield rowOf(format, row);
    } catch (error) {
      throw placed(error, { file, line, rows: index - first });
    }
  }
}

function createReader(file: string, format: TextFormat, delimiter: string | undefined): RowReader {
  switch (format) {
    case "csv":
      return createDelimitedReader({ file, delimiter });
    case "tsv":
      return createDelimitedReader({ file, delimiter: delimiter ?? "\t" });
    case "ndjson":
    case "text":
      return createLineReader({ file, format });
    case "json":
      return createJsonArrayReader({ file });
    default:
      return format satisfies never;
  }
}

function placed(error: unknown, { file, line, rows }: { file: string; line: number; rows: number }): unknown {
  if (!(error instanceof QaError) || error.code !== "input_damaged") return error;
  const reached = rows === 0 ? "before its first row" : `after row ${rows} (line ${line})`;
  const message = `${error.message}; it ends ${reached}`;
  return new QaError(error.code, message, { details: { file, line, rows }, cause: error.cause });
}
