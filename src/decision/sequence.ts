/**
 * The sequence of one question, as segments: head `[CLS] head [SEP]`, each option `[MASK] option`, state `state [SEP]`
 * (CONTRACT 5 and 6). Tokenising is handed in, so that this stays pure; the joined form serves goldens and the
 * `sequence` family.
 */

import type { Question } from "./question.js";

export interface SpecialTokens {
  readonly cls: string;
  readonly sep: string;
  readonly mask: string;
  readonly pad: string;
}

export interface SpecialIds {
  readonly cls: number;
  readonly sep: number;
  readonly mask: number;
  readonly pad: number;
}

/** Text -> token ids without special tokens; special tokens written in the text must already be gone. */
export type Tokenize = (text: string) => readonly number[];

/** Limits of a checkpoint's manifest (Laya exports); absent means that nothing is ever cut. */
export interface PrefixLimits {
  readonly optionMaxLen?: number | undefined;
  readonly headMaxLen?: number | undefined;
}

export interface QuestionSegments {
  /** `[CLS] head [SEP]` */
  readonly head: readonly number[];
  /** `[MASK] option`, one per option. */
  readonly options: readonly (readonly number[])[];
  /** Tokens up to and including the second `[SEP]`. */
  readonly prefixTokens: number;
  /** Groups of labels whose options became identical by a cut of the manifest's limits. */
  readonly collisions: readonly (readonly string[])[];
}

const NOUL_DEFAULT: Record<string, string> = {
  false: "no, the statement does not hold",
  true: "yes, the statement holds",
};

/** `"<type> question: <instructions>"`, the question id standing in for absent instructions. */
export function headText(question: Question): string {
  return `${question.type} question: ${question.instructions ?? question.id}`;
}

/** The text of every option, without the leading space it is tokenised with. */
export function optionTexts(question: Question): string[] {
  return question.options.map(({ label, description }) => {
    if (question.type === "noul") return `${label}: ${description ?? NOUL_DEFAULT[label]}`;
    const name = question.type === "score" ? `level ${label}` : label;
    return description === undefined ? name : `${name}: ${description}`;
  });
}

/** Replaces the literal text of special tokens by a space: nobody can forge an option or a border. */
export function createForgedTokenFilter(special: SpecialTokens): (text: string) => string {
  const texts = [...new Set(Object.values(special) as string[])].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(texts.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
  return (text) => text.replace(pattern, " ");
}

/** Tokenises a question into its segments, cut only where the checkpoint's manifest sets limits. */
export function questionSegments(
  question: Question,
  tokenize: Tokenize,
  { special, limits = {} }: { special: SpecialIds; limits?: PrefixLimits },
): QuestionSegments {
  const whole = {
    head: tokenize(headText(question)),
    options: optionTexts(question).map((text) => tokenize(` ${text}`)),
  };
  const { head, options } = cutToLimits(whole, limits);
  const withMask = options.map((ids) => [special.mask, ...ids]);
  const prefixTokens = head.length + 3 + withMask.reduce((sum, ids) => sum + ids.length, 0);
  return {
    head: [special.cls, ...head, special.sep],
    options: withMask,
    prefixTokens,
    collisions: collisionsOf(question, { whole: whole.options, cut: options }),
  };
}

interface HeadAndOptions {
  readonly head: readonly number[];
  readonly options: readonly (readonly number[])[];
}

/** The cuts of CONTRACT 5 for manifests with `option_max_len` and `head_max_len`; ids without their `[MASK]`. */
function cutToLimits({ head, options }: HeadAndOptions, limits: PrefixLimits): HeadAndOptions {
  const { optionMaxLen, headMaxLen } = limits;
  let kept = optionMaxLen === undefined ? options : options.map((ids) => ids.slice(0, optionMaxLen));
  if (headMaxLen === undefined) return { head, options: kept };
  const left = () => headMaxLen - kept.reduce((sum, ids) => sum + ids.length + 1, 0);
  if (left() < 16) {
    const each = Math.max(4, Math.floor((headMaxLen - 16) / options.length));
    kept = kept.map((ids) => ids.slice(0, each - 1));
  }
  return { head: head.slice(0, Math.max(8, left())), options: kept };
}

function collisionsOf(
  question: Question,
  { whole, cut }: { whole: HeadAndOptions["options"]; cut: HeadAndOptions["options"] },
): string[][] {
  const groups = new Map<string, { label: string; whole: string }[]>();
  question.options.forEach(({ label }, i) => {
    const key = String(cut[i]);
    groups.set(key, [...(groups.get(key) ?? []), { label, whole: String(whole[i]) }]);
  });
  return [...groups.values()]
    .filter((group) => new Set(group.map((option) => option.whole)).size > 1)
    .map((group) => group.map((option) => option.label));
}

/** The joined sequence `[CLS] head [SEP] [MASK] option ... [SEP] state [SEP]` and the place of each `[MASK]`. */
export function joinSequence(
  segments: QuestionSegments,
  stateIds: readonly number[],
  sep: number,
): { inputIds: number[]; markerPos: number[] } {
  const inputIds = [...segments.head];
  const markerPos: number[] = [];
  for (const option of segments.options) {
    markerPos.push(inputIds.length);
    inputIds.push(...option);
  }
  inputIds.push(sep, ...stateIds, sep);
  return { inputIds, markerPos };
}
