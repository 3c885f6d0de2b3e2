/**
 * States of many requests and question sets, in; logits, out. Batches states of like length for the workers as slots become
 * free, rows of one question set side by side. What waits here is bounded by those who submit.
 */

import { QaError } from "../errors.js";
import { planBatch } from "./batch-plan.js";
import type { CompiledPrefix, FamilyCheckpoint } from "./family.js";
import type { Inference } from "./inference.js";

/** One state with the compiled questions that read it. */
export interface Job {
  readonly checkpoint: FamilyCheckpoint;
  /** Token ids without the closing separator. */
  readonly stateIds: readonly number[];
  readonly prefix: CompiledPrefix;
  readonly prefixTokens: number;
  readonly signal?: AbortSignal | undefined;
}

interface Waiting extends Job {
  readonly stateTokens: number;
  readonly resolve: (logits: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

export class Scheduler {
  readonly #inference: Inference;
  readonly #maxBatchTokens: number;
  /** checkpoint name -> what waits for it, in order of arrival. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Signals that are listened to already: one may come with every job of a file. */
  readonly #signals = new WeakSet<AbortSignal>();
  #running = 0;
  #scheduled = false;

  constructor(inference: Inference, maxBatchTokens: number) {
    this.#inference = inference;
    this.#maxBatchTokens = maxBatchTokens;
  }

  /** States waiting and batches running, for those who show load. */
  get load(): { waiting: number; running: number } {
    return { waiting: [...this.#waiting.values()].reduce((sum, jobs) => sum + jobs.length, 0), running: this.#running };
  }

  /**
   * Logits of a state: the options of all its questions, in order. A job that is aborted while it waits is never run.
   * @throws QaError `aborted`, `worker_crashed`
   */
  submit(job: Job): Promise<Float32Array> {
    if (job.signal?.aborted === true) return Promise.reject(abortedError());
    this.#listenTo(job.signal);
    return new Promise((resolve, reject) => {
      const jobs = this.#waiting.get(job.checkpoint.name) ?? [];
      this.#waiting.set(job.checkpoint.name, jobs);
      jobs.push({ ...job, stateTokens: job.stateIds.length + 1, resolve, reject });
      this.#scheduleDispatch();
    });
  }

  #listenTo(signal: AbortSignal | undefined): void {
    if (signal === undefined || this.#signals.has(signal)) return;
    this.#signals.add(signal);
    signal.addEventListener("abort", () => this.#dropAborted(), { once: true });
  }

  #dropAborted(): void {
    for (const [name, jobs] of this.#waiting) {
      for (const job of jobs) if (job.signal?.aborted === true) job.reject(abortedError());
      this.#waiting.set(
        name,
        jobs.filter((job) => job.signal?.aborted !== true),
      );
    }
  }

  /** Waits for the turn of the event loop to end, so that states submitted together are batched together. */
  #scheduleDispatch(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#running < this.#inference.slots && this.#dispatch());
    });
  }

  /** Starts one batch of the checkpoint whose oldest job came first; false where nothing waits. */
  #dispatch(): boolean {
    for (const [name, jobs] of this.#waiting) {
      if (jobs.length === 0) {
        this.#waiting.delete(name);
        continue;
      }
      const chosen = new Set(planBatch(jobs, { maxBatchTokens: this.#maxBatchTokens }).map((i) => jobs[i] as Waiting));
      // to the end of the map, so that checkpoints take turns
      this.#waiting.delete(name);
      this.#waiting.set(
        name,
        jobs.filter((job) => !chosen.has(job)),
      );
      void this.#run([...chosen]);
      return true;
    }
    return false;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    this.#running++;
    const prefixes = [...new Set(batch.map((job) => job.prefix))];
    const sets = prefixes.map((prefix) => batch.filter((job) => job.prefix === prefix));
    const ordered = sets.flat();
    const groups = sets.map((jobs, i) => ({
      prefix: prefixes[i] as CompiledPrefix,
      states: jobs.map((job) => job.stateIds),
    }));
    try {
      const logits = await this.#inference.decide((ordered[0] as Waiting).checkpoint, groups);
      for (const [row, job] of ordered.entries()) job.resolve(logits[row] as Float32Array);
    } catch (error) {
      for (const job of ordered) job.reject(error);
    } finally {
      this.#running--;
      this.#scheduleDispatch();
    }
  }
}

function abortedError(): QaError {
  return new QaError("aborted", "the request was aborted");
}
