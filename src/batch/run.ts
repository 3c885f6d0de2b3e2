/** A run: rows of the inputs to who answers, the outcomes to the output, one row out for each row in, in order. */

import type { ChunkOptions } from "../engine/chunked-reading.js";
import { outcomeOfError } from "../engine/engine.js";
import { mapOrdered } from "../engine/map-ordered.js";
import { QaError } from "../errors.js";
import type { Answerer, AnswerOptions } from "./answerer.js";
import type { Tally } from "./progress/tally.js";
import { openRequests, questionSetsOf, type RequestSource, type RowRequest } from "./read/read-requests.js";
import { createOutput, type Output, type OutputOptions } from "./write/output-format.js";
import type { Outcome } from "./write/output-record.js";
import type { RowWriter } from "./write/row-queue.js";

export interface RunOptions extends Omit<RequestSource, "choiceNeedsInstructions"> {
  readonly chunk?: ChunkOptions | undefined;
  readonly output: OutputOptions;
  /** Opens the output, once all that can be wrong with the run before its first row is found. */
  readonly openWriter: () => Promise<RowWriter>;
  readonly tally: Tally;
  /** Told after every row. */
  readonly onRow: () => void;
  /** Ends the run behind the batches in hand. */
  readonly signal: AbortSignal;
}

export type RunEnd = "finished" | "interrupted" | "reader_gone";

/**
 * Answers every row.
 * @throws QaError `invalid_usage` before the first row; `input_missing`, `input_unsupported`, `input_damaged` (behind the rows
 * that could be read), `output_exists`, `output_failed`, `checkpoint_missing`, `checkpoint_damaged`
 */
export async function run(answerer: Answerer, options: RunOptions): Promise<RunEnd> {
  const { inputs, questions, read, signal } = options;
  const { choiceNeedsInstructions } = answerer;
  const gone = new AbortController(); // whoever reads the output: then the input, perhaps a slow pipe, is not waited for
  const stop = AbortSignal.any([signal, gone.signal]);
  const source = { ...options, choiceNeedsInstructions, read: { ...read, signal: stop } };
  const { head, isAll, all } = await openRequests(source);
  const mayVary = !isAll && (inputs.length > 1 || head.some(({ row }) => row.content.type === "json"));
  const sample = head.map(({ row }) => row);
  const output = createOutput({ sample, mayVary, questionSets: questionSetsOf(head, questions) }, options.output);
  const writer = await options.openWriter();
  writer.readerGone.addEventListener("abort", () => gone.abort());
  try {
    await answerRows(answerer, all, { ...options, output, writer, stop });
  } catch (error) {
    if (!isAborted(error, stop)) {
      await writer.close().catch(() => {}); // what came first is what is told
      throw error;
    }
  }
  await writer.close();
  if (signal.aborted) return "interrupted";
  return writer.readerGone.aborted ? "reader_gone" : "finished";
}

interface Sinks extends Pick<RunOptions, "chunk" | "tally" | "onRow"> {
  readonly output: Output;
  readonly writer: RowWriter;
  readonly stop: AbortSignal;
}

async function answerRows(
  answerer: Answerer,
  requests: AsyncIterable<RowRequest>,
  { output, writer, tally, onRow, chunk, stop }: Sinks,
): Promise<void> {
  await writer.write(output.head, 0);
  const items = takeIn(requests, { output, tally });
  const answer = async ({ row, request }: RowRequest) => {
    return { row, outcome: await outcomeOf(answerer, request, { chunk, signal: stop }) };
  };
  for await (const { row, outcome } of mapOrdered(items, answerer.windowRows, answer)) {
    if (isAborted(outcome, stop)) return;
    tally.add(row, outcome);
    await writer.write(output.record(row, outcome));
    onRow();
  }
}

async function outcomeOf(answerer: Answerer, request: RowRequest["request"], options: AnswerOptions): Promise<Outcome> {
  if (request instanceof QaError) return request;
  return answerer.answer(request, options).catch(outcomeOfError);
}

/** Counts rows as the engine takes them, and keeps those from it whose answers would have no columns. */
async function* takeIn(
  requests: AsyncIterable<RowRequest>,
  { output, tally }: Pick<Sinks, "output" | "tally">,
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
