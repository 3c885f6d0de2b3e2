/** From the answers of a few seconds to the time of a whole run, as a range. Pure. */

/** A row answered at a time. */
export interface Mark {
  readonly atMs: number;
  readonly inputTokens: number;
}

export interface Rate {
  readonly tokensPerMs: number;
  /** The part by which a longer measurement may be faster or slower: 0.5 is from two thirds of the time to one and a half. */
  readonly spread: number;
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const PARTS = 4;
/** Other programs take their share of the machine over hours as they did in seconds, or not. */
const LEAST_SPREAD = 0.15;
/** Where few batches differ much, or are too few to see them differ. */
const MOST_SPREAD = 0.5;

/**
 * How fast rows were answered. Answers come by the batch: the first batch, whose time began before it is seen, counts as
 * the start. With one batch alone, `startMs`, when it was handed over, is.
 */
export function rateOf(marks: readonly Mark[], startMs: number): Rate | undefined {
  const batches = batchesOf(marks);
  const [first, ...rest] = batches;
  const last = batches.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (rest.length < PARTS) {
    const tokens = batches.reduce((sum, batch) => sum + batch.inputTokens, 0);
    return { tokensPerMs: tokens / Math.max(1, last.atMs - startMs), spread: MOST_SPREAD };
  }
  const total = rest.reduce((sum, batch) => sum + batch.inputTokens, 0);
  const tokensPerMs = total / Math.max(1, last.atMs - first.atMs);
  const seen = standardError(rest, first.atMs) / tokensPerMs;
  return { tokensPerMs, spread: Math.min(MOST_SPREAD, Math.max(LEAST_SPREAD, seen)) };
}

/** Rows that were answered at the same time, to the millisecond or so, are a batch. */
function batchesOf(marks: readonly Mark[]): Mark[] {
  const batches: Mark[] = [];
  for (const mark of marks.toSorted((a, b) => a.atMs - b.atMs)) {
    const last = batches.at(-1);
    if (last === undefined || mark.atMs - last.atMs > 2) batches.push(mark);
    else batches[batches.length - 1] = { atMs: mark.atMs, inputTokens: last.inputTokens + mark.inputTokens };
  }
  return batches;
}

/** Twice the standard error of the rate, from its values in parts of as many batches each. */
function standardError(batches: readonly Mark[], startMs: number): number {
  const size = Math.floor(batches.length / PARTS);
  let from = startMs;
  const rates = Array.from({ length: PARTS }, (_, part) => {
    const own = batches.slice(part * size, part === PARTS - 1 ? undefined : (part + 1) * size);
    const until = own.at(-1)?.atMs ?? from;
    const rate = own.reduce((sum, batch) => sum + batch.inputTokens, 0) / Math.max(1, until - from);
    from = until;
    return rate;
  });
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / PARTS;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (PARTS - 1);
  return 2 * Math.sqrt(variance / PARTS);
}

/** The time of parts that come one after the other, and of what has to be done once before. */
export function expectTime(
  parts: readonly { readonly inputTokens: number; readonly rate: Rate }[],
  onceMs: number,
): TimeRange {
  const sumOf = (share: (spread: number) => number) =>
    parts.reduce((sum, { inputTokens, rate }) => sum + (inputTokens / rate.tokensPerMs) * share(rate.spread), onceMs);
  return { fromMs: sumOf((spread) => 1 / (1 + spread)), toMs: sumOf((spread) => 1 + spread) };
}
