/** The distribution of the answers to one question, in bounded memory. */

import type { Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer } from "../../decision/answer.js";

interface Common {
  readonly id: string;
  /** Answers counted. */
  readonly count: number;
}

interface NoulDistribution extends Common {
  readonly type: "noul";
  /** Answers with P(yes) of 0.5 or more. */
  readonly yes: number;
  /** Sum of P(yes). */
  readonly sum: number;
}

interface ChoiceDistribution extends Common {
  readonly type: "choice";
  /** label -> answers, in the order of the criteria; labels never chosen are there with 0. */
  readonly labels: ReadonlyMap<string, number>;
  /** Answers with a label beyond the first `MAX_LABELS`. */
  readonly other: number;
}

export interface ScoreDistribution extends Common {
  readonly type: "score";
  /** Sum of the scores. */
  readonly sum: number;
  /** Answers by their most probable level. */
  readonly levels: readonly number[];
}

export type Distribution = NoulDistribution | ChoiceDistribution | ScoreDistribution;

export const MAX_LABELS = 255;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface DistributionCounter {
  readonly view: Distribution;
  /** Counts an answer of the question's type. */
  add(answer: Answer): void;
}

/** A counter for the answers to one question. */
export function createDistribution(id: string, type: Answer["type"]): DistributionCounter {
  switch (type) {
    case "noul":
      return noulCounter(id);
    case "choice":
      return choiceCounter(id);
    case "score":
      return scoreCounter(id);
    default:
      return type satisfies never;
  }
}

function noulCounter(id: string): DistributionCounter {
  const view: Writable<NoulDistribution> = { type: "noul", id, count: 0, yes: 0, sum: 0 };
  return counter("noul", view, ({ noul }: NoulAnswer) => {
    if (noul >= 0.5) view.yes++;
    view.sum += noul;
  });
}

function choiceCounter(id: string): DistributionCounter {
  const labels = new Map<string, number>();
  const view: Writable<ChoiceDistribution> = { type: "choice", id, count: 0, labels, other: 0 };
  return counter("choice", view, ({ choice, probabilities }: ChoiceAnswer) => {
    for (const label of probabilities.keys()) if (labels.size < MAX_LABELS && !labels.has(label)) labels.set(label, 0);
    const count = labels.get(choice);
    if (count === undefined) view.other++;
    else labels.set(choice, count + 1);
  });
}

function scoreCounter(id: string): DistributionCounter {
  const levels: number[] = [];
  const view: Writable<ScoreDistribution> = { type: "score", id, count: 0, sum: 0, levels };
  return counter("score", view, ({ score, probabilities }: ScoreAnswer) => {
    const each = [...probabilities.values()];
    while (levels.length < each.length) levels.push(0);
    const level = each.indexOf(Math.max(...each));
    levels[level] = (levels[level] ?? 0) + 1;
    view.sum += score;
  });
}

function counter<A extends Answer>(
  type: A["type"],
  view: Writable<Distribution>,
  count: (answer: A) => void,
): DistributionCounter {
  return {
    view: view as Distribution,
    add(answer) {
      if (answer.type !== type) throw new Error(`a ${answer.type} was counted as a ${type}; this is a bug in qa`);
      view.count++;
      count(answer as A);
    },
  };
}

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
