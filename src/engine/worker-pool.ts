/**
 * Inference in worker threads, one a core with one intra-op thread each: `run()` blocks its thread. Workers start when there
 * is work for them; one that crashes is replaced and what it had in hand is tried once more.
 */

import { Worker } from "node:worker_threads";
import { QaError } from "../errors.js";
import type { BatchGroup, CompiledPrefix, FamilyCheckpoint, FamilyQuestion } from "./family.js";
import type { FromWorker, Inference, Task, ToWorker } from "./inference.js";

/** One task in hand and one waiting, so that a worker never waits for the main thread. */
const TASKS_PER_WORKER = 2;
const MAX_CRASHES = 2;
const CLOSE_TIMEOUT_MS = 10_000;

interface Pending {
  readonly task: Task;
  crashes: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: QaError) => void;
}

interface Seat {
  readonly worker: Worker;
  /** Task id -> task; the first is running, the others wait behind it. */
  readonly inHand: Map<number, Pending>;
  readonly ended: Promise<void>;
}

/** Starts the thread of a worker; handed in by tests. */
export type StartWorker = () => Worker;

export class WorkerPool implements Inference {
  readonly slots: number;
  readonly #size: number;
  readonly #start: StartWorker;
  readonly #seats = new Set<Seat>();
  readonly #queue: Pending[] = [];
  #nextId = 0;
  #crashes = 0;
  #closed = false;

  private constructor(size: number, start: StartWorker) {
    this.#size = size;
    this.#start = start;
    this.slots = size * TASKS_PER_WORKER;
  }

  /** A pool of at most `size` workers. */
  static open(
    size: number,
    start: StartWorker = () => new Worker(new URL("./worker.js", import.meta.url)),
  ): WorkerPool {
    return new WorkerPool(size, start);
  }

  get crashes(): number {
    return this.#crashes;
  }

  compile(checkpoint: FamilyCheckpoint, questions: readonly FamilyQuestion[]): Promise<CompiledPrefix> {
    return this.#perform({ type: "compile", checkpoint, questions }) as Promise<CompiledPrefix>;
  }

  decide(checkpoint: FamilyCheckpoint, groups: readonly BatchGroup[]): Promise<Float32Array[]> {
    return this.#perform({ type: "decide", checkpoint, groups }) as Promise<Float32Array[]>;
  }

  /** Lets workers finish what they have in hand, then ends them; what still waits is rejected as aborted. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pending of this.#queue.splice(0)) pending.reject(abortedError());
    await Promise.all([...this.#seats].map(closeSeat));
  }

  #perform(task: Task): Promise<unknown> {
    if (this.#closed) return Promise.reject(abortedError());
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, crashes: 0, resolve, reject });
      this.#assign();
    });
  }

  #assign(): void {
    while (this.#queue.length > 0) {
      const seat = this.#freeSeat();
      if (seat === undefined) return;
      const pending = this.#queue.shift() as Pending;
      const id = this.#nextId++;
      seat.inHand.set(id, pending);
      seat.worker.postMessage({ type: "task", id, task: pending.task } satisfies ToWorker);
    }
  }

  /** The idlest worker; a new one where all are busy and there may be more. */
  #freeSeat(): Seat | undefined {
    const [idlest] = [...this.#seats].sort((a, b) => a.inHand.size - b.inHand.size);
    if (idlest?.inHand.size === 0) return idlest;
    if (this.#seats.size < this.#size) return this.#addSeat();
    return idlest !== undefined && idlest.inHand.size < TASKS_PER_WORKER ? idlest : undefined;
  }

  #addSeat(): Seat {
    const worker = this.#start();
    const inHand = new Map<number, Pending>();
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const seat = { worker, inHand, ended };
    this.#seats.add(seat);
    worker.on("message", (message: FromWorker) => this.#settle(seat, message));
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error; // its exit follows and is dealt with there
    });
    worker.once("exit", () => this.#replace(seat, cause));
    return seat;
  }

  #settle(seat: Seat, message: FromWorker): void {
    const pending = seat.inHand.get(message.id);
    seat.inHand.delete(message.id);
    if (message.type === "done") pending?.resolve(message.result);
    else pending?.reject(new QaError(message.error.code, message.error.message, { details: message.error.details }));
    this.#assign();
  }

  #replace(seat: Seat, cause: unknown): void {
    this.#seats.delete(seat);
    if (!this.#closed) this.#crashes++;
    const lost = [...seat.inHand.values()];
    const [running] = lost;
    if (running !== undefined) running.crashes++;
    const error = this.#closed ? abortedError(cause) : crashedError(cause);
    const again = lost.filter(({ crashes }) => crashes < MAX_CRASHES && !this.#closed);
    for (const pending of lost) if (!again.includes(pending)) pending.reject(error);
    this.#queue.unshift(...again);
    this.#assign();
  }
}

function crashedError(cause: unknown): QaError {
  return new QaError("worker_crashed", "an inference worker crashed twice on the same batch; try again", { cause });
}

function abortedError(cause?: unknown): QaError {
  return new QaError("aborted", "the engine was closed", { cause });
}

async function closeSeat({ worker, ended }: Seat): Promise<void> {
  worker.postMessage({ type: "close" } satisfies ToWorker);
  const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
