/** What a run does, settled before its first row: where its requests come from and the form of all that it writes. */

import type { ChunkOptions } from "../engine/chunked-reading.js";
import { outcomeOfError } from "../engine/engine.js";
import { QaError } from "../errors.js";
import type { Answerer, AnswerOptions } from "./answerer.js";
import { fingerprintOf } from "./journal/run-fingerprint.js";
import type { Fingerprint } from "./journal/sidecar.js";
import {
  openRequests,
  questionSetsOf,
  type RequestSource,
  type Requests,
  type RowRequest,
} from "./read/read-requests.js";
import type { Row } from "./read/row.js";
import { createReview, type ReviewOptions } from "./review/create-review.js";
import { rejectRecord } from "./write/create-rejects.js";
import { createOutput, type OutputOptions } from "./write/output-format.js";
import type { Outcome } from "./write/output-record.js";
import type { RowTexts, RunFiles } from "./write/run-sink.js";

export interface PlanOptions extends Omit<RequestSource, "choiceNeedsInstructions" | "same" | "skipSame"> {
  readonly chunk?: ChunkOptions | undefined;
  readonly output: OutputOptions;
  /** Form of the file for review, where there is one. */
  readonly review?: ReviewOptions | undefined;
  /** Which of them the run writes. */
  readonly files: RunFiles;
}

export interface RunPlan {
  readonly requests: Requests;
  readonly fingerprint: Fingerprint;
  /** What stands before the first row of each file. */
  readonly heads: RowTexts;
  /** What a row comes to, for each file. */
  textsOf(row: Row, outcome: Outcome): RowTexts;
  /** The request, or the error that the row gets since its own questions do not fit the output. */
  fitted(request: RowRequest): RowRequest["request"];
}

/** From where on a run reads, and until when. */
export interface PlanPlace extends Pick<RequestSource, "same" | "skipSame"> {
  /** Ends the reading. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Plans a run.
 * @throws QaError `invalid_usage`; those of the reading of the first rows; `checkpoint_missing`, `checkpoint_damaged`
 */
export async function planRun(
  answerer: Answerer,
  options: PlanOptions,
  { stop, ...place }: PlanPlace,
): Promise<RunPlan> {
  const { inputs, questions, read } = options;
  const { choiceNeedsInstructions } = answerer;
  const requests = await openRequests({
    ...options,
    choiceNeedsInstructions,
    read: { ...read, signal: stop },
    ...place,
  });
  const { head, isAll } = requests;
  const mayVary = !isAll && (inputs.length > 1 || head.some(({ row }) => row.content.type === "json"));
  const sample = head.map(({ row }) => row);
  const output = createOutput({ sample, mayVary, questionSets: questionSetsOf(head, questions) }, options.output);
  const review = options.review === undefined ? undefined : createReview({ sample, mayVary }, options.review);
  return {
    requests,
    fingerprint: fingerprintOf({ ...options, answeredBy: await answerer.identity(), head: output.head }),
    heads: { out: output.head, review: review?.head },
    textsOf: (row, outcome) => ({
      out: output.record(row, outcome),
      rejects: rejectRecord(row, outcome),
      review: review?.record(row, outcome),
    }),
    fitted: ({ request }) => (request instanceof QaError ? request : (output.misfit(request.questions) ?? request)),
  };
}

/**
 * What a request ends with.
 * @throws QaError what no row can do without: `checkpoint_missing`, `checkpoint_damaged`
 */
export async function outcomeOf(
  answerer: Answerer,
  request: RowRequest["request"],
  options: AnswerOptions,
): Promise<Outcome> {
  if (request instanceof QaError) return request;
  return answerer.answer(request, options).catch(outcomeOfError);
}

/** Whether an outcome or an error comes from a run that was told to stop. */
export function isAborted(outcome: unknown, stop: AbortSignal): boolean {
  return stop.aborted && outcome instanceof QaError && outcome.code === "aborted";
}
