/** A run: rows of the inputs to who answers, the outcomes to the output, one row out for each row in, in order. */

import type { ChunkOptions } from "../engine/chunked-reading.js";
import { outcomeOfError } from "../engine/engine.js";
import { mapOrdered } from "../engine/map-ordered.js";
import { QaError } from "../errors.js";
import type { Answerer, AnswerOptions } from "./answerer.js";
import { assertErrorLimit, type ErrorLimit } from "./error-limit.js";
import { fingerprintOf } from "./journal/run-fingerprint.js";
import type { Tally } from "./progress/tally.js";
import {
  openRequests,
  questionSetsOf,
  type RequestSource,
  type Requests,
  type RowRequest,
} from "./read/read-requests.js";
import type { Row } from "./read/row.js";
import { rejectRecord } from "./write/create-rejects.js";
import { createOutput, type Output, type OutputOptions } from "./write/output-format.js";
import type { Outcome } from "./write/output-record.js";
import type { RowTexts, RunFiles, RunSink } from "./write/run-sink.js";

export interface RunOptions extends Omit<RequestSource, "choiceNeedsInstructions" | "done"> {
  readonly chunk?: ChunkOptions | undefined;
  readonly output: OutputOptions;
  /** Which of them the run writes. */
  readonly files: RunFiles;
  /** Where the rows go; closed when the run ends. */
  readonly sink: RunSink;
  readonly tally: Tally;
  /** Failed rows that end the run; default none does. */
  readonly maxErrors?: ErrorLimit | undefined;
  /** Told after every row. */
  readonly onRow: () => void;
  /** Ends the run behind the batches in hand. */
  readonly signal: AbortSignal;
}

export type RunEnd = "finished" | "interrupted" | "reader_gone";

/**
 * Answers every row that is not done.
 * @throws QaError before the first row `invalid_usage`, `run_changed`, `output_exists`, `output_changed`; then, behind what
 * is written, `input_missing`, `input_unsupported`, `input_damaged`, `input_changed`, `output_failed`, `too_many_errors`,
 * `checkpoint_missing`, `checkpoint_damaged`
 */
export async function run(answerer: Answerer, options: RunOptions): Promise<RunEnd> {
  const { sink, signal } = options;
  try {
    const plan = await planRun(answerer, options);
    await sink.begin({ ...plan, tally: options.tally });
    return await finishRun(answerer, plan, options);
  } catch (error) {
    await sink.abort();
    if (isAborted(error, AbortSignal.any([signal, sink.readerGone]))) return "interrupted";
    throw error;
  }
}

interface Plan {
  readonly requests: Requests;
  readonly output: Output;
  readonly heads: RowTexts;
  readonly fingerprint: ReturnType<typeof fingerprintOf>;
}

/** Finds all that can be wrong with a run before its first row. */
async function planRun(answerer: Answerer, options: RunOptions): Promise<Plan> {
  const { inputs, questions, read, sink, signal, files } = options;
  const { choiceNeedsInstructions } = answerer;
  // whoever reads the output may go: then the input, perhaps a slow pipe, is not waited for
  const stop = AbortSignal.any([signal, sink.readerGone]);
  const source = { ...options, choiceNeedsInstructions, read: { ...read, signal: stop }, done: sink.done };
  const requests = await openRequests(source);
  const { head, isAll } = requests;
  const mayVary = !isAll && (inputs.length > 1 || head.some(({ row }) => row.content.type === "json"));
  const sample = head.map(({ row }) => row);
  const output = createOutput({ sample, mayVary, questionSets: questionSetsOf(head, questions) }, options.output);
  const answeredBy = await answerer.identity();
  const fingerprint = fingerprintOf({ ...options, files, answeredBy, head: output.head });
  return { requests, output, heads: { out: output.head }, fingerprint };
}

async function finishRun(answerer: Answerer, plan: Plan, options: RunOptions): Promise<RunEnd> {
  const { sink, signal } = options;
  const { seen } = plan.requests;
  const input = () => ({ rows: seen.rows, digest: seen.value });
  const stop = AbortSignal.any([signal, sink.readerGone]);
  try {
    await answerRows(answerer, plan, { ...options, stop });
  } catch (error) {
    if (!isAborted(error, stop)) {
      await sink.close({ finished: false, input: input() }).catch(() => {}); // what came first is what is told
      throw error;
    }
  }
  await sink.close({ finished: !stop.aborted, input: input() });
  if (signal.aborted) return "interrupted";
  return sink.readerGone.aborted ? "reader_gone" : "finished";
}

async function answerRows(
  answerer: Answerer,
  { requests, output }: Plan,
  { sink, tally, onRow, chunk, maxErrors, stop }: RunOptions & { readonly stop: AbortSignal },
): Promise<void> {
  const answer = async (item: RowRequest) => {
    return { item, outcome: await outcomeOf(answerer, item.request, { chunk, signal: stop }) };
  };
  const sitting = { rows: 0, failed: 0 };
  for await (const { item, outcome } of mapOrdered(
    takeIn(requests.all, { output, tally }),
    answerer.windowRows,
    answer,
  )) {
    if (isAborted(outcome, stop)) return;
    tally.add(item.row, outcome);
    await sink.write(textsOf(item.row, outcome, output), item.place);
    onRow();
    sitting.rows++;
    if (outcome instanceof QaError) sitting.failed++;
    if (maxErrors !== undefined) assertErrorLimit(sitting, maxErrors);
  }
}

function textsOf(row: Row, outcome: Outcome, output: Output): RowTexts {
  return { out: output.record(row, outcome), rejects: rejectRecord(row, outcome) };
}

async function outcomeOf(answerer: Answerer, request: RowRequest["request"], options: AnswerOptions): Promise<Outcome> {
  if (request instanceof QaError) return request;
  return answerer.answer(request, options).catch(outcomeOfError);
}

/** Counts rows as they are taken, and keeps those from being answered whose answers would have no columns. */
async function* takeIn(
  requests: AsyncIterable<RowRequest>,
  { output, tally }: { readonly output: Output; readonly tally: Tally },
): AsyncGenerator<RowRequest, void, undefined> {
  for await (const each of requests) {
    tally.read();
    const misfit = each.request instanceof QaError ? undefined : output.misfit(each.request.questions);
    yield { ...each, request: misfit ?? each.request };
  }
}

function isAborted(outcome: unknown, stop: AbortSignal): boolean {
  return stop.aborted && outcome instanceof QaError && outcome.code === "aborted";
}
