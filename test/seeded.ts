/** A generator of whole numbers that gives the same ones for the same seed (mulberry32), for tests over many cases. */

/** @returns a function that draws a whole number in [from, to], both included */
export function createSeeded(seed: number): (from: number, to: number) => number {
  let state = seed;
  return (from, to) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return from + (((mixed ^ (mixed >>> 14)) >>> 0) % (to - from + 1));
  };
}
