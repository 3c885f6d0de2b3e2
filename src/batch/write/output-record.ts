/**
 * One row of NDJSON output: the input object as it was, in its own spelling, and behind it what qa says. Pure.
 * The keys of `OUTPUT_KEYS` are qa's in every output row, so that a row has `error` exactly where it failed: an input
 * field of that name gives way, and `replacedKeys` tells of it.
 */

import { isJsonObject, type JsonValue, stringifyJson, valueAt } from "../../decision/json.js";
import { chunkedToJson, decisionToJson } from "../../engine/decision.js";
import { QaError } from "../../errors.js";
import type { Answered } from "../answerer.js";
import type { Row } from "../read/row.js";
import { requestOfRow } from "../read/state-of-row.js";
import { type Band, uncertainIds } from "../review/band.js";
import { fieldAt, fieldNames, inputObject } from "./input-fields.js";
import { withEntries, withoutKeys } from "./json-spans.js";

/** What a row ended with. */
export type Outcome = Answered | QaError;

export interface RecordOptions {
  /** Leave the input out but for `idColumn`; `row_number` (from 1 over all inputs, as messages count) stands first. */
  readonly onlyAnswers?: boolean | undefined;
  /** Column or dotted path of what names a row, written under this very name; null where a row has none. */
  readonly idColumn?: string | undefined;
  /** With the answers of each chunk of a long state. */
  readonly explain?: boolean | undefined;
  /** With `uncertain`, the ids of the questions whose answers lie in it, in the rows that have any. */
  readonly band?: Band | undefined;
}

/** The keys that are qa's. */
export const OUTPUT_KEYS = ["model", "answers", "usage", "chunks", "uncertain", "error"] as const;

/** The row's place, for rows without their input. */
export const ROW_NUMBER = "row_number";

const IS_OUTPUT_KEY: ReadonlySet<string> = new Set(OUTPUT_KEYS);

/** A row of NDJSON output with its line end. */
export function ndjsonRecord(row: Row, outcome: Outcome, options: RecordOptions = {}): string {
  const added = [...outcomeFields(outcome, options)].map(
    ([key, value]) => `${JSON.stringify(key)}:${stringifyJson(value)}`,
  );
  const input = options.onlyAnswers === true ? namesOnly(row, options.idColumn) : inputObject(row);
  const kept = options.onlyAnswers === true || takenKeys(row).length === 0 ? input : withoutKeys(input, isOutputKey);
  return `${withEntries(kept, added)}\n`;
}

/** Names of the row's own fields that the output replaces; a request's `model` is not one, since qa resolves it. */
export function replacedKeys(row: Row): readonly string[] {
  const taken = takenKeys(row);
  return taken.length > 0 && requestOfRow(row) !== undefined ? taken.filter((key) => key !== "model") : taken;
}

function takenKeys(row: Row): readonly string[] {
  const { content } = row;
  if (content.type !== "json") return fieldNames(row).filter(isOutputKey);
  const { value } = content;
  return isJsonObject(value) ? OUTPUT_KEYS.filter((key) => valueAt(value, key) !== undefined) : [];
}

function isOutputKey(key: string): boolean {
  return IS_OUTPUT_KEY.has(key);
}

function namesOnly(row: Row, idColumn: string | undefined): string {
  const number = `"${ROW_NUMBER}":${row.place.index + 1}`;
  if (idColumn === undefined) return `{${number}}`;
  const id = `${JSON.stringify(idColumn)}:${fieldAt(row, idColumn) ?? "null"}`;
  return idColumn === ROW_NUMBER ? `{${id}}` : `{${number},${id}}`;
}

function outcomeFields(outcome: Outcome, { explain = false, band }: RecordOptions): ReadonlyMap<string, JsonValue> {
  if (outcome instanceof QaError) return new Map([["error", outcome.toJSON()]]);
  const fields = new Map(decisionToJson(outcome));
  if (outcome.chunked !== undefined) fields.set("chunks", chunkedToJson(outcome.chunked, { explain }));
  const uncertain = band === undefined ? [] : uncertainIds(outcome.answers, band);
  return uncertain.length === 0 ? fields : fields.set("uncertain", uncertain);
}
