/** What `qa run --dry-run --json` prints. */

import type { JsonValue } from "../../decision/json.js";
import { surveyToJson } from "../room/room-json.js";
import type { DryRun } from "./dry-run.js";

/**
 * The object, counts in rows, tokens and bytes, times in milliseconds.
 *
 * ```
 * rows: {...}, as `qa room --json` has them
 * answered: rows that would be answered, duplicates: {rows, exact}
 * time: {from_ms, to_ms}, output: {bytes}, measured: {rows, ms, workers}
 * ```
 */
export function dryRunToJson({ survey, answered, duplicates, time, outputBytes, measured }: DryRun): JsonValue {
  return {
    rows: surveyToJson(survey),
    answered,
    duplicates: { rows: duplicates.rows, exact: duplicates.isExact },
    time: { from_ms: Math.round(time.fromMs), to_ms: Math.round(time.toMs) },
    output: { bytes: outputBytes },
    measured: { ...measured, ms: Math.round(measured.ms) },
  };
}
