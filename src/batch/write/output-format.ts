/** The one form that a run's output rows have, NDJSON or CSV: told by `--to`, else by the output's name. Pure. */

import type { Question } from "../../decision/question.js";
import { QaError } from "../../errors.js";
import { withoutCodec } from "../codecs.js";
import type { Row } from "../read/row.js";
import { type CsvOptions, type CsvSource, checkIdColumn, csvMisfit, planCsv } from "./csv-plan.js";
import { csvHeader, csvRecord } from "./csv-record.js";
import { ndjsonRecord, type Outcome, type RecordOptions } from "./output-record.js";
import { packingOf } from "./pack.js";

export type OutputFormat = "ndjson" | "csv";

/** The values that `--to` takes. */
export const TO_VALUES = ["ndjson", "jsonl", "csv"] as const;

const FORMATS: ReadonlyMap<string, OutputFormat> = new Map([
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["csv", "csv"],
]);

/**
 * The format of an output by `--to` or its extension (`.gz` and `.zst` looked through); stdout is NDJSON without `--to`.
 * @throws QaError `invalid_usage` for a value or an extension that names none, and for a packing that this Node lacks
 */
export function formatOfOutput(out: string, to?: string): OutputFormat {
  packingOf(out); // now, and not when the file is there already
  const named = to?.toLowerCase() ?? (out === "-" ? "ndjson" : extensionOf(out));
  const format = FORMATS.get(named);
  if (format !== undefined) return format;
  const values = TO_VALUES.join(", ");
  if (to !== undefined) throw new QaError("invalid_usage", `--to does not know this format; it takes ${values}`);
  throw new QaError("invalid_usage", `${out}: the name does not tell the output's format; pass --to, one of ${values}`);
}

function extensionOf(file: string): string {
  return /\.([^./\\]+)$/.exec(withoutCodec(file))?.[1]?.toLowerCase() ?? "";
}

export interface OutputOptions extends RecordOptions, CsvOptions {
  readonly format: OutputFormat;
}

export interface Output {
  /** What stands before the first row, written once: the header of a CSV. */
  readonly head: string;
  /** A row with its line end. */
  record(row: Row, outcome: Outcome): string;
  /** The error that a row gets in place of answers, since its own questions do not fit the columns. */
  misfit(questions: readonly Question[]): QaError | undefined;
}

/**
 * The form of every output row, all that can be wrong with it found before anything is run.
 * @throws QaError `invalid_usage`
 */
export function createOutput(source: CsvSource, options: OutputOptions): Output {
  if (options.idColumn !== undefined) checkIdColumn(options.idColumn, source.sample);
  if (options.format === "ndjson")
    return { head: "", record: (row, outcome) => ndjsonRecord(row, outcome, options), misfit: () => undefined };
  const plan = planCsv(source, options);
  return {
    head: csvHeader(plan),
    record: (row, outcome) => csvRecord(plan, row, outcome),
    misfit: (questions) => csvMisfit(plan, questions),
  };
}
