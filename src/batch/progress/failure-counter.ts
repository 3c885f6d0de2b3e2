/** Failures by code, each with the first rows that failed so. */

import type { ErrorCode } from "../../errors.js";

export interface FailureCounts {
  readonly count: number;
  /** Numbers (from 1) of the first rows that failed so. */
  readonly firstRows: readonly number[];
}

type FailureSnapshot = readonly (readonly [ErrorCode, number, readonly number[]])[];

const FIRST_ROWS = 5;

/** A counter that goes on from a snapshot. */
export function createFailureCounter(from: FailureSnapshot = []) {
  const counts = new Map(from.map(([code, count, rows]) => [code, { count, firstRows: [...rows] }]));
  return {
    counts: counts as ReadonlyMap<ErrorCode, FailureCounts>,
    /** `rowNumber`: from 1. */
    add(code: ErrorCode, rowNumber: number): void {
      const failure = counts.get(code) ?? { count: 0, firstRows: [] };
      counts.set(code, failure);
      failure.count++;
      if (failure.firstRows.length < FIRST_ROWS) failure.firstRows.push(rowNumber);
    },
    clear: () => counts.clear(),
    snapshot: (): FailureSnapshot => [...counts].map(([code, { count, firstRows }]) => [code, count, [...firstRows]]),
  };
}
