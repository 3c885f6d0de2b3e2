/**
 * The public API: `openEngine` and what it answers, typed so that answers follow from the questions. Requests and responses
 * have the wire's form, as plain objects.
 */

import type { EngineOptions } from "../config.js";
import type { JsonValue } from "../decision/json.js";
import type { parseQuestions } from "../decision/question.js";
import { type ParsedRequest, parseRequest } from "../decision/request.js";
import { QaError } from "../errors.js";
import type { ChunkOptions } from "./chunked-reading.js";
import { type Decision, decisionToJson } from "./decision.js";
import { Engine } from "./engine.js";
import { type RoomReport, roomReport } from "./room-report.js";

/** A text that the model may be shown: a string, or JSON that is rendered as one line. */
export type Text = string | readonly unknown[] | { readonly [key: string]: unknown };

export interface NoulQuestion {
  readonly type: "noul";
  readonly instructions?: Text | null;
  readonly criteria?: { readonly true?: Text | null; readonly false?: Text | null } | null;
}

export interface ChoiceQuestion<Label extends string = string> {
  readonly type: "choice";
  readonly instructions?: Text | null;
  /** label -> description, or null where the label stands alone. */
  readonly criteria: { readonly [L in Label]: Text | null };
}

export interface ScoreQuestion {
  readonly type: "score";
  readonly instructions?: Text | null;
  /** Descriptions of the levels, lowest first. */
  readonly criteria: readonly (Text | null)[];
}

export type Questions = { readonly [id: string]: NoulQuestion | ChoiceQuestion | ScoreQuestion };

export interface Request<Q extends Questions = Questions> {
  /** A name of the deployment; default: the state's language decides. */
  readonly model?: string;
  readonly state: Text;
  readonly questions: Q;
}

/** The answer to a question of type Q; probabilities by label or level. */
export type AnswerTo<Q> = Q extends { readonly type: "noul" }
  ? { readonly type: "noul"; readonly noul: number }
  : Q extends { readonly type: "choice"; readonly criteria: infer C }
    ? {
        readonly type: "choice";
        readonly choice: keyof C & string;
        readonly confidence: number;
        readonly probabilities: { readonly [L in keyof C & string]: number };
      }
    : {
        readonly type: "score";
        readonly score: number;
        readonly confidence: number;
        readonly legend: { readonly [level: string]: unknown };
        readonly probabilities: { readonly [level: string]: number };
      };

export interface Response<Q extends Questions = Questions> {
  readonly model: string;
  readonly answers: { readonly [Id in keyof Q]: AnswerTo<Q[Id]> };
  readonly usage: { readonly input_tokens: number; readonly output_tokens: 0 };
}

export interface AnswerOptions {
  /** `split` lets a request hold more questions than one call may; default `call`. */
  readonly limits?: "call" | "split";
  /** Answer states over the room in chunks. */
  readonly chunk?: ChunkOptions;
  readonly signal?: AbortSignal;
}

/** The outcome of one request of `answerAll`: its response, or the error it ended with. */
export type Outcome<Q extends Questions = Questions> =
  | { readonly type: "answered"; readonly response: Response<Q> }
  | { readonly type: "failed"; readonly error: QaError };

export interface QaEngine {
  /** @throws QaError as the contract names them; `invalid_request` lists every issue */
  answer<const Q extends Questions>(request: Request<Q>, options?: AnswerOptions): Promise<Response<Q>>;
  /** Outcomes in the order of the requests, with a bounded number in hand; an error is the outcome of its request. */
  answerAll<const Q extends Questions>(
    requests: AsyncIterable<Request<Q>> | Iterable<Request<Q>>,
    options?: AnswerOptions,
  ): AsyncGenerator<Outcome<Q>, void, undefined>;
  /** What the questions leave for a state on each checkpoint, and with a state what the call costs; nothing is answered. */
  room(request: Omit<Request, "state"> & { readonly state?: Text }): Promise<RoomReport>;
  close(): Promise<void>;
}

/**
 * Opens an engine over the checkpoints that ship with qa. Close it when done: it owns worker threads.
 * @throws QaError `unknown_deployment`
 */
export async function openEngine(options: EngineOptions = {}): Promise<QaEngine> {
  const engine = await Engine.open(options);
  const parse = (request: unknown) => parseOrThrow(asJson(request), engine.deployment.choiceNeedsInstructions);
  return {
    async answer<const Q extends Questions>(request: Request<Q>, options: AnswerOptions = {}) {
      return responseOf<Q>(await engine.decide(parse(request), options));
    },
    async *answerAll<const Q extends Questions>(
      requests: AsyncIterable<Request<Q>> | Iterable<Request<Q>>,
      options: AnswerOptions = {},
    ) {
      for await (const { outcome } of engine.decideAll(parseAll(requests, parse), options))
        yield outcome instanceof QaError
          ? { type: "failed" as const, error: outcome }
          : { type: "answered" as const, response: responseOf<Q>(outcome) };
    },
    room: (request) => {
      const { state, ...rest } = request;
      const parsed = parse({ ...rest, state: state ?? "" });
      return roomReport(engine, { ...parsed, state: state === undefined ? undefined : parsed.state });
    },
    close: () => engine.close(),
  };
}

/**
 * A request of JavaScript values as it would go over the wire: dates become text, fields without a value go.
 * @throws QaError `invalid_request` for what JSON cannot say
 */
function asJson(request: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(request) ?? "null");
  } catch (cause) {
    const message =
      "the request is not JSON; it may hold no bigint, no cycle and no deeper nesting than JSON.stringify takes";
    throw new QaError("invalid_request", message, { details: { issues: [{ path: "", message }] }, cause });
  }
}

/** @throws QaError `invalid_request` with every issue */
export function parseOrThrow(value: unknown, choiceNeedsInstructions: boolean): ParsedRequest {
  const parsed = parseRequest(value, { choiceNeedsInstructions });
  if (parsed.type === "request") return parsed.request;
  throw invalidRequest(parsed.issues);
}

function invalidRequest(issues: ReturnType<typeof parseQuestions>["issues"]): QaError {
  const listed = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  const details = { issues: issues.map(({ path, message }) => ({ path, message })) };
  return new QaError("invalid_request", `the request is not valid: ${listed}`, { details });
}

async function* parseAll(
  requests: AsyncIterable<unknown> | Iterable<unknown>,
  parse: (value: unknown) => ParsedRequest,
) {
  for await (const value of requests) yield { request: attempt(() => parse(value)) };
}

function attempt(parse: () => ParsedRequest): ParsedRequest | QaError {
  try {
    return parse();
  } catch (error) {
    if (error instanceof QaError) return error;
    throw error;
  }
}

function responseOf<Q extends Questions>(decision: Decision): Response<Q> {
  return toPlain(decisionToJson(decision)) as unknown as Response<Q>;
}

/** Maps become plain objects; the order of integer-like keys is then JavaScript's. */
function toPlain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, toPlain(item)]));
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}
