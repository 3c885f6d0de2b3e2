/** What a distribution comes to: its bars and its mean. Pure. */

import type { Distribution } from "./distribution.js";

/** A bar of a distribution: what it stands for, and its share of the answers. */
export interface Share {
  readonly label: string;
  readonly count: number;
  /** 0 to 1. */
  readonly share: number;
}

/** The bars of a distribution: of a choice by label, of a noul `yes`, of a score by level. */
export function sharesOf(distribution: Distribution): readonly Share[] {
  const share = (label: string, count: number) => ({ label, count, share: count / Math.max(1, distribution.count) });
  switch (distribution.type) {
    case "noul":
      return [share("yes", distribution.yes)];
    case "choice": {
      const named = [...distribution.labels].map(([label, count]) => share(label, count));
      return distribution.other === 0 ? named : [...named, share("other labels", distribution.other)];
    }
    case "score":
      return distribution.levels.map((count, level) => share(String(level), count));
    default:
      return distribution satisfies never;
  }
}

/** The mean of P(yes) or of the score, `undefined` for a choice. */
export function meanOf(distribution: Distribution): number | undefined {
  return distribution.type === "choice" ? undefined : distribution.sum / Math.max(1, distribution.count);
}
