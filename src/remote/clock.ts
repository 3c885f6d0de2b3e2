/** Time and chance, as the room sees them: tests bring their own. */

import { setTimeout as wait } from "node:timers/promises";

export interface Clock {
  /** Monotonic. */
  nowMs(): number;
  /** Milliseconds since 1970, for `Retry-After` dates. */
  dateMs(): number;
  /** Rejects at the signal. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
  random: () => Math.random(),
};
