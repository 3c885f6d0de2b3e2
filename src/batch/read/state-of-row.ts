/**
 * Which part of a row is the state that is read. Pure.
 * An empty cell is the empty string, and is answered; a null, a number or a missing key of a JSON row is no state.
 */

import { isJsonObject, type JsonValue, valueAt } from "../../decision/json.js";
import { isState, type State } from "../../decision/request.js";
import { type ErrorCode, QaError } from "../../errors.js";
import type { Row } from "./row.js";
import { nameOf } from "./row-reader.js";
import { keysOf, parseTemplate, renderField, type TemplatePart, valueAtPath } from "./template.js";

export interface StateOptions {
  readonly stateColumn?: string | undefined;
  readonly template?: string | undefined;
  readonly stateJson?: boolean | undefined;
}

export type StateSource =
  | { readonly type: "default" }
  | { readonly type: "column"; readonly column: string }
  | { readonly type: "template"; readonly parts: readonly TemplatePart[] }
  | { readonly type: "json" };

/** Where no flag names the state: the first of these that a row has. */
const STATE_COLUMNS = ["state", "text", "body", "message", "content", "description"] as const;

const FLAGS = "name it with --state-column, build it with --template, or pass --state-json for the whole row";
const LISTED_COLUMNS = 50;
const TEXT_COLUMN = "text"; // what the line of a text file is called

/**
 * Where the state of every row comes from, checked against the first rows.
 * @param sample first rows of the input: a CSV header must fit, of JSON rows at least one
 * @throws QaError `invalid_usage`: two flags at once, a template that cannot be read, a column that no row has
 */
export function resolveStateSource(options: StateOptions, sample: readonly Row[] = []): StateSource {
  const source = sourceOf(options);
  const rows = sample.filter((row) => row.content.type !== "malformed" && requestOfRow(row) === undefined);
  const unfit = rows.map((row) => ({ row, complaint: missingColumn(row, source) }));
  const hasFit = unfit.some(({ complaint }) => complaint === undefined);
  const worst = unfit.find(({ row, complaint }) => complaint !== undefined && (row.content.type !== "json" || !hasFit));
  if (worst?.complaint !== undefined) throw new QaError("invalid_usage", worst.complaint);
  return source;
}

function sourceOf({ stateColumn, template, stateJson }: StateOptions): StateSource {
  const given = [stateColumn !== undefined, template !== undefined, stateJson === true];
  if (given.filter(Boolean).length > 1)
    throw new QaError(
      "invalid_usage",
      "--state-column, --template and --state-json each name the state; pass one of them",
    );
  if (stateColumn !== undefined) return { type: "column", column: stateColumn };
  if (template !== undefined) return { type: "template", parts: parseTemplate(template) };
  return { type: stateJson === true ? "json" : "default" };
}

/** The state of a row, or the error that the row gets: `malformed_row` or `state_missing`. */
export function stateOfRow(row: Row, source: StateSource): State | QaError {
  if (row.content.type === "malformed") return rowError("malformed_row", row, row.content.message);
  const missing = missingColumn(row, source);
  if (missing !== undefined) return rowError("state_missing", row, missing);
  if (source.type === "template") return source.parts.map((part) => partText(row, part)).join("");
  const state = fieldNamed(row, source);
  if (isState(state)) return state;
  const kind = state === undefined ? "nothing" : state === null ? "null" : `a ${typeof state}`;
  return rowError(
    "state_missing",
    row,
    `${placeOf(row)} has ${kind} as its state; a state is a text, an object or an array`,
  );
}

function fieldNamed(row: Row, source: Exclude<StateSource, { type: "template" }>): JsonValue | undefined {
  const { content } = row;
  switch (source.type) {
    case "column":
      return fieldOf(row, source.column);
    case "json":
      return content.type === "json" ? content.value : asObject(row);
    case "default": {
      if (content.type === "json" && !isJsonObject(content.value)) return content.value;
      const column = defaultColumn(columnsOf(row));
      return column === undefined ? undefined : fieldOf(row, column);
    }
    default:
      return source satisfies never;
  }
}

/** Why a row cannot hold the state by its columns alone, `undefined` where it can. */
function missingColumn(row: Row, source: StateSource): string | undefined {
  const { content } = row;
  const columns = columnsOf(row);
  if (source.type === "json") return undefined;
  if (source.type === "default") {
    if (content.type === "json" && !isJsonObject(content.value)) return undefined;
    if (defaultColumn(columns) !== undefined) return undefined;
    return `${placeOf(row)} does not tell which column is the state: ${listOf(columns)}; ${FLAGS}`;
  }
  const wanted =
    source.type === "column"
      ? [source.column]
      : source.parts.flatMap((part) => (part.type === "field" ? [part.path] : []));
  const unknown = wanted.find((path) => fieldOf(row, path) === undefined);
  if (unknown === undefined) return undefined;
  const flag = source.type === "column" ? "--state-column" : "--template";
  return `${placeOf(row)} has no column ${unknown}, which ${flag} names; ${listOf(columns)}`;
}

function listOf(columns: readonly string[]): string {
  if (columns.length === 0) return "it has no columns";
  const more = columns.length > LISTED_COLUMNS ? ` and ${columns.length - LISTED_COLUMNS} more` : "";
  return `its columns are ${columns.slice(0, LISTED_COLUMNS).join(", ")}${more}`;
}

function defaultColumn(columns: readonly string[]): string | undefined {
  if (columns.length === 1) return columns[0];
  const named = STATE_COLUMNS.map((name) => columns.find((column) => column.toLowerCase() === name));
  return named.find((column) => column !== undefined);
}

function columnsOf({ content }: Row): readonly string[] {
  if (content.type === "json") return keysOf(content.value);
  return content.type === "text" ? [TEXT_COLUMN] : content.columns;
}

function fieldOf({ content }: Row, path: string): JsonValue | undefined {
  if (content.type === "json") return valueAtPath(content.value, path);
  if (content.type === "text") return path === TEXT_COLUMN ? content.text : undefined;
  const at = content.columns.indexOf(path);
  return at === -1 ? undefined : content.cells[at];
}

function partText(row: Row, part: TemplatePart): string {
  return part.type === "text" ? part.text : renderField(fieldOf(row, part.path) ?? null);
}

/** A record or a line as an object of strings; a Map where a name would leave its place in an object. */
function asObject(row: Row): JsonValue {
  const entries = columnsOf(row).map((column) => [column, String(fieldOf(row, column) ?? "")] as const);
  return entries.some(([column]) => /^\d+$/.test(column)) ? new Map(entries) : Object.fromEntries(entries);
}

/** The raw parts of a row that is itself a request, `undefined` for every other row. */
export interface RowRequest {
  readonly state: JsonValue;
  readonly questions: JsonValue;
  readonly model?: JsonValue;
}

/** A JSON object with a `state` and with `questions` (an object or an array) is a request; its parts are not yet checked. */
export function requestOfRow({ content }: Row): RowRequest | undefined {
  if (content.type !== "json" || !isJsonObject(content.value)) return undefined;
  const state = valueAt(content.value, "state");
  const questions = valueAt(content.value, "questions");
  const model = valueAt(content.value, "model");
  if (state === undefined || typeof questions !== "object" || questions === null) return undefined;
  return model === undefined ? { state, questions } : { state, questions, model };
}

function placeOf({ place }: Row): string {
  return `row ${place.index + 1} (line ${place.line} of ${nameOf(place.file)})`;
}

function rowError(code: ErrorCode, { place }: Row, message: string): QaError {
  return new QaError(code, message, { details: { file: nameOf(place.file), line: place.line } });
}
