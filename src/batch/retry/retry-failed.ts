/**
 * Answers the failed rows of a finished run again, each in its place; all others stay byte for byte. The files are written
 * beside the old ones and take their places at the end: a run that is killed has changed nothing, and one that is told to
 * stop keeps what it has answered.
 */

import { mapOrdered } from "../../engine/map-ordered.js";
import { QaError } from "../../errors.js";
import type { Answerer } from "../answerer.js";
import { assertSameRun } from "../journal/changes.js";
import { commitReplacement } from "../journal/replacement.js";
import type { Sidecar } from "../journal/sidecar.js";
import { openPart, type PartReader } from "../merge/part-reader.js";
import { isAborted, outcomeOf, type PlanOptions, planRun, type RunPlan } from "../plan-run.js";
import type { Tally } from "../progress/tally.js";
import type { RowRequest } from "../read/read-requests.js";
import type { RunEnd } from "../run.js";
import type { Outcome } from "../write/output-record.js";
import { createFailureOf } from "./failure-of-record.js";
import { openReplacementFiles, type ReplacementFiles } from "./replacement-files.js";

export interface RetryOptions extends PlanOptions {
  /** What is known of the files, which are locked. */
  readonly before: Sidecar;
  /** Of the earlier sittings. */
  readonly tally: Tally;
  /** Told after every row that is answered again. */
  readonly onRow: () => void;
  /** Leaves the failed rows that are not yet answered as they are. */
  readonly signal: AbortSignal;
}

/**
 * Answers the failed rows.
 * @throws QaError `run_changed`, `input_changed`, `output_changed`, `input_damaged`, `output_failed`, `checkpoint_missing`,
 * `checkpoint_damaged`; nothing is changed then
 */
export async function retryFailed(answerer: Answerer, options: RetryOptions): Promise<RunEnd> {
  const { before, files, output, part = null, tally, signal } = options;
  const started = performance.now();
  const plan = await planRun(answerer, options, { same: before.input });
  assertSameRun(files.out, before, { fingerprint: plan.fingerprint, part });
  const records = openPart({ file: files.out, rows: before.rows, format: output.format });
  const written = await openReplacementFiles(files);
  try {
    if ((await records.header()) !== plan.heads.out)
      throw new QaError("output_changed", `the columns of ${files.out} are not those that qa wrote; restore it`);
    await written.write(plan.heads, 0);
    tally.forgetFailures();
    await answerFailed(answerer, { ...options, plan, records, written });
    await records.assertEnd();
    const { full: _, ...rest } = before; // its counts are those before the failed rows were answered
    const elapsedMs = before.elapsedMs + Math.round(performance.now() - started);
    const facts = { files: await written.close(), tally: tally.snapshot(), elapsedMs, sittings: before.sittings + 1 };
    await commitReplacement(files, before, { ...rest, ...facts });
  } finally {
    await written.discard();
    await records.close();
    await plan.requests.all.return();
  }
  return signal.aborted ? "interrupted" : "finished";
}

interface Work extends RetryOptions {
  readonly plan: RunPlan;
  readonly records: PartReader;
  readonly written: ReplacementFiles;
}

/** A row and what an earlier sitting wrote of it. */
interface Pair {
  readonly item: RowRequest;
  readonly record: string;
}

async function answerFailed(answerer: Answerer, work: Work): Promise<void> {
  const { plan, written, tally, output, chunk, signal, onRow } = work;
  const failureOf = createFailureOf(output.format, plan.heads.out);
  const answer = async ({ item, record }: Pair) => {
    const failure = failureOf(record);
    if (failure === undefined) return { item, record, outcome: undefined };
    const outcome = signal.aborted ? failure : await outcomeOf(answerer, plan.fitted(item), { chunk, signal });
    return isAborted(outcome, signal) ? { item, record, outcome: failure } : { item, record, outcome, isNew: true };
  };
  for await (const { item, record, outcome, isNew } of mapOrdered(pairsOf(work), answerer.windowRows, answer)) {
    if (outcome === undefined) {
      await written.write({ out: record }, 1);
      continue;
    }
    countRow(tally, item, outcome);
    const texts = plan.textsOf(item.row, outcome);
    await written.write(isNew === true ? texts : { ...texts, out: record }, 1);
    onRow();
  }
}

function countRow(tally: Tally, { row }: RowRequest, outcome: Outcome): void {
  tally.read();
  tally.add(row, outcome);
}

async function* pairsOf({ plan, records, before }: Work): AsyncGenerator<Pair, void, undefined> {
  let rows = 0;
  for await (const item of plan.requests.all) {
    if (rows++ === before.rows) return; // the input has grown: its new rows are for a run without --retry-failed
    yield { item, record: await records.row() };
  }
}
