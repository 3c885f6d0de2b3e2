/** Values of a Parquet file as JSON text. Pure. */

import type { FileMetaData, ParquetParsers, SchemaElement } from "hyparquet";
import { type JsonValue, parseJson, stringifyJson } from "../../decision/json.js";

/** Decimals come as doubles, of which so many digits are right. */
const DOUBLE_DIGITS = 15;

/** Dates and times as ISO 8601 in UTC, with as many digits as they have; JSON columns as what they hold. */
export const PARSERS: Partial<ParquetParsers> = {
  dateFromDays: (days) => isoOf(BigInt(days) * 86_400_000n, "")?.slice(0, 10) ?? days,
  timestampFromMilliseconds: (millis) => isoOf(millis, "") ?? millis,
  timestampFromMicroseconds: (micros) => isoOf(floorDiv(micros, 1000n), digitsOf(micros, 1000n, 3)) ?? micros,
  timestampFromNanoseconds: (nanos) => isoOf(floorDiv(nanos, 1_000_000n), digitsOf(nanos, 1_000_000n, 6)) ?? nanos,
  jsonFromBytes: (bytes) => bytes && jsonOf(new TextDecoder().decode(bytes)),
};

/** The text of a time, `undefined` beyond the years that a Date has. */
function isoOf(millis: bigint, further: string): string | undefined {
  const date = new Date(Number(millis));
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace("Z", `${further}Z`);
}

function floorDiv(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by;
}

/** The digits below the milliseconds, nothing where they are zeros. */
function digitsOf(value: bigint, by: bigint, count: number): string {
  const rest = ((value % by) + by) % by;
  return rest === 0n ? "" : String(rest).padStart(count, "0");
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A row, its cells in the order of the schema's columns, as the text of one JSON object. */
export function createParquetPrinter({ schema }: FileMetaData): (cells: readonly unknown[]) => string {
  const columns = columnsOf(schema).map(({ name, hasDecimals }) => ({
    key: `${JSON.stringify(name)}:`,
    numberOf: hasDecimals ? decimalText : numberText,
  }));
  return (cells) => `{${columns.map(({ key, numberOf }, i) => key + print(cells[i], numberOf)).join(",")}}`;
}

/** The columns of the root, and whether a decimal is anywhere in them; the schema is a tree, depth first. */
function columnsOf([root, ...elements]: readonly SchemaElement[]): { name: string; hasDecimals: boolean }[] {
  let at = 0;
  const walk = (): { name: string; hasDecimals: boolean } => {
    const element = elements[at++];
    if (element === undefined) throw new Error("parquet schema ends too early");
    const children = Array.from({ length: element.num_children ?? 0 }, walk);
    const isDecimal = element.converted_type === "DECIMAL" || element.logical_type?.type === "DECIMAL";
    return { name: element.name, hasDecimals: isDecimal || children.some(({ hasDecimals }) => hasDecimals) };
  };
  return Array.from({ length: root?.num_children ?? 0 }, walk);
}

function print(value: unknown, numberOf: (value: number) => string): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "bigint") return String(value); // all its digits: the output copies this text
  if (typeof value === "number") return numberOf(value);
  if (typeof value !== "object") return JSON.stringify(value);
  if (value instanceof Map) return stringifyJson(value as JsonValue);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return `[${Array.from(value as Iterable<unknown>, (item) => print(item, numberOf)).join(",")}]`;
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${print(item, numberOf)}`);
  return `{${fields.join(",")}}`;
}

/** JSON has neither NaN nor infinities. */
function numberText(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : "null";
}

function decimalText(value: number): string {
  return numberText(Number(value.toPrecision(DOUBLE_DIGITS)));
}
