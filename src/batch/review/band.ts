/** The band of unsure answers: which answers a person should look at. Pure. */

import type { Answer, Answers } from "../../decision/answer.js";
import { QaError } from "../../errors.js";

/** Both ends belong to it; 0 <= low <= high <= 1. */
export interface Band {
  readonly low: number;
  readonly high: number;
}

const NUMBER = String.raw`(\d*\.\d+|\d+)`;
const BAND = new RegExp(`^${NUMBER}\\.\\.${NUMBER}$`);

/**
 * A band as `--uncertain` has it: `0.4..0.6`, also `.4..0.6`.
 * @throws QaError `invalid_usage`
 */
export function parseBand(text: string): Band {
  const [, from, to] = BAND.exec(text.trim()) ?? [];
  if (from === undefined || to === undefined)
    throw new QaError(
      "invalid_usage",
      "--uncertain takes two numbers from 0 to 1 with two dots between, as in 0.4..0.6",
    );
  const [low, high] = [Number(from), Number(to)];
  const given = `--uncertain ${low}..${high}`;
  if (low > 1 || high > 1) throw new QaError("invalid_usage", `${given}: probabilities and confidence go from 0 to 1`);
  if (low > high) throw new QaError("invalid_usage", `${given}: the lower number stands first; pass ${high}..${low}`);
  return { low, high };
}

/** Whether an answer lies in the band: of a yes/no P(yes), of a choice or a score its confidence. */
export function isUncertain(answer: Answer, { low, high }: Band): boolean {
  const value = answer.type === "noul" ? answer.noul : answer.confidence;
  return value >= low && value <= high;
}

/** The ids of the questions whose answers lie in the band, in the order of the questions. */
export function uncertainIds(answers: Answers, band: Band): readonly string[] {
  return [...answers].filter(([, answer]) => isUncertain(answer, band)).map(([id]) => id);
}
