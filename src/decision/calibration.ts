/** Temperatures of a checkpoint and the probabilities they make of logits (CONTRACT 6). */

import type { QuestionType } from "./question.js";

export interface Calibration {
  /** Keyed by `<type>:<2|3-5|6-10|11+>`. */
  readonly temperatureByOptions?: Readonly<Record<string, number>>;
  /** Keyed by type. */
  readonly temperature?: Readonly<Record<string, number>>;
}

const MIN_TEMPERATURE = 0.5;
const MAX_TEMPERATURE = 5;

function bucketOf(options: number): string {
  if (options <= 2) return "2";
  if (options <= 5) return "3-5";
  return options <= 10 ? "6-10" : "11+";
}

/** The temperature for a question of this type and number of options: by bucket, else by type, else 1; within 0.5 and 5. */
export function temperatureOf(calibration: Calibration, type: QuestionType, options: number): number {
  const found =
    calibration.temperatureByOptions?.[`${type}:${bucketOf(options)}`] ?? calibration.temperature?.[type] ?? 1;
  return Math.min(MAX_TEMPERATURE, Math.max(MIN_TEMPERATURE, found));
}

/** softmax(logits / temperature), in double precision. */
export function softmax(logits: ArrayLike<number>, temperature: number): number[] {
  const values = Array.from(logits);
  const top = Math.max(...values);
  const powers = values.map((logit) => Math.exp((logit - top) / temperature));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
