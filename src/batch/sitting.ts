/**
 * One sitting of a run: what earlier ones left is opened and gone on with, in the end all is closed. Owns the tally over all
 * sittings and the time they took.
 */

import type { Answerer } from "./answerer.js";
import { Journal } from "./journal/journal.js";
import type { Sidecar } from "./journal/sidecar.js";
import { openSink } from "./open-sink.js";
import { createTally, type Tally } from "./progress/tally.js";
import { type LockedRun, openRetry } from "./retry/open-retry.js";
import { retryFailed } from "./retry/retry-failed.js";
import { type RunEnd, type RunOptions, run } from "./run.js";
import type { RunSink } from "./write/run-sink.js";

/** What a run is asked to do, apart from where its rows go and who is told of them. */
export type AskedRun = Omit<RunOptions, "sink" | "tally" | "onRow" | "signal">;

export interface SittingOptions {
  /** Begin anew, whatever is there. */
  readonly restart: boolean;
  /** Answer the failed rows of a finished run again, and nothing else. */
  readonly retryFailed: boolean;
}

export class Sitting {
  readonly tally: Tally;
  readonly #asked: AskedRun;
  /** Where rows go; or the run whose failed rows are answered again. */
  readonly #target: RunSink | LockedRun;
  readonly #before: Sidecar | undefined;
  readonly #startedMs = performance.now();
  #rows = 0;

  private constructor(asked: AskedRun, target: RunSink | LockedRun) {
    this.#asked = asked;
    this.#target = target;
    this.#before = isLocked(target) || target instanceof Journal ? target.before : undefined;
    this.tally = createTally(this.#before?.tally, { band: asked.output.band });
  }

  /**
   * Opens the files of a run; nothing is written yet.
   * @throws QaError those of `openRetry` and of `openSink`
   */
  static async open(asked: AskedRun, { restart, retryFailed }: SittingOptions): Promise<Sitting> {
    const { files, inputs, part } = asked;
    return new Sitting(asked, retryFailed ? await openRetry(files) : await openSink({ files, inputs, part, restart }));
  }

  /** Sittings so far, and how long they took in all, this one among them; then rows and time of this one. */
  get timing(): SittingTiming {
    const thisMs = performance.now() - this.#startedMs;
    const { sittings = 0, elapsedMs = 0 } = this.#before ?? {};
    return { sittings: sittings + 1, elapsedMs: elapsedMs + thisMs, thisRows: this.#rows, thisMs };
  }

  /** Runs to the end, or until it is stopped; closes all. @throws QaError those of `run` and of `retryFailed` */
  async run(answerer: Answerer, { onRow, onBytes, signal }: SittingWatch): Promise<RunEnd> {
    const target = this.#target;
    const countRow = () => {
      this.#rows++;
      onRow();
    };
    const read = { ...this.#asked.read, onBytes };
    const options = { ...this.#asked, read, tally: this.tally, onRow: countRow, signal };
    if (!isLocked(target)) return run(answerer, { ...options, sink: target });
    try {
      return await retryFailed(answerer, { ...options, before: target.before });
    } finally {
      target.lock.release();
    }
  }
}

export interface SittingTiming {
  readonly sittings: number;
  readonly elapsedMs: number;
  readonly thisRows: number;
  readonly thisMs: number;
}

export interface SittingWatch {
  /** Told after every row. */
  readonly onRow: () => void;
  /** Told the bytes taken from the inputs. */
  readonly onBytes: (bytes: number) => void;
  /** Ends the sitting behind the batches in hand. */
  readonly signal: AbortSignal;
}

function isLocked(target: RunSink | LockedRun): target is LockedRun {
  return "lock" in target;
}
