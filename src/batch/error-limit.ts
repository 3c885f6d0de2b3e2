/** `--max-errors`: how many failed rows a run takes before it ends, since something is wrong with all of them. Pure. */

import { QaError } from "../errors.js";

export type ErrorLimit =
  | { readonly type: "rows"; readonly rows: number }
  /** Of the rows so far, from 0 to 1; held from `SHARE_FROM_ROWS` rows on. */
  | { readonly type: "share"; readonly share: number };

/** Rows before which a share says nothing. */
export const SHARE_FROM_ROWS = 100;

/**
 * A limit as `--max-errors` has it: `20`, or `5%`.
 * @throws QaError `invalid_usage`
 */
export function parseErrorLimit(text: string): ErrorLimit {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(amount);
  if (percent === "%" && value <= 100) return { type: "share", share: value / 100 };
  if (percent === "" && Number.isInteger(value)) return { type: "rows", rows: value };
  throw new QaError("invalid_usage", "--max-errors takes a number of rows, as in 20, or a share of them, as in 5%");
}

/**
 * Holds a sitting of a run to its limit; rows that failed in earlier ones do not count, so that it can be gone on with.
 * @throws QaError `too_many_errors`
 */
export function assertErrorLimit(
  { rows, failed }: { readonly rows: number; readonly failed: number },
  limit: ErrorLimit,
): void {
  const isOver = limit.type === "rows" ? failed > limit.rows : rows >= SHARE_FROM_ROWS && failed > limit.share * rows;
  if (!isOver) return;
  const allowed = limit.type === "rows" ? `${limit.rows}` : `${limit.share * 100}%`;
  const message = `${failed} of ${rows} rows failed, more than --max-errors ${allowed}; mend what the errors say, then go on with the same command, and answer the failed rows with --retry-failed`;
  throw new QaError("too_many_errors", message, { details: { rows, failed } });
}
