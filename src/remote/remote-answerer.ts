/**
 * System One services as who answers the rows of a run. Owns how a row becomes calls, and calls a row's answers; hosts, tries
 * and waits are the dispatcher's.
 */

import type { Answered, Answerer } from "../batch/answerer.js";
import type { RemoteConfig } from "../config.js";
import type { Question } from "../decision/question.js";
import type { ParsedRequest } from "../decision/request.js";
import { QaError } from "../errors.js";
import { type Clock, SYSTEM_CLOCK } from "./clock.js";
import { Deadline } from "./deadline.js";
import { createDispatcher, type Send, type Turn } from "./dispatcher.js";
import { parseEndpoints } from "./endpoints.js";
import { readRefusal, refusalError } from "./read-refusal.js";
import { type RemoteAnswers, readResponse } from "./read-response.js";
import { requestBody } from "./request-body.js";

export interface RemoteAnswerer extends Answerer {
  /** Ends the calls in flight. */
  close(): void;
}

/** Of one call (CONTRACT 1). */
const MAX_QUESTIONS = 32;
/** Rows in hand, among them those that wait their turn: enough that a slow one holds up no others. */
const MIN_WINDOW_ROWS = 256;
/** What a service says of a call that would be answered in parts. */
const TOO_MUCH_AT_ONCE: ReadonlySet<string | undefined> = new Set(["processed_tokens_exceeded", "too_many_questions"]);

/**
 * Opens endpoints; nothing is called before the first row.
 * @throws QaError `invalid_usage`
 */
export function openRemote(config: RemoteConfig, clock: Clock = SYSTEM_CLOCK): RemoteAnswerer {
  const endpoints = parseEndpoints(config.endpoint);
  assertKey(config.apiKey);
  const send = createDispatcher(endpoints, config, clock);
  const closing = new AbortController();
  const stopOf = linkedTo(closing.signal);
  let fatal: QaError | undefined;
  return {
    windowRows: Math.max(MIN_WINDOW_ROWS, 4 * endpoints.length * config.inFlightPerHost),
    choiceNeedsInstructions: false, // the service knows
    // what they serve cannot be known; that they are the same can
    identity: async () => ({
      endpoints: endpoints.map(({ url }) => url).toSorted(),
      default_model: config.defaultModel,
    }),
    async answer(request, { signal, chunk }) {
      if (chunk !== undefined) throw new Error("endpoints do not answer in chunks; this is a bug in qa");
      const turn: Turn = { deadline: new Deadline(config.deadlineMs), signal: stopOf(signal) };
      try {
        return await answerRow({ ...request, model: request.model ?? config.defaultModel }, send, turn);
      } catch (error) {
        if (isFatal(error)) {
          fatal ??= error;
          closing.abort();
        }
        if (fatal !== undefined) throw fatal; // also for the rows whose calls it ended
        if (turn.signal.aborted) throw new QaError("aborted", "the call was ended before its answer", { cause: error });
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}

type NamedRequest = ParsedRequest & { readonly model: string };

async function answerRow(request: NamedRequest, send: Send, turn: Turn): Promise<Answered> {
  const parts: Part[] = [];
  for (let from = 0; from < request.questions.length; from += MAX_QUESTIONS)
    parts.push(...(await ask(request, request.questions.slice(from, from + MAX_QUESTIONS), { send, turn })));
  return join(parts);
}

interface Part extends RemoteAnswers {
  readonly host: string;
}

/** Asks in one call, or in several where the service says that it is too much for one. */
async function ask(
  request: NamedRequest,
  questions: readonly Question[],
  { send, turn }: { readonly send: Send; readonly turn: Turn },
): Promise<Part[]> {
  const { host, status, text } = await send(requestBody({ ...request, questions }), turn);
  if (status >= 200 && status < 300) return [{ host, ...readResponse(text, questions, host) }];
  const refusal = readRefusal({ status, text }, host);
  if (questions.length === 1 || !TOO_MUCH_AT_ONCE.has(refusal.code)) throw refusalError(refusal);
  const half = Math.ceil(questions.length / 2);
  const first = await ask(request, questions.slice(0, half), { send, turn });
  return [...first, ...(await ask(request, questions.slice(half), { send, turn }))];
}

/** @throws QaError `endpoint_answer_invalid`: a row's answers tell of one checkpoint */
function join(parts: readonly Part[]): Answered {
  const [first] = parts;
  if (first === undefined) throw new Error("a row without questions was asked; this is a bug in qa");
  const { model, host } = first;
  const other = parts.find((part) => part.model !== model);
  if (other !== undefined)
    throw new QaError(
      "endpoint_answer_invalid",
      `the calls of this row were answered by different models, of ${host} and ${other.host}; pass endpoints that serve the same, or ask fewer questions`,
      { details: { hosts: [host, other.host] } },
    );
  return {
    model,
    answers: new Map(parts.flatMap(({ answers }) => [...answers])),
    usage: { inputTokens: parts.reduce((sum, { inputTokens }) => sum + inputTokens, 0) },
    route: { reason: { type: "endpoint", host } },
  };
}

function isFatal(error: unknown): error is QaError {
  return error instanceof QaError && error.code === "endpoint_unusable";
}

/** @throws QaError `invalid_usage` for a key that no header can carry, which `fetch` would call a lost connection */
function assertKey(key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return;
  throw new QaError("invalid_usage", "TYPESAFE_API_KEY holds more than the printable ASCII of a key; set it anew");
}

/** Signals joined with one that all end by; each joined once, as rows share theirs. */
function linkedTo(closing: AbortSignal): (signal: AbortSignal | undefined) => AbortSignal {
  const joined = new WeakMap<AbortSignal, AbortSignal>();
  return (signal) => {
    if (signal === undefined) return closing;
    const known = joined.get(signal) ?? AbortSignal.any([signal, closing]);
    joined.set(signal, known);
    return known;
  };
}
