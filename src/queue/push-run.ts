/** Puts a run on a queue: its input is read once and counted, what is wrong with it found, its parts become jobs. */

import { mkdir } from "node:fs/promises";
import { QaError } from "../errors.js";
import type { OpenedQueue, PartQueue } from "./open-queue.js";
import { jobIdOf, type PartJob, type PushedRun, planParts } from "./part-job.js";
import { readRunFacts } from "./run-facts.js";

export interface PushOptions {
  /** How often a part is tried before it counts as failed. */
  readonly attempts: number;
  /** Wait before the second try; twice as long before each further one. */
  readonly backoffMs: number;
  readonly signal: AbortSignal;
}

export interface Pushed {
  /** Of the input. */
  readonly rows: number;
  readonly parts: number;
  /** Parts that were not in the queue before. */
  readonly added: number;
  /** Parts that had failed and are tried again. */
  readonly retried: number;
}

const BULK = 1000;

/**
 * Pushes a run. Pushing it again adds what is missing and tries failed parts again, and changes nothing else.
 * @throws QaError `invalid_usage`: the run cannot be answered, or the queue holds another one; those of reading
 */
export async function pushRun(opened: OpenedQueue, run: PushedRun, options: PushOptions): Promise<Pushed> {
  const { queue } = opened;
  const facts = await readRunFacts(run, options.signal);
  const jobs = planParts(run, facts);
  await assertSameRun(opened, jobs);
  await mkdir(run.out, { recursive: true });
  const retried = await retryFailed(queue);
  const before = await countJobs(queue);
  for (let at = 0; at < jobs.length; at += BULK)
    await queue.addBulk(jobs.slice(at, at + BULK).map((job) => bulkEntry(job, options)));
  return { rows: facts.rows, parts: jobs.length, added: (await countJobs(queue)) - before, retried };
}

async function assertSameRun({ queue, name }: OpenedQueue, [job]: readonly PartJob[]): Promise<void> {
  const [known] = await queue.getJobs(undefined, 0, 0);
  if (known === undefined || known.data.run === job?.run) return;
  throw new QaError(
    "invalid_usage",
    `queue ${name} holds another run (its inputs, questions, options or size differ); push to another --out, or pass --queue NAME`,
  );
}

async function retryFailed(queue: PartQueue): Promise<number> {
  const failed = await queue.getFailed();
  for (const job of failed) await job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
  return failed.length;
}

async function countJobs(queue: PartQueue): Promise<number> {
  return Object.values(await queue.getJobCounts()).reduce((sum, count) => sum + count, 0);
}

function bulkEntry(job: PartJob, { attempts, backoffMs }: PushOptions) {
  const backoff = { type: "exponential", delay: backoffMs };
  return { name: "part", data: job, opts: { jobId: jobIdOf(job), attempts, backoff } };
}
