/** What a row holds by name, as JSON text in the input's own spelling. Pure. */

import { isJsonObject } from "../../decision/json.js";
import type { Row } from "../read/row.js";
import { keysOf } from "../read/template.js";
import { compacted, onOneLine, rawAtPath, spansOf } from "./json-spans.js";

/** What the line of a text file, and a JSON value that is no object, is called. */
const TEXT_COLUMN = "text";
const VALUE_COLUMN = "value";

/** Names of a row's fields, in order. */
export function fieldNames({ content }: Row): readonly string[] {
  switch (content.type) {
    case "json":
      return isJsonObject(content.value) ? keysOf(content.value) : [VALUE_COLUMN];
    case "text":
      return [TEXT_COLUMN];
    case "record":
    case "malformed":
      return content.columns;
    default:
      return content satisfies never;
  }
}

/** name -> JSON text of every field of a row; of a malformed CSV row the cells as far as they go. */
export function fieldsOf({ content }: Row): ReadonlyMap<string, string> {
  switch (content.type) {
    case "json": {
      const { raw } = content;
      if (!isJsonObject(content.value)) return new Map([[VALUE_COLUMN, onOneLine(raw)]]);
      return new Map(spansOf(raw).map(({ key, valueStart, end }) => [key, raw.slice(valueStart, end)]));
    }
    case "text":
      return new Map([[TEXT_COLUMN, JSON.stringify(content.text)]]);
    case "record":
    case "malformed": {
      const { columns, cells } = content;
      return new Map(columns.slice(0, cells.length).map((column, i) => [column, JSON.stringify(cells[i])]));
    }
    default:
      return content satisfies never;
  }
}

/** JSON text of one field, `undefined` where a row has none; of JSON rows a dotted path too. */
export function fieldAt(row: Row, path: string): string | undefined {
  if (row.content.type !== "json") return fieldsOf(row).get(path);
  if (!isJsonObject(row.content.value) && path === VALUE_COLUMN) return onOneLine(row.content.raw);
  const raw = rawAtPath(row.content.raw, path);
  return raw === undefined ? undefined : onOneLine(raw);
}

/** The input as the text of one JSON object, on one line; of a malformed row its exact text under `row`. */
export function inputObject(row: Row): string {
  const { content } = row;
  if (content.type === "json" && isJsonObject(content.value)) return onOneLine(content.raw);
  const fields = new Map(fieldsOf(row));
  if (content.type === "malformed") fields.set("row", JSON.stringify(content.raw));
  return `{${[...fields].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

/** A JSON text as a CSV cell: strings as they are, null as nothing, numbers as spelled, all else as compact JSON. */
export function cellOf(text: string | undefined): string {
  if (text === undefined || text === "null") return "";
  return text.startsWith('"') ? (JSON.parse(text) as string) : compacted(text);
}

/** Fields of a row that a table has no column for, as the text of one JSON object; empty where there are none. */
export function restCell(row: Row, columns: ReadonlySet<string>): string {
  const rest = [...fieldsOf(row)].filter(([name]) => !columns.has(name));
  if (rest.length === 0) return "";
  return `{${rest.map(([name, text]) => `${JSON.stringify(name)}:${compacted(text)}`).join(",")}}`;
}
