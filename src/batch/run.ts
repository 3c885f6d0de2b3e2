/** A run: rows of the inputs to who answers, the outcomes to the output, one row out for each row in, in order. */

import { mapOrdered } from "../engine/map-ordered.js";
import { QaError } from "../errors.js";
import type { Answerer } from "./answerer.js";
import { assertErrorLimit, type ErrorLimit } from "./error-limit.js";
import { isAborted, outcomeOf, type PlanOptions, planRun, type RunPlan } from "./plan-run.js";
import type { Tally } from "./progress/tally.js";
import type { RowRequest } from "./read/read-requests.js";
import type { RunSink } from "./write/run-sink.js";

export interface RunOptions extends PlanOptions {
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
  const { sink, signal, tally } = options;
  // whoever reads the output may go: then the input, perhaps a slow pipe, is not waited for
  const stop = AbortSignal.any([signal, sink.readerGone]);
  try {
    const plan = await planRun(answerer, options, { same: sink.done, skipSame: true, stop });
    await sink.begin({ ...plan, tally });
    await answerRows(answerer, plan, { ...options, stop });
  } catch (error) {
    await sink.abort();
    if (!isAborted(error, stop)) throw error;
  }
  if (signal.aborted) return "interrupted";
  return sink.readerGone.aborted ? "reader_gone" : "finished";
}

type Sitting = RunOptions & { readonly stop: AbortSignal };

/** Answers rows and closes the sink behind the last of them, also where something ends the run before its end. */
async function answerRows(answerer: Answerer, plan: RunPlan, options: Sitting): Promise<void> {
  const { sink, stop } = options;
  const { seen } = plan.requests;
  let failure: unknown;
  try {
    await answerAll(answerer, plan, options);
  } catch (error) {
    if (!isAborted(error, stop)) failure = error;
  }
  const isFinished = !stop.aborted && failure === undefined;
  const closing = sink.close({ finished: isFinished, input: { rows: seen.rows, digest: seen.value } });
  if (failure === undefined) return closing;
  await closing.catch(() => {}); // what came first is what is told
  throw failure;
}

async function answerAll(
  answerer: Answerer,
  plan: RunPlan,
  { sink, tally, onRow, chunk, maxErrors, stop }: Sitting,
): Promise<void> {
  const answer = async (item: RowRequest) => {
    return { item, outcome: await outcomeOf(answerer, plan.fitted(item), { chunk, signal: stop }) };
  };
  const sitting = { rows: 0, failed: 0 };
  for await (const { item, outcome } of mapOrdered(counted(plan.requests.all, tally), answerer.windowRows, answer)) {
    if (isAborted(outcome, stop)) return;
    tally.add(item.row, outcome);
    await sink.write(plan.textsOf(item.row, outcome), item.place);
    onRow();
    sitting.rows++;
    if (outcome instanceof QaError) sitting.failed++;
    if (maxErrors !== undefined) assertErrorLimit(sitting, maxErrors);
  }
}

/** Counts rows as they are taken. */
async function* counted(
  requests: AsyncIterable<RowRequest>,
  tally: Tally,
): AsyncGenerator<RowRequest, void, undefined> {
  for await (const each of requests) {
    tally.read();
    yield each;
  }
}
