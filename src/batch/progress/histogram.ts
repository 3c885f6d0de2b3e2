/** Histograms of numbers from 0 to 1 in twenty bins of equal width. Pure but for the array it is given. */

export const BINS = 20;

/** Answers have four decimals; a bin's border is exact in them, where `0.55 * 20` would not be. */
const PARTS = 10_000;

/** All bins at 0. */
export function emptyHistogram(): number[] {
  return new Array<number>(BINS).fill(0);
}

/** Counts a value; a bin has its lower border, the last one also 1. */
export function addToHistogram(histogram: number[], value: number): void {
  const bin = Math.min(BINS - 1, Math.max(0, Math.floor(Math.round(value * PARTS) / (PARTS / BINS))));
  histogram[bin] = (histogram[bin] ?? 0) + 1;
}
