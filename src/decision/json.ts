/**
 * JSON whose objects keep the order of their keys, also of keys like "10" that JavaScript objects move to the front.
 * Owns parsing, printing and the one-line rendering that the model reads; everything else sees a `JsonValue`.
 */

export type JsonScalar = null | boolean | number | string;
export type JsonObject = { readonly [key: string]: JsonValue } | ReadonlyMap<string, JsonValue>;
export type JsonValue = JsonScalar | readonly JsonValue[] | JsonObject;

/** A key that is an integer, its digits written as they are or escaped. */
const INTEGER_KEY = /"(?:\d|\\u003\d)+"\s*:/;
const STRING_LITERAL = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;
const MARK = "#";

/**
 * Parses JSON text; an object with an integer-like key becomes a Map, so that the order of its keys survives.
 * @throws SyntaxError where `JSON.parse` would
 */
export function parseJson(text: string): JsonValue {
  const parsed = JSON.parse(text) as JsonValue; // also for the error of the text as it is, before its keys are marked
  if (!INTEGER_KEY.test(text)) return parsed;
  const marked = text.replace(STRING_LITERAL, (literal, colon: string | undefined) =>
    colon === undefined ? literal : `"${MARK}${literal.slice(1)}`,
  );
  return JSON.parse(marked, (_key, value: unknown) => (isRecord(value) ? unmark(value) : value)) as JsonValue;
}

function isRecord(value: unknown): value is Record<string, JsonValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map);
}

function unmark(object: Record<string, JsonValue>): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => [key.slice(MARK.length), value] as const);
  return entries.some(([key]) => /^\d+$/.test(key)) ? new Map(entries) : Object.fromEntries(entries);
}

/** Whether a value is a JSON object in either of its two forms. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The entries of a JSON object in the order given. */
export function entriesOf(object: JsonObject): [string, JsonValue][] {
  return object instanceof Map ? [...object] : Object.entries(object);
}

/** The value under an own key of a JSON object, `undefined` where there is none. */
export function valueAt(object: JsonObject, key: string): JsonValue | undefined {
  if (object instanceof Map) return object.get(key);
  return Object.hasOwn(object, key) ? (object as Record<string, JsonValue>)[key] : undefined;
}

/** Levels of nesting that are read; the functions of this room recurse. */
export const MAX_DEPTH = 200;

/** Whether a value is nested deeper than `levels`. */
export function isDeeperThan(value: JsonValue, levels: number = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const items = Array.isArray(value) ? value : entriesOf(value as JsonObject).map(([, item]) => item);
  return items.some((item) => isDeeperThan(item, levels - 1));
}

/** Compact JSON text without spaces, keys in the order given. */
export function stringifyJson(value: JsonValue): string {
  return print(value, ",", ":");
}

/** A value as the model reads it: strings as they are, all else as one line of JSON with `", "` and `": "` (CONTRACT 1). */
export function renderText(value: JsonValue): string {
  return typeof value === "string" ? value : print(value, ", ", ": ");
}

function print(value: JsonValue, comma: string, colon: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => print(item, comma, colon)).join(comma)}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = entriesOf(value).filter(([, item]) => item !== undefined);
  return `{${fields.map(([key, item]) => JSON.stringify(key) + colon + print(item, comma, colon)).join(comma)}}`;
}
