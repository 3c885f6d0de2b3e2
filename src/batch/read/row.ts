/** One row of an input as the readers hand it on: what it says, where it stands, and its exact text where the output keeps it. */

import type { JsonValue } from "../../decision/json.js";

export type RowFormat = "csv" | "tsv" | "ndjson" | "json" | "text" | "parquet";

/** What is read as text, from its beginning. */
export type TextFormat = Exclude<RowFormat, "parquet">;

export interface RowPlace {
  /** File name as given, `-` for stdin. */
  readonly file: string;
  /** First line of the row in its file, from 1; for a JSON array the line where the element starts, for Parquet its number. */
  readonly line: number;
  /** Number of the row over all inputs, from 0. */
  readonly index: number;
}

/** What a row holds. */
export type RowContent =
  /** CSV and TSV: column -> cell, columns of the file's own header, in order. */
  | { readonly type: "record"; readonly columns: readonly string[]; readonly cells: readonly string[] }
  /** NDJSON and JSON array: `raw` is the element's exact text; Parquet: its columns as JSON. */
  | { readonly type: "json"; readonly raw: string; readonly value: JsonValue }
  /** Plain text: one line, its line end removed. */
  | { readonly type: "text"; readonly text: string }
  /** A row that cannot be read. It keeps its place in the output; `raw` is its exact text, `cells` what a CSV row held. */
  | {
      readonly type: "malformed";
      readonly raw: string;
      readonly columns: readonly string[];
      readonly cells: readonly string[];
      /** What is wrong, where, what to do; without the user's text. */
      readonly message: string;
    };

export interface Row {
  readonly place: RowPlace;
  readonly format: RowFormat;
  readonly content: RowContent;
}
