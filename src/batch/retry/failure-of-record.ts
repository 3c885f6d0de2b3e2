/** The error of a row that an earlier run wrote as failed, read back from the row's record. Pure. */

import { ERROR_KINDS, type ErrorCode, type ErrorDetails, QaError } from "../../errors.js";
import { scanRecord } from "../read/delimited-record.js";
import type { OutputFormat } from "../write/output-format.js";

/** Gives the error of a record, `undefined` for a row that is answered. */
export type FailureOf = (record: string) => QaError | undefined;

/**
 * How failures are told in an output.
 * @param head what stands before its first row: the columns of a CSV
 */
export function createFailureOf(format: OutputFormat, head: string): FailureOf {
  if (format === "ndjson") return failureOfLine;
  const columns = cellsOf(head);
  const [code, message] = ["error.code", "error.message"].map((column) => columns.lastIndexOf(column));
  return (record) => {
    if (record.endsWith(",,\n")) return undefined; // both cells, which stand last, are empty
    const cells = cellsOf(record);
    return failureFrom(cells[code ?? -1], cells[message ?? -1]);
  };
}

function failureOfLine(line: string): QaError | undefined {
  if (!line.includes('"error":')) return undefined;
  const { error } = JSON.parse(line) as { error?: { code?: unknown; message?: unknown } & ErrorDetails };
  const { code, message, ...details } = error ?? {};
  return failureFrom(code, message, details);
}

function failureFrom(code: unknown, message: unknown, details: ErrorDetails = {}): QaError | undefined {
  if (typeof code !== "string" || code === "") return undefined;
  const known = Object.hasOwn(ERROR_KINDS, code) ? (code as ErrorCode) : "internal"; // of another version of qa
  return new QaError(known, typeof message === "string" ? message : "", { details });
}

function cellsOf(record: string): readonly string[] {
  const scan = scanRecord(record, 0, { delimiter: ",", isFinal: true });
  return scan.type === "record" ? scan.cells : [];
}
