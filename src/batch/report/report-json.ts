/** The report as JSON; its form is `schemas/report.schema.json`, and grows only by keys that are new. Pure. */

import type { QuestionReport } from "./question-report.js";
import { type Pace, type Report, shareOf } from "./report.js";

/** Raised where a key goes or changes what it means. */
const REPORT_VERSION = 1;

/** The report as JSON text, indented, with a line end. */
export function reportJson(report: Report): string {
  const { rows, band } = report;
  const json = {
    report_version: REPORT_VERSION,
    qa_version: report.version,
    end: report.end,
    error: report.error === undefined ? undefined : { code: report.error.code, message: report.error.message },
    inputs: report.inputs,
    output: report.output,
    review: report.review,
    checkpoints: report.checkpoints,
    options: report.options,
    started_at: report.startedAt.toISOString(),
    written_at: report.writtenAt.toISOString(),
    sittings: report.sittings,
    all_sittings: paceJson(report.allSittings),
    this_sitting: paceJson(report.thisSitting),
    rows: { ...rows, failed_share: shareOf(rows.failed, rows.total) },
    input_tokens: report.inputTokens,
    uncertain_band: band === undefined ? undefined : { low: band.low, high: band.high },
    questions: report.questions.map(questionJson),
    other_answers: report.otherAnswers,
    errors: report.errors.map(({ code, rows, share, firstRows }) => ({ code, rows, share, first_rows: firstRows })),
    routes: report.routes,
    replaced_fields: report.replacedFields,
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

function paceJson({ rows, elapsedMs, rowsPerSecond }: Pace) {
  return { rows, elapsed_ms: elapsedMs, rows_per_second: rowsPerSecond };
}

function questionJson(question: QuestionReport) {
  const { id, type, instructions, answers, uncertain, mean, meanConfidence, options, histogram } = question;
  return {
    id,
    type,
    instructions,
    answers,
    uncertain,
    mean,
    mean_confidence: meanConfidence,
    options,
    histogram: {
      of: type === "noul" ? "probability" : "confidence",
      bin_width: 1 / histogram.length,
      counts: histogram,
    },
  };
}
