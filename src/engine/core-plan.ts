/** Pure sizing of `decide`: which questions are padded together, and how rows and questions are cut into bounded calls. */

/**
 * Padding tokens worth an extra call over the questions. A call of its own reads the state's keys and values again (2 of a
 * layer's 12 d x d products for each state token), so at some 200 state tokens it pays from about this many padded ones.
 */
const MAX_GROUP_PADDING = 48;

/** Rows x questions x prefix x (prefix + state) of one `decide` call; attention takes some 150 bytes each. */
const MAX_ATTENTION_CELLS = 1_000_000;

/** Groups question indexes by prefix length, longest first, so that little is padded. */
export function planPrefixGroups(prefixLengths: readonly number[]): number[][] {
  const order = prefixLengths.map((_, i) => i).sort((a, b) => lengthAt(prefixLengths, b) - lengthAt(prefixLengths, a));
  const groups: number[][] = [];
  let longest = 0;
  let padding = Number.POSITIVE_INFINITY;
  for (const question of order) {
    const length = lengthAt(prefixLengths, question);
    padding += longest - length;
    if (padding > MAX_GROUP_PADDING) {
      groups.push([]);
      longest = length;
      padding = 0;
    }
    groups.at(-1)?.push(question);
  }
  return groups;
}

function lengthAt(lengths: readonly number[], i: number): number {
  return lengths[i] ?? 0;
}

export interface DecideSize {
  readonly rows: number;
  readonly questions: number;
  /** Longest prefix, in tokens. */
  readonly prefixLength: number;
  /** Longest state, in tokens. */
  readonly stateLength: number;
}

export interface DecideCall {
  readonly rows: readonly [number, number];
  readonly questions: readonly [number, number];
}

/** Cuts a group into calls within the memory bound: all questions of as many rows as fit, else fewer questions of one row. */
export function planDecideCalls({ rows, questions, prefixLength, stateLength }: DecideSize): DecideCall[] {
  const cells = prefixLength * (prefixLength + stateLength);
  const questionsPerCall = Math.max(1, Math.min(questions, Math.floor(MAX_ATTENTION_CELLS / cells)));
  const rowsPerCall = Math.max(1, Math.floor(MAX_ATTENTION_CELLS / (cells * questionsPerCall)));
  return rangesOf(rows, rowsPerCall).flatMap((rowRange) =>
    rangesOf(questions, questionsPerCall).map((questionRange) => ({ rows: rowRange, questions: questionRange })),
  );
}

function rangesOf(total: number, size: number): [number, number][] {
  return Array.from({ length: Math.ceil(total / size) }, (_, i) => [i * size, Math.min(total, (i + 1) * size)]);
}
