/** Room and cost: what a question leaves for the state, what a call costs, and how many calls a cap makes of it (CONTRACT 5). */

export interface Limits {
  /** Tokens of one sequence. */
  readonly window: number;
  /** Processed tokens of one call. */
  readonly cap: number;
  /** Questions of one call. */
  readonly maxQuestions: number;
}

/** window - 1 - prefix: the tokens that a question leaves for the state. */
export function roomOf(prefixTokens: number, window: number): number {
  return window - 1 - prefixTokens;
}

/** Number of questions x longest sequence of the call, in tokens. */
export function costOf(prefixTokens: readonly number[], stateTokens: number): number {
  return prefixTokens.length * (Math.max(...prefixTokens) + stateTokens + 1);
}

/** Tokens of all sequences of a call without padding: the wire's `usage.input_tokens`. */
export function inputTokensOf(prefixTokens: readonly number[], stateTokens: number): number {
  return prefixTokens.reduce((sum, prefix) => sum + prefix + stateTokens + 1, 0);
}

export type PrefixFit = "fits" | "question_too_long" | "too_many_options";

/** Whether a question leaves any room, and if not whether its last option marker falls off the window as well. */
export function fitOfPrefix(
  {
    head,
    options,
    prefixTokens,
  }: { head: readonly unknown[]; options: readonly (readonly unknown[])[]; prefixTokens: number },
  window: number,
): PrefixFit {
  if (roomOf(prefixTokens, window) > 0) return "fits";
  const lastMarker = head.length + options.slice(0, -1).reduce((sum, option) => sum + option.length, 0);
  return lastMarker >= window ? "too_many_options" : "question_too_long";
}

/**
 * Splits a call that is over the cap, or has too many questions, into consecutive calls that are each within both.
 * A single question is never split, so a window of at most the cap always fits.
 * @returns half-open ranges `[from, to)` of question indexes, in order
 */
export function splitCalls(
  prefixTokens: readonly number[],
  stateTokens: number,
  { cap, maxQuestions }: Pick<Limits, "cap" | "maxQuestions">,
): [number, number][] {
  const ranges: [number, number][] = [];
  let from = 0;
  for (let to = 1; to <= prefixTokens.length; to++) {
    const next = prefixTokens.slice(from, to + 1);
    const full = to - from >= maxQuestions || costOf(next, stateTokens) > cap;
    if (to === prefixTokens.length || full) {
      ranges.push([from, to]);
      from = to;
    }
  }
  return ranges;
}
