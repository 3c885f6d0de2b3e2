/**
 * A question set on one checkpoint: tokenised and checked when first met, encoded when first asked, kept in a bounded LRU.
 * After that a row costs its state alone.
 */

import { LRUCache } from "lru-cache";
import type { Question } from "../decision/question.js";
import { fitOfPrefix, roomOf } from "../decision/room.js";
import { headText, optionTexts, type QuestionSegments, questionSegments } from "../decision/sequence.js";
import { QaError } from "../errors.js";
import type { CompiledPrefix } from "./family.js";
import type { Inference } from "./inference.js";
import type { Model } from "./model.js";

export interface QuestionSet {
  /** Of each question, in order. */
  readonly segments: readonly QuestionSegments[];
  /** Tokens of each question's prefix. */
  readonly prefixTokens: readonly number[];
  /** Tokens that each question leaves for a state. */
  readonly rooms: readonly number[];
  /** The tightest of them. */
  readonly room: number;
  /** Tokens of all prefixes. */
  readonly totalPrefixTokens: number;
  /** What `decide` takes of the set: encoded at the first call, once. */
  compiled(): Promise<CompiledPrefix>;
}

/** Tokenises questions for a model, fitting or not; nothing is encoded yet. */
export function createQuestionSet(questions: readonly Question[], model: Model, inference: Inference): QuestionSet {
  const { tokenizer, checkpoint, limits, familyCheckpoint } = model;
  const segments = questions.map((question) =>
    questionSegments(question, tokenizer.tokenize, { special: tokenizer.special, limits: checkpoint.prefixLimits }),
  );
  const prefixTokens = segments.map((segment) => segment.prefixTokens);
  const rooms = prefixTokens.map((tokens) => roomOf(tokens, limits.window));
  let compiled: Promise<CompiledPrefix> | undefined;
  return {
    segments,
    prefixTokens,
    rooms,
    room: Math.min(...rooms),
    totalPrefixTokens: prefixTokens.reduce((sum, tokens) => sum + tokens, 0),
    compiled() {
      const familyQuestions = segments.map(({ head, options }, i) => ({ type: typeOf(questions, i), head, options }));
      compiled ??= inference.compile(familyCheckpoint, familyQuestions).catch((error: unknown) => {
        compiled = undefined; // a crashed worker is no property of the set
        throw error;
      });
      return compiled;
    },
  };
}

function typeOf(questions: readonly Question[], i: number): Question["type"] {
  return (questions[i] as Question).type;
}

/** @throws QaError `question_too_long`, `too_many_options` for the first question that leaves no room */
export function assertRoom(set: QuestionSet, questions: readonly Question[], { limits, checkpoint }: Model): void {
  const { window } = limits;
  set.segments.forEach((segment, i) => {
    const fit = fitOfPrefix(segment, window);
    if (fit === "fits") return;
    const { id } = questions[i] as Question;
    const tokens = segment.prefixTokens;
    const advice = fit === "too_many_options" ? "ask with fewer options or split the question" : "shorten its texts";
    throw new QaError(
      fit,
      `question "${id}" takes ${tokens} of the ${window} tokens of ${checkpoint.name} and leaves no room for a state; ${advice}`,
      { details: { question: id, tokens, window } },
    );
  });
}

/** Bounded cache of question sets, keyed by checkpoint and by what the model sees of the questions. */
export class QuestionSetCache {
  readonly #inference: Inference;
  readonly #sets: LRUCache<string, QuestionSet>;
  /** The key of a parsed array of questions; the rows of a file share one array. */
  readonly #keys = new WeakMap<readonly Question[], string>();

  constructor(inference: Inference, maxBytes: number) {
    this.#inference = inference;
    this.#sets = new LRUCache({ maxSize: maxBytes });
  }

  /** The set of these questions on a model, tokenised once while it stays in the cache. */
  get(questions: readonly Question[], model: Model): QuestionSet {
    const key = `${model.checkpoint.name} ${model.limits.window} ${this.#keyOf(questions)}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = createQuestionSet(questions, model, this.#inference);
    const bytes = set.totalPrefixTokens * model.checkpoint.hiddenSize * Float32Array.BYTES_PER_ELEMENT;
    this.#sets.set(key, set, { size: Math.max(1, bytes) });
    return set;
  }

  #keyOf(questions: readonly Question[]): string {
    const known = this.#keys.get(questions);
    if (known !== undefined) return known;
    const key = JSON.stringify(questions.map((question) => [headText(question), optionTexts(question)]));
    this.#keys.set(questions, key);
    return key;
  }
}
