/** A part of a run's rows, for a run that is spread over many processes: every n-th row, or rows from one to another. Pure. */

/** Rows `index`, `index + count`, `index + 2 * count`, ... of the input. */
export interface Shard {
  readonly type: "shard";
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** Rows `from` (from 0) up to but not including `to`. */
export interface Range {
  readonly type: "range";
  readonly from: number;
  readonly to: number;
}

export type Part = Shard | Range;

/** Whether a part holds the row with this number, counted from 0. */
export function isInPart(part: Part, row: number): boolean {
  return part.type === "shard" ? row % part.count === part.index : row >= part.from && row < part.to;
}

/** How many of an input's rows a part holds. */
export function rowsInPart(part: Part, inputRows: number): number {
  if (part.type === "shard") return Math.max(0, Math.ceil((inputRows - part.index) / part.count));
  return Math.max(0, Math.min(part.to, inputRows) - part.from);
}

/** A part as people write it: `shard 2/4`, `rows 1 to 100`. */
export function nameOfPart(part: Part): string {
  return part.type === "shard" ? `shard ${part.index + 1}/${part.count}` : `rows ${part.from + 1} to ${part.to}`;
}
