/** An answer as a person reads it in a cell of a spreadsheet. Pure. */

import { type Answer, round4 } from "../../decision/answer.js";

/** Options that a cell names; a choice of more says how many are left. */
const MAX_OPTIONS = 12;

/** What was answered: `yes`, `no`, the label, or the score. */
export function answeredOf(answer: Answer): string | number {
  switch (answer.type) {
    case "noul":
      return answer.noul >= 0.5 ? "yes" : "no";
    case "choice":
      return answer.choice;
    case "score":
      return answer.score;
    default:
      return answer satisfies never;
  }
}

/** `billing 0.46, technical 0.41, other 0.13`: a choice from the most probable option on, all else in its order. */
export function probabilityWords(answer: Answer): string {
  const all = [...probabilitiesOf(answer)];
  const ordered = answer.type === "choice" ? all.toSorted(([, a], [, b]) => b - a) : all;
  const named = ordered.slice(0, MAX_OPTIONS).map(([label, p]) => `${label} ${p}`);
  const left = ordered.length - named.length;
  return [...named, ...(left > 0 ? [`and ${left} more`] : [])].join(", ");
}

/** option -> probability; of a yes/no question `yes` and `no`. */
export function probabilitiesOf(answer: Answer): ReadonlyMap<string, number> {
  if (answer.type !== "noul") return answer.probabilities;
  return new Map([
    ["yes", answer.noul],
    ["no", round4(1 - answer.noul)],
  ]);
}
