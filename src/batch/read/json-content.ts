/** The content of a row that shall be one JSON value: what it holds, or what is wrong with it and where. */

import { type JsonValue, parseJson } from "../../decision/json.js";
import { findJsonFault } from "./json-fault.js";
import type { RowContent } from "./row.js";
import { damageMessage, malformed, nameOf } from "./row-reader.js";

export interface JsonPlace {
  readonly file: string;
  /** Line and character (both from 1) at which the text begins. */
  readonly line: number;
  readonly column: number;
}

/** Any JSON value as a row; a text that is none as a malformed row. */
export function jsonContent(raw: string, place: JsonPlace): RowContent {
  const damage = damageMessage(raw, `line ${place.line} of ${nameOf(place.file)}`);
  if (damage !== undefined) return malformed({ raw, message: damage });
  const value = tryParse(raw);
  if (value !== undefined) return { type: "json", raw, value };
  const fault = findJsonFault(raw);
  if (fault === undefined) {
    const message = `line ${place.line} of ${nameOf(place.file)} holds a JSON value too large to read; split it`;
    return malformed({ raw, message });
  }
  const lines = raw.slice(0, fault.position).split("\n");
  const line = place.line + lines.length - 1;
  const character = (lines.at(-1)?.length ?? 0) + (lines.length === 1 ? place.column : 1);
  const message = `line ${line} of ${nameOf(place.file)} is not JSON at character ${character}: expected ${fault.expected}`;
  return malformed({ raw, message });
}

/** The value of a JSON text, `undefined` where it is none. */
export function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined; // the caller looks for the fault itself, since the message of JSON.parse quotes the text
  }
}
