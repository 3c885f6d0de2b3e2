/** The distribution of the answers to one question, in bounded memory. */

import type { Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer } from "../../decision/answer.js";
import { addToHistogram, emptyHistogram } from "./histogram.js";

interface Common {
  readonly id: string;
  /** Answers counted. */
  readonly count: number;
  /** Of them, those in the run's band of unsure answers. */
  readonly uncertain: number;
  /** Answers by bin: of a noul by P(yes), of a choice or a score by confidence. */
  readonly histogram: readonly number[];
}

export interface NoulDistribution extends Common {
  readonly type: "noul";
  /** Answers with P(yes) of 0.5 or more. */
  readonly yes: number;
  /** Sum of P(yes). */
  readonly sum: number;
}

export interface ChoiceDistribution extends Common {
  readonly type: "choice";
  /** label -> answers, in the order of the criteria; labels never chosen are there with 0. */
  readonly labels: ReadonlyMap<string, number>;
  /** Answers with a label beyond the first `MAX_LABELS`, or beyond the room for names. */
  readonly other: number;
  /** Sum of the confidences. */
  readonly confidenceSum: number;
}

export interface ScoreDistribution extends Common {
  readonly type: "score";
  /** Sum of the scores. */
  readonly sum: number;
  /** Answers by their most probable level. */
  readonly levels: readonly number[];
  /** Sum of the confidences. */
  readonly confidenceSum: number;
}

export type Distribution = NoulDistribution | ChoiceDistribution | ScoreDistribution;

/** A distribution as plain JSON: labels as pairs, so that they keep their order. */
export type DistributionSnapshot =
  | NoulDistribution
  | ScoreDistribution
  | (Omit<ChoiceDistribution, "labels"> & { readonly labels: readonly (readonly [string, number])[] });

export const MAX_LABELS = 255;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface DistributionCounter {
  readonly view: Distribution;
  /** Counts an answer of the question's type. */
  add(answer: Answer, isUncertain: boolean): void;
}

/** Whether there is still room for a name of some characters, which is then taken. */
export type TakeRoom = (name: string) => boolean;

/** A counter for the answers to one question, of none yet. */
export function createDistribution(id: string, type: Answer["type"], takeRoom: TakeRoom): DistributionCounter {
  const none = { id, count: 0, uncertain: 0, histogram: emptyHistogram() };
  switch (type) {
    case "noul":
      return noulCounter({ ...none, type, yes: 0, sum: 0 });
    case "choice":
      return choiceCounter({ ...none, type, labels: new Map(), other: 0, confidenceSum: 0 }, takeRoom);
    case "score":
      return scoreCounter({ ...none, type, sum: 0, levels: [], confidenceSum: 0 });
    default:
      return type satisfies never;
  }
}

/** A counter that goes on from a snapshot. */
export function restoreDistribution(snapshot: DistributionSnapshot, takeRoom: TakeRoom): DistributionCounter {
  const histogram = [...snapshot.histogram];
  switch (snapshot.type) {
    case "noul":
      return noulCounter({ ...snapshot, histogram });
    case "choice":
      return choiceCounter({ ...snapshot, histogram, labels: new Map(snapshot.labels) }, takeRoom);
    case "score":
      return scoreCounter({ ...snapshot, histogram, levels: [...snapshot.levels] });
    default:
      return snapshot satisfies never;
  }
}

/** A distribution as it is now, as plain JSON that no longer changes. */
export function snapshotDistribution(view: Distribution): DistributionSnapshot {
  const histogram = [...view.histogram];
  switch (view.type) {
    case "noul":
      return { ...view, histogram };
    case "choice":
      return { ...view, histogram, labels: [...view.labels] };
    case "score":
      return { ...view, histogram, levels: [...view.levels] };
    default:
      return view satisfies never;
  }
}

function noulCounter(view: Writable<NoulDistribution>): DistributionCounter {
  return counter("noul", view, ({ noul }: NoulAnswer) => {
    if (noul >= 0.5) view.yes++;
    view.sum += noul;
    return noul;
  });
}

function choiceCounter(
  view: Writable<ChoiceDistribution> & { readonly labels: Map<string, number> },
  takeRoom: TakeRoom,
): DistributionCounter {
  const { labels } = view;
  return counter("choice", view, ({ choice, confidence, probabilities }: ChoiceAnswer) => {
    for (const label of probabilities.keys())
      if (labels.size < MAX_LABELS && !labels.has(label) && takeRoom(label)) labels.set(label, 0);
    const count = labels.get(choice);
    if (count === undefined) view.other++;
    else labels.set(choice, count + 1);
    view.confidenceSum += confidence;
    return confidence;
  });
}

function scoreCounter(view: Writable<ScoreDistribution> & { readonly levels: number[] }): DistributionCounter {
  const { levels } = view;
  return counter("score", view, ({ score, confidence, probabilities }: ScoreAnswer) => {
    const each = [...probabilities.values()];
    while (levels.length < each.length) levels.push(0);
    const level = each.indexOf(Math.max(...each));
    levels[level] = (levels[level] ?? 0) + 1;
    view.sum += score;
    view.confidenceSum += confidence;
    return confidence;
  });
}

/** `count` counts what the type has of its own, and returns what the histogram takes. */
function counter<A extends Answer>(
  type: A["type"],
  view: Writable<Distribution> & { readonly histogram: readonly number[] },
  count: (answer: A) => number,
): DistributionCounter {
  const histogram = view.histogram as number[]; // made or copied by this file
  return {
    view: view as Distribution,
    add(answer, isUncertain) {
      if (answer.type !== type) throw new Error(`a ${answer.type} was counted as a ${type}; this is a bug in qa`);
      view.count++;
      if (isUncertain) view.uncertain++;
      addToHistogram(histogram, count(answer as A));
    },
  };
}
