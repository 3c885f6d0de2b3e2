/** Answers a sample of rows for a few seconds, to see how fast the machine is and how long the output's rows are. */

import { QaError } from "../../errors.js";
import type { Answerer, AnswerOptions } from "../answerer.js";
import { outcomeOf, type RunPlan } from "../plan-run.js";
import type { Outcome } from "../write/output-record.js";
import type { Mark } from "./expected-time.js";
import type { SampledRow } from "./run-strata.js";

export interface Measured {
  /** What was answered when, from the first answer on. */
  readonly marks: readonly Mark[];
  /** Output rows of those that ended in time. */
  readonly records: readonly string[];
}

export interface MeasureOptions extends AnswerOptions {
  readonly plan: RunPlan;
  readonly forMs: number;
}

/**
 * Hands all rows over at once, as a run does with its window, and takes what is answered in time.
 * @throws QaError `aborted`, `checkpoint_missing`, `checkpoint_damaged`
 */
export async function measureSample(
  answerer: Answerer,
  rows: readonly SampledRow[],
  { plan, forMs, chunk, signal }: MeasureOptions,
): Promise<Measured> {
  const startMs = performance.now();
  const timeUp = new AbortController();
  const marks: Mark[] = [];
  const endInTime = () => {
    // not before the first answer, or nothing would have been measured
    if (marks.length > 0 && performance.now() - startMs >= forMs) timeUp.abort();
  };
  const timer = setTimeout(endInTime, forMs);
  const stop = AbortSignal.any([timeUp.signal, ...(signal === undefined ? [] : [signal])]);
  const records: string[] = [];
  const measure = async ({ row, request, inputTokens }: SampledRow) => {
    const outcome = await outcomeOf(answerer, request, { chunk, signal: stop });
    if (isAborted(outcome)) return;
    marks.push({ atMs: performance.now(), inputTokens });
    records.push(plan.textsOf(row, outcome).out);
    endInTime();
  };
  try {
    await Promise.all(rows.map(measure));
  } finally {
    clearTimeout(timer);
  }
  if (signal?.aborted === true) throw new QaError("aborted", "measuring was stopped");
  return { marks, records };
}

function isAborted(outcome: Outcome): boolean {
  return outcome instanceof QaError && outcome.code === "aborted";
}
