/** The bounded queue before the engine: so many calls in hand, and a typed 529 with an honest wait for the rest. */

import { QaError } from "../errors.js";
import { retryAfter } from "./retry-after.js";

/** Calls whose pace the wait is estimated from. */
const PACE_CALLS = 32;

export class Admission {
  readonly limit: number;
  readonly #now: () => number;
  #inHand = 0;
  #endedAtMs: number[] = [];

  constructor(limit: number, now: () => number) {
    this.limit = limit;
    this.#now = now;
  }

  get inHand(): number {
    return this.#inHand;
  }

  /**
   * Counts a call in; the function returned counts it out, once.
   * @throws QaError `worker_busy`
   */
  enter(): () => void {
    if (this.#inHand >= this.limit)
      throw new QaError("worker_busy", `${this.limit} calls are in hand, which is all this service queues; try again`, {
        details: retryAfter(this.#drainMs()),
      });
    this.#inHand++;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#inHand--;
      this.#endedAtMs.push(this.#now());
      if (this.#endedAtMs.length > PACE_CALLS) this.#endedAtMs.shift();
    };
  }

  /** Until half of what is in hand has ended at the latest pace; by then there is room. */
  #drainMs(): number {
    const [first] = this.#endedAtMs;
    if (first === undefined) return 0;
    const msPerCall = (this.#now() - first) / this.#endedAtMs.length;
    return (this.#inHand / 2) * msPerCall;
  }
}
