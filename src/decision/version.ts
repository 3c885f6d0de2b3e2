/**
 * Version of how requests become answers: sequences, chunks, calibration, the answers' form. Counted up with every change
 * after which the same request may be answered otherwise; a run begun under another version is not gone on with.
 */
export const DECISION_VERSION = 1;
