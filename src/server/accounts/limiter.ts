/**
 * Requests per minute and requests in flight of each account (429). The minute's requests are a bucket that refills evenly,
 * so that the wait a refused client is told is the wait until the next one is allowed.
 */

import { QaError } from "../../errors.js";
import { retryAfter } from "../retry-after.js";
import type { Account } from "./key-store.js";

interface Bucket {
  /** Requests that may start now; a fraction is on its way. */
  allowed: number;
  atMs: number;
  inFlight: number;
}

const MINUTE_MS = 60_000;
const IN_FLIGHT_RETRY_MS = 1_000;
/** Far below one request: sums of fractions may miss 1 by this. */
const ROUNDING = 1e-6;

export class Limiter {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts a request in; the function returned counts it out, once.
   * @throws QaError `in_flight_limited`, `rate_limited`, which use nothing up
   */
  enter({ name, requestsPerMinute, requestsInFlight }: Account): () => void {
    const bucket = this.#refill(name, requestsPerMinute);
    if (requestsInFlight !== undefined && bucket.inFlight >= requestsInFlight)
      throw new QaError(
        "in_flight_limited",
        `${bucket.inFlight} requests of this account are in flight and ${requestsInFlight} are allowed; wait for one to end`,
        { details: retryAfter(IN_FLIGHT_RETRY_MS) },
      );
    if (requestsPerMinute !== undefined && bucket.allowed < 1 - ROUNDING)
      throw new QaError("rate_limited", `this account may start ${requestsPerMinute} requests a minute; slow down`, {
        details: retryAfter(((1 - bucket.allowed) * MINUTE_MS) / requestsPerMinute),
      });
    if (requestsPerMinute !== undefined) bucket.allowed--;
    bucket.inFlight++;
    let isIn = true;
    return () => {
      if (isIn) bucket.inFlight--;
      isIn = false;
    };
  }

  #refill(name: string, requestsPerMinute: number | undefined): Bucket {
    const nowMs = this.#now();
    const bucket = this.#buckets.get(name) ?? { allowed: requestsPerMinute ?? 0, atMs: nowMs, inFlight: 0 };
    this.#buckets.set(name, bucket);
    if (requestsPerMinute === undefined) return bucket;
    const elapsedMs = Math.max(0, nowMs - bucket.atMs); // a clock that is set back refills nothing
    bucket.allowed = Math.min(requestsPerMinute, bucket.allowed + (elapsedMs * requestsPerMinute) / MINUTE_MS);
    bucket.atMs = nowMs;
    return bucket;
  }
}
