/** JSON over several lines, the order of keys kept; what is short stays on one line. Prints Python literals by the same rules. */

import { entriesOf, isJsonObject, type JsonScalar, type JsonValue } from "../../../decision/json.js";

export interface Dialect {
  readonly scalar: (value: JsonScalar) => string;
  readonly key: (key: string) => string;
}

const JSON_DIALECT: Dialect = { scalar: (value) => JSON.stringify(value), key: (key) => JSON.stringify(key) };

const LINE_WIDTH = 88;

/** @param indent columns that the value stands in */
export function prettyJson(value: JsonValue, indent = 0, dialect: Dialect = JSON_DIALECT): string {
  const flat = printFlat(value, dialect);
  if (indent + flat.length <= LINE_WIDTH && (indent > 0 || !isJsonObject(value))) return flat;
  const pad = " ".repeat(indent + 2);
  const inner = (item: JsonValue) => prettyJson(item, indent + 2, dialect);
  const close = `\n${" ".repeat(indent)}`;
  if (Array.isArray(value)) return `[\n${value.map((item) => pad + inner(item)).join(",\n")}${close}]`;
  if (!isJsonObject(value)) return flat;
  const fields = entriesOf(value).map(([key, item]) => `${pad}${dialect.key(key)}: ${inner(item)}`);
  return fields.length === 0 ? "{}" : `{\n${fields.join(",\n")}${close}}`;
}

function printFlat(value: JsonValue, dialect: Dialect): string {
  if (Array.isArray(value)) return `[${value.map((item) => printFlat(item, dialect)).join(", ")}]`;
  if (!isJsonObject(value)) return dialect.scalar(value as JsonScalar);
  const fields = entriesOf(value).map(([key, item]) => `${dialect.key(key)}: ${printFlat(item, dialect)}`);
  return `{${fields.join(", ")}}`;
}
