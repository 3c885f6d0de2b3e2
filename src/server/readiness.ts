/** Whether the service can answer: starting, ready, recovering from a crashed worker, or draining. */

import { setTimeout as sleep } from "node:timers/promises";
import { QaError } from "../errors.js";
import { retryAfter } from "./retry-after.js";

export type Phase = "starting" | "ready" | "recovering" | "draining";

const STARTING_RETRY_MS = 2_000;
const DRAINING_RETRY_MS = 5_000;
const FIRST_RECOVERY_PAUSE_MS = 1_000;
const MAX_RECOVERY_PAUSE_MS = 30_000;

export class Readiness {
  /** Resolves when the checkpoints are loaded; rejects where they cannot be. */
  readonly started: Promise<void>;
  readonly #warm: () => Promise<void>;
  #phase: Phase = "starting";

  constructor(warm: () => Promise<void>) {
    this.#warm = warm;
    this.started = warm().then(() => this.#enter("ready"));
    this.started.catch(() => {}); // whoever awaits it sees the error; until then it is not unhandled
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** @throws QaError `worker_starting`, and `worker_busy` while draining */
  assertAccepting(): void {
    if (this.#phase === "starting")
      throw new QaError("worker_starting", "the checkpoints are still being loaded; try again shortly", {
        details: retryAfter(STARTING_RETRY_MS),
      });
    if (this.#phase === "draining")
      throw new QaError("worker_busy", "the service is shutting down; try again shortly", {
        details: retryAfter(DRAINING_RETRY_MS),
      });
  }

  /** After a worker crashed for good on a call: not ready until all workers have opened their checkpoints again. */
  async recover(): Promise<void> {
    if (this.#phase !== "ready") return;
    this.#phase = "recovering";
    for (let pauseMs = FIRST_RECOVERY_PAUSE_MS; this.#phase === "recovering"; pauseMs *= 2) {
      const isWarm = await this.#warm().then(
        () => true,
        () => false, // tried again; what failed was logged with the call that it failed
      );
      if (isWarm) return this.#enter("ready");
      await sleep(Math.min(pauseMs, MAX_RECOVERY_PAUSE_MS), undefined, { ref: false });
    }
  }

  drain(): void {
    this.#phase = "draining";
  }

  #enter(phase: Phase): void {
    if (this.#phase !== "draining") this.#phase = phase;
  }
}
