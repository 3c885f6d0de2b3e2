/** What a report says of each question: of the run's own in their order, then of those that rows brought. Pure. */

import { round4 } from "../../decision/answer.js";
import type { Question, QuestionType } from "../../decision/question.js";
import type { Distribution } from "../progress/distribution.js";
import { emptyHistogram } from "../progress/histogram.js";
import { meanOf, sharesOf } from "../progress/shares.js";
import type { Band } from "../review/band.js";

export interface OptionReport {
  /** A choice's label, `yes` or `no`, or a score's level. */
  readonly label: string;
  readonly description: string | undefined;
  readonly answers: number;
  /** Of the question's answers, 0 to 1. */
  readonly share: number;
}

export interface QuestionReport {
  readonly id: string;
  readonly type: QuestionType;
  readonly instructions: string | undefined;
  readonly answers: number;
  /** Answers in the band; only with a band. */
  readonly uncertain: number | undefined;
  /** The mean of P(yes) or of the score. */
  readonly mean: number | undefined;
  /** Of a choice or a score that was answered. */
  readonly meanConfidence: number | undefined;
  /** In the order of the criteria; answers beyond the labels that are counted are last, as `other labels`. */
  readonly options: readonly OptionReport[];
  /** Answers by twenty bins from 0 to 1: of a yes/no by P(yes), of the others by confidence. */
  readonly histogram: readonly number[];
}

/** A report of every question that was asked or answered. */
export function questionReports(
  distributions: readonly Distribution[],
  questions: readonly Question[],
  band: Band | undefined,
): readonly QuestionReport[] {
  const own = questions.map((question) => {
    const found = distributions.find(({ id, type }) => id === question.id && type === question.type);
    return found === undefined ? unanswered(question, band) : answered(found, question, band);
  });
  const others = distributions.filter(
    ({ id, type }) => !questions.some((question) => id === question.id && type === question.type),
  );
  return [...own, ...others.map((distribution) => answered(distribution, undefined, band))];
}

function unanswered({ id, type, instructions, options }: Question, band: Band | undefined): QuestionReport {
  const described = type === "noul" ? [{ label: "yes" }, { label: "no" }] : options;
  return {
    id,
    type,
    instructions,
    answers: 0,
    uncertain: band === undefined ? undefined : 0,
    mean: undefined,
    meanConfidence: undefined,
    options: described.map(({ label, ...rest }) => ({ label, description: undefined, ...rest, answers: 0, share: 0 })),
    histogram: emptyHistogram(),
  };
}

function answered(distribution: Distribution, question: Question | undefined, band: Band | undefined): QuestionReport {
  const { id, type, count, uncertain, histogram } = distribution;
  const mean = meanOf(distribution);
  const describe = (label: string) => question?.options.find((option) => option.label === label)?.description;
  return {
    id,
    type,
    instructions: question?.instructions,
    answers: count,
    uncertain: band === undefined ? undefined : uncertain,
    mean: mean === undefined ? undefined : round4(mean),
    meanConfidence: distribution.type === "noul" ? undefined : round4(distribution.confidenceSum / Math.max(1, count)),
    options: optionsOf(distribution).map(({ label, ...rest }) => ({ label, description: describe(label), ...rest })),
    histogram: [...histogram],
  };
}

function optionsOf(distribution: Distribution): readonly Omit<OptionReport, "description">[] {
  const { count } = distribution;
  const shares = sharesOf(distribution);
  const no = distribution.type === "noul" ? [{ label: "no", count: count - distribution.yes }] : [];
  return [...shares, ...no].map((each) => ({
    label: each.label,
    answers: each.count,
    share: round4(each.count / Math.max(1, count)),
  }));
}
