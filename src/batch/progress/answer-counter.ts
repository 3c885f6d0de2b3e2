/** The answers of a run by question, in memory that is bounded by questions and by the characters of their names. */

import type { Answer, Answers } from "../../decision/answer.js";
import { type Band, isUncertain } from "../review/band.js";
import {
  createDistribution,
  type Distribution,
  type DistributionCounter,
  type DistributionSnapshot,
  restoreDistribution,
  snapshotDistribution,
} from "./distribution.js";

export const MAX_QUESTIONS = 200;
/** Characters of question ids and labels together: they bound the memory, and a snapshot that is written all the time. */
export const MAX_NAMES = 200_000;

export interface AnswersAdded {
  /** Answers in the band of unsure answers. */
  readonly uncertain: number;
  /** Answers that have no distribution. */
  readonly other: number;
}

/** A counter that goes on from snapshots; without a band no answer is unsure. */
export function createAnswerCounter(from: readonly DistributionSnapshot[] = [], band?: Band) {
  const distributions: Distribution[] = [];
  const counters = new Map<string, DistributionCounter>();
  let names = 0;

  const takeRoom = (name: string): boolean => {
    if (names + name.length > MAX_NAMES) return false;
    names += name.length;
    return true;
  };

  function keep(counter: DistributionCounter): DistributionCounter {
    counters.set(keyOf(counter.view), counter);
    distributions.push(counter.view);
    return counter;
  }

  function counterOf(id: string, type: Answer["type"]): DistributionCounter | undefined {
    const known = counters.get(keyOf({ id, type }));
    if (known !== undefined) return known;
    return counters.size < MAX_QUESTIONS && takeRoom(id) ? keep(createDistribution(id, type, takeRoom)) : undefined;
  }

  for (const snapshot of from) {
    takeRoom(snapshot.id);
    if (snapshot.type === "choice") for (const [label] of snapshot.labels) takeRoom(label);
    keep(restoreDistribution(snapshot, takeRoom));
  }

  return {
    /** In the order first seen; a live view. */
    distributions: distributions as readonly Distribution[],
    add(answers: Answers): AnswersAdded {
      const added = { uncertain: 0, other: 0 };
      for (const [id, answer] of answers) {
        const isUnsure = band !== undefined && isUncertain(answer, band);
        if (isUnsure) added.uncertain++;
        const counter = counterOf(id, answer.type);
        if (counter === undefined) added.other++;
        else counter.add(answer, isUnsure);
      }
      return added;
    },
    snapshot: (): readonly DistributionSnapshot[] => distributions.map(snapshotDistribution),
  };
}

function keyOf({ type, id }: Pick<Distribution, "type" | "id">): string {
  return `${type} ${id}`;
}
