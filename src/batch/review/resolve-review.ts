/** What `--uncertain` and `--review` ask for together. Pure. */

import { QaError } from "../../errors.js";
import { type Band, parseBand } from "./band.js";
import type { ReviewOptions } from "./create-review.js";

export interface ReviewPlan {
  readonly band: Band | undefined;
  /** The file for the answers that a person should look at, and its form. */
  readonly review: (ReviewOptions & { readonly file: string }) | undefined;
}

export interface ReviewFlags {
  readonly uncertain?: string | undefined;
  readonly review?: string | undefined;
}

/**
 * The band, and the file for review with the form that its name tells.
 * @throws QaError `invalid_usage`
 */
export function resolveReview({ uncertain, review: file }: ReviewFlags): ReviewPlan {
  const band = uncertain === undefined ? undefined : parseBand(uncertain);
  if (file === undefined) return { band, review: undefined };
  if (band === undefined)
    throw new QaError(
      "invalid_usage",
      "--review collects uncertain answers; say which these are: --uncertain 0.4..0.6",
    );
  if (file === "-") throw new QaError("invalid_usage", "--review takes the name of a file, as in review.csv");
  return { band, review: { file, band, format: formatOfReview(file) } };
}

function formatOfReview(file: string) {
  if (/\.csv$/i.test(file)) return "csv";
  if (/\.(ndjson|jsonl)$/i.test(file)) return "ndjson";
  throw new QaError("invalid_usage", `--review ${file}: name it .csv or .ndjson`);
}
