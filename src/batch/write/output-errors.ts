/** Why an output cannot be opened or written, and what to do. */

import { dirname } from "node:path";
import { QaError } from "../../errors.js";

/** @param remedy what lets the output be overwritten */
export function outputExists(out: string, remedy = "begin anew with --restart"): QaError {
  return new QaError("output_exists", `${out} exists; name another file, or ${remedy}`, { details: { file: out } });
}

/** An error of opening a file for writing. */
export function openError(out: string, cause: unknown): QaError {
  const code = codeOf(cause);
  if (code === "EEXIST") return outputExists(out);
  if (code === "EISDIR") return new QaError("invalid_usage", `${out} is a directory; name a file in it`, { cause });
  if (code === "ENOENT" || code === "ENOTDIR") return folderMissing(out, cause);
  const why =
    code === "EACCES" || code === "EPERM" || code === "EROFS" ? "may not be written" : `could not be opened (${code})`;
  return new QaError("output_failed", `${out} ${why}; check its permissions, or name another file`, { cause });
}

/** An error of an output whose folder is not there. */
function folderMissing(out: string, cause: unknown): QaError {
  const folder = dirname(out);
  const message = `no folder ${folder} for the output; make it first: mkdir -p ${folder}`;
  return new QaError("invalid_usage", message, { cause });
}

/** An error of writing, behind rows that are written whole. */
export function outputFailed(name: string, rows: number, cause: unknown): QaError {
  const code = codeOf(cause);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const why = isFull ? "no space is left; make room" : `it could not be written (${code ?? "unknown error"}); check it`;
  const message = `${name}: ${why} and run again; ${rows} ${rows === 1 ? "row was" : "rows were"} written whole`;
  return new QaError("output_failed", message, { details: { rows }, cause });
}

/** The `code` of a system error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
