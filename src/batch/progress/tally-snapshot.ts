/** A tally as plain JSON, for the sidecar of a run that may be resumed: its form, and whether a value has it. */

import { ERROR_KINDS, type ErrorCode } from "../../errors.js";
import type { DistributionSnapshot } from "./distribution.js";
import { BINS } from "./histogram.js";

/** Raised where the form changes: a run of another version is not gone on with by halves. */
export const SNAPSHOT_VERSION = 1;

/** Rows in the engine's hands are left out: a resumed run reads them again. */
export interface TallySnapshot {
  readonly version: typeof SNAPSHOT_VERSION;
  readonly rows: number;
  readonly answered: number;
  readonly failed: number;
  readonly malformed: number;
  readonly chunked: number;
  readonly duplicates: number;
  readonly cached: number;
  readonly uncertain: number;
  readonly inputTokens: number;
  readonly otherAnswers: number;
  readonly failures: readonly (readonly [ErrorCode, number, readonly number[]])[];
  readonly routes: readonly (readonly [model: string, reason: string, count: number])[];
  readonly distributions: readonly DistributionSnapshot[];
  /** Input field -> answered rows that had it, then failed ones. */
  readonly replaced: readonly (readonly [field: string, answered: number, failed: number])[];
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isCode: Check = (value) => typeof value === "string" && Object.hasOwn(ERROR_KINDS, value);

const listOf = (each: Check): Check => {
  return (value) => Array.isArray(value) && value.every((item) => each(item));
};
const tupleOf = (...each: readonly Check[]): Check => {
  return (value) => Array.isArray(value) && value.length === each.length && each.every((check, i) => check(value[i]));
};
const objectOf = (checks: Readonly<Record<string, Check>>): Check => {
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(checks).every(([key, check]) => check((value as Record<string, unknown>)[key]));
};

const ofAll = {
  id: isText,
  count: isCount,
  uncertain: isCount,
  histogram: (value: unknown) => listOf(isCount)(value) && (value as readonly number[]).length === BINS,
};
const OF_TYPE: Readonly<Record<DistributionSnapshot["type"], Check>> = {
  noul: objectOf({ ...ofAll, yes: isCount, sum: isNumber }),
  choice: objectOf({ ...ofAll, labels: listOf(tupleOf(isText, isCount)), other: isCount, confidenceSum: isNumber }),
  score: objectOf({ ...ofAll, sum: isNumber, levels: listOf(isCount), confidenceSum: isNumber }),
};
const isDistribution: Check = (value) =>
  objectOf({ type: (type) => Object.hasOwn(OF_TYPE, type as PropertyKey) })(value) &&
  OF_TYPE[(value as DistributionSnapshot).type](value);

const isSnapshot = objectOf({
  version: (value) => value === SNAPSHOT_VERSION,
  rows: isCount,
  answered: isCount,
  failed: isCount,
  malformed: isCount,
  chunked: isCount,
  duplicates: isCount,
  cached: isCount,
  uncertain: isCount,
  inputTokens: isCount,
  otherAnswers: isCount,
  failures: listOf(tupleOf(isCode, isCount, listOf(isCount))),
  routes: listOf(tupleOf(isText, isText, isCount)),
  distributions: listOf(isDistribution),
  replaced: listOf(tupleOf(isText, isCount, isCount)),
});

/** Whether a value read from a file is a snapshot of this version. */
export function isTallySnapshot(value: unknown): value is TallySnapshot {
  return isSnapshot(value);
}
