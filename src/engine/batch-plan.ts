/** Pure batching: which of the waiting states go into the next batch. */

export interface Waiting {
  /** Tokens of the state with its closing separator. */
  readonly stateTokens: number;
  /** Tokens of the heads and options that will read it. */
  readonly prefixTokens: number;
}

export interface BatchLimits {
  /** Rows x (longest state + longest prefix), in tokens. */
  readonly maxBatchTokens: number;
}

/** The longest state of a batch has at most this many times the tokens of its shortest, and this many more. */
const MAX_LENGTH_RATIO = 1.2;
const LENGTH_SLACK = 8;

/**
 * Picks the next batch: the state that has waited longest, and around it those nearest in length, within the token budget.
 * The oldest always goes, so nothing starves; short and long states never share a batch.
 * @param waiting in order of arrival, at least one
 * @returns indexes into `waiting`, ascending by length
 */
export function planBatch(waiting: readonly Waiting[], { maxBatchTokens }: BatchLimits): number[] {
  const order = waiting.map((_, i) => i).sort((a, b) => stateTokensAt(waiting, a) - stateTokensAt(waiting, b));
  let from = order.indexOf(0);
  let to = from + 1;
  let prefixTokens = waiting[0]?.prefixTokens ?? 0;
  const grow = (next: number | undefined, side: "shorter" | "longer"): boolean => {
    if (next === undefined) return false;
    const prefix = Math.max(prefixTokens, waiting[next]?.prefixTokens ?? 0);
    const shortest = stateTokensAt(waiting, side === "shorter" ? next : (order[from] as number));
    const longest = stateTokensAt(waiting, side === "longer" ? next : (order[to - 1] as number));
    if (longest > shortest * MAX_LENGTH_RATIO + LENGTH_SLACK) return false;
    if ((to - from + 1) * (longest + prefix) > maxBatchTokens) return false;
    prefixTokens = prefix;
    return true;
  };
  for (;;) {
    if (grow(order[from - 1], "shorter")) from--;
    else if (grow(order[to], "longer")) to++;
    else return order.slice(from, to);
  }
}

function stateTokensAt(waiting: readonly Waiting[], i: number): number {
  return waiting[i]?.stateTokens ?? 0;
}
