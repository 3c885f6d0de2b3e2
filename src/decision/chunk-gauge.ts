/**
 * Asks whether candidates fit, as seldom as it can: asking tokenises. It learns from every reply about how many
 * characters fit, so that the next search starts where the last one ended.
 */

import type { State } from "./request.js";

/** A candidate this many times longer than what is known to fit is taken not to fit, without asking. */
const PRESUMED_TOO_LONG = 3;
const SMALLEST_GUESS = 32;

export interface Gauge {
  /** Whether a candidate of this many characters fits. */
  fits(length: number, candidate: () => State): boolean;
  /**
   * How many of ever longer candidates fit: the place of the last that was seen to fit, plus 1; 0 where none does.
   * Gallops from the guess and then bisects, so it asks about 2 * log2 of how far the guess was off.
   * @param lengths characters of each candidate, ascending
   */
  farthest(lengths: readonly number[], fitsAt: (i: number) => boolean): number;
  /** Characters over which a candidate is taken not to fit. */
  limit(): number;
}

/** A gauge whose first guess comes from ever longer beginnings of a sample text. */
export function createGauge(ask: (candidate: State) => boolean, sample: string): Gauge {
  let guess = 256;
  const limit = () => PRESUMED_TOO_LONG * Math.max(guess, SMALLEST_GUESS);
  const fits = (length: number, candidate: () => State) => {
    if (length > limit()) return false;
    const reply = ask(candidate());
    guess = reply ? Math.max(guess, length) : Math.min(guess, length);
    return reply;
  };
  const farthest = (lengths: readonly number[], fitsAt: (i: number) => boolean) => {
    const beyond = lengths.findIndex((length) => length > guess);
    return gallop(
      {
        first: beyond === -1 ? lengths.length - 1 : beyond - 1,
        count: lengths.length,
      },
      fitsAt,
    );
  };
  for (let length = guess; length < sample.length && fits(length, () => sample.slice(0, length)); ) length *= 2;
  return { fits, farthest, limit };
}

/** The number of the first `count` places that fit, searched outwards from `first`; the last counted one was asked. */
function gallop({ first, count }: { first: number; count: number }, fitsAt: (i: number) => boolean): number {
  let low = -1;
  let high = count;
  let probe = Math.max(0, first);
  let step = Math.max(1, first >> 4);
  while (high - low > 1) {
    if (fitsAt(probe)) low = probe;
    else high = probe;
    if (low === -1) probe = Math.max(0, high - step);
    else if (high === count) probe = Math.min(count - 1, low + step);
    else probe = (low + high) >> 1;
    step *= 2;
  }
  return low + 1;
}
