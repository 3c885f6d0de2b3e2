/** The version of what this room decides. */

/**
 * Raised whenever the same request may get another answer from the same weights (routing, sequence, calibration, chunks,
 * rounding), so that answers kept by an older version are not taken for today's.
 */
export const DECISION_VERSION = 1;
