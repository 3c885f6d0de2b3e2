/**
 * Works a queue: takes parts, has them answered, keeps their leases while that lasts, and gives them back when it is told to
 * stop. A worker that dies gives nothing back: its leases run out, and others take its parts over.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Worker } from "bullmq";
import { ERROR_KINDS, toQaError } from "../errors.js";
import type { OpenedQueue } from "./open-queue.js";
import type { PartJob, PartResult } from "./part-job.js";
import type { WorkEvent } from "./work-event.js";

export interface WorkOptions {
  /** Parts in hand at once. */
  readonly jobs: number;
  /** How long a part stays with a worker that is not heard of. */
  readonly leaseMs: number;
  /** End once no part waits or is in anybody's hands. */
  readonly untilEmpty: boolean;
  /** Answers a part into its file; throws `aborted` when it is to stop. */
  readonly answer: (job: PartJob, signal: AbortSignal) => Promise<PartResult>;
  readonly onEvent: (event: WorkEvent) => void;
  /** Gives back what is in hand and ends. */
  readonly signal: AbortSignal;
}

/** A part is taken over this often before it counts as what kills its workers. */
const MAX_TAKEOVERS = 10;
const POLL_MS = 500;

/** Works until the queue is empty (where asked) or the signal says stop. */
export async function workQueue(opened: OpenedQueue, options: WorkOptions): Promise<"empty" | "stopped"> {
  const { signal, untilEmpty } = options;
  const inHand = new Map<string, AbortController>();
  const worker = openWorker(opened, options, inHand);
  try {
    while (!signal.aborted && !(untilEmpty && (await isEmpty(opened))))
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  } finally {
    await worker.close(); // takes no more, and waits for what is in hand
  }
  return signal.aborted ? "stopped" : "empty";
}

type PartWorker = Worker<PartJob, PartResult>;

function openWorker(
  { bullmq, name, connection }: OpenedQueue,
  options: WorkOptions,
  inHand: Map<string, AbortController>,
): PartWorker {
  const { leaseMs, onEvent } = options;
  const worker: PartWorker = new bullmq.Worker(
    name,
    (job, token) => processJob({ job, token, inHand, bullmq }, options),
    {
      connection,
      concurrency: options.jobs,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: MAX_TAKEOVERS,
    },
  );
  worker.on("failed", (job, { message: reason }) => {
    if (job === undefined) return onEvent({ type: "trouble", reason });
    onEvent({ type: "failed", job: job.data, reason, isFinal: job.finishedOn !== undefined });
  });
  worker.on("lockRenewalFailed", (ids) => {
    for (const id of ids) inHand.get(id)?.abort(); // somebody else has it: what is written here is of no use
  });
  let told: string | undefined; // while Redis is away, the same every half a second
  worker.on("error", ({ message: reason }) => {
    // connections that are closed under calls in flight are no news to a worker that ends
    if (reason !== told && !options.signal.aborted) onEvent({ type: "trouble", reason });
    told = reason;
  });
  return worker;
}

interface Taken {
  readonly job: Job<PartJob, PartResult>;
  readonly token: string | undefined;
  readonly inHand: Map<string, AbortController>;
  readonly bullmq: OpenedQueue["bullmq"];
}

async function processJob({ job, token, inHand, bullmq }: Taken, options: WorkOptions): Promise<PartResult> {
  const stop = new AbortController();
  const id = job.id ?? "";
  inHand.set(id, stop);
  const started = performance.now();
  try {
    // a part may still come while the worker closes
    const result = await options.answer(job.data, AbortSignal.any([stop.signal, options.signal]));
    options.onEvent({ type: "answered", job: job.data, result, elapsedMs: performance.now() - started });
    return result;
  } catch (error) {
    if (options.signal.aborted) {
      await job.moveToWait(token);
      options.onEvent({ type: "given_back", job: job.data });
      throw new bullmq.WaitingError();
    }
    if (stop.signal.aborted) {
      options.onEvent({ type: "lost", job: job.data });
      throw new bullmq.WaitingError(); // it is in other hands already
    }
    const failure = toQaError(error);
    const { retry, exit } = ERROR_KINDS[failure.code];
    // wrong usage stays wrong; what the machine did to it may be over the next time
    throw retry || exit === 1 ? failure : new bullmq.UnrecoverableError(failure.message);
  } finally {
    inHand.delete(id);
  }
}

async function isEmpty({ queue }: OpenedQueue): Promise<boolean> {
  const counts = await queue.getJobCounts("wait", "active", "delayed", "prioritized");
  return Object.values(counts).every((count) => count === 0);
}
