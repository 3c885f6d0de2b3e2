/**
 * Answers equal requests once: whoever answers is asked for the first, the others get its answer, from memory that is
 * bounded, or from what an earlier run kept.
 */

import { LRUCache } from "lru-cache";
import { stringifyJson } from "../decision/json.js";
import type { ParsedRequest } from "../decision/request.js";
import { DECISION_VERSION } from "../decision/version.js";
import { QaError } from "../errors.js";
import { parseAnswered, printAnswered } from "./answer-text.js";
import type { Answered, Answerer, AnswerOptions } from "./answerer.js";
import { createRequestKey } from "./request-key.js";

/** Keeps answers across runs, as the texts of answer-text.ts. */
export interface AnswerStore {
  get(key: string): string | undefined;
  put(key: string, text: string): void;
}

export interface AnswerOnceOptions {
  /** Who answers (`storeIdentityOf`), so that a store never gives the answer of another; needed with a store only. */
  readonly identity?: string | undefined;
  readonly store?: AnswerStore | undefined;
  /** Bound of the answers in memory, least lately used ones dropped first; 16 MiB are some 26,000 rows of eight questions. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 16 * 2 ** 20;
/** What an entry takes beside its text, measured: its key, and its places in the map and its lists. */
const ENTRY_BYTES = 340;

/**
 * The same answerer, asked once for requests that are equal in state, questions, model and chunk options. An answer that was
 * not asked for anew says so in `reused`. A failure is shared by those that wait for it, but a crash or an abort: then one of
 * them asks again. No failure is remembered.
 */
export function answerOnce(
  answerer: Answerer,
  { identity = "", store, maxBytes = MAX_BYTES }: AnswerOnceOptions = {},
): Answerer {
  const keyOf = createRequestKey(identity);
  const known = new LRUCache<string, string>({ maxSize: maxBytes });
  const inFlight = new Map<string, Promise<Answered>>();

  function remember(key: string, text: string): void {
    known.set(key, text, { size: text.length + ENTRY_BYTES });
  }

  function recall(key: string, { questions }: ParsedRequest): Answered | undefined {
    const text = known.get(key);
    const answered = text === undefined ? undefined : parseAnswered(text, questions);
    if (answered !== undefined) return { ...answered, reused: "run" };
    const kept = store?.get(key);
    const keptAnswer = kept === undefined ? undefined : parseAnswered(kept, questions);
    if (kept === undefined || keptAnswer === undefined) return undefined;
    remember(key, kept);
    return { ...keptAnswer, reused: "cache" };
  }

  async function ask(key: string, request: ParsedRequest, options: AnswerOptions): Promise<Answered> {
    const answering = answerer.answer(request, options);
    inFlight.set(key, answering);
    try {
      const answered = await answering;
      const text = printAnswered(answered, request.questions);
      if (text !== undefined) {
        remember(key, text);
        store?.put(key, text);
      }
      return answered;
    } finally {
      inFlight.delete(key);
    }
  }

  return {
    windowRows: answerer.windowRows,
    choiceNeedsInstructions: answerer.choiceNeedsInstructions,
    identity: () => answerer.identity(),
    async answer(request, options) {
      const key = keyOf(request, options.chunk);
      for (let first = inFlight.get(key); first !== undefined; first = inFlight.get(key)) {
        try {
          return { ...(await first), reused: "run" };
        } catch (error) {
          if (!mayPass(error)) throw error;
        }
      }
      return recall(key, request) ?? ask(key, request, options);
    },
  };
}

/** The identity that a store's keys take: who answers, and the version of how. @throws QaError that of `answerer.identity` */
export async function storeIdentityOf(answerer: Answerer): Promise<string> {
  return stringifyJson([DECISION_VERSION, await answerer.identity()]);
}

/**
 * Whether the same request may still be answered: a crashed worker or another's abort say nothing about it. An endpoint that
 * was tried until its deadline does: those that waited have waited as long.
 */
function mayPass(error: unknown): boolean {
  return !(error instanceof QaError) || error.code === "worker_crashed" || error.code === "aborted";
}
