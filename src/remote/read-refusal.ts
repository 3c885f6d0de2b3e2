/** What a service says where it refuses a call: ours, the official one (FastAPI's form too), and ollaya's. */

import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, parseJson, valueAt } from "../decision/json.js";
import { type ErrorCode, type ErrorDetails, QaError } from "../errors.js";

export interface Refusal {
  readonly host: string;
  readonly status: number;
  readonly code: string | undefined;
  /** On one line; the service's own words. */
  readonly message: string | undefined;
  readonly details: ErrorDetails;
}

const MAX_MESSAGE_CHARACTERS = 500;

/** Codes of a request (CONTRACT 7) that mean the same wherever it is answered. */
const OWN_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "unknown_model",
  "too_many_questions",
  "too_many_options",
  "question_too_long",
  "state_too_long",
  "processed_tokens_exceeded",
]);

export function readRefusal(response: { readonly status: number; readonly text: string }, host: string): Refusal {
  const body = parseOrNothing(response.text);
  const error = body === undefined ? undefined : valueAt(body, "error");
  const described = isJsonObject(error) ? error : (body ?? {});
  const code = valueAt(described, "code");
  return {
    host,
    status: response.status,
    code: typeof code === "string" ? oneLine(code) : undefined,
    message: messageOf(body, described),
    details: isJsonObject(error) ? detailsOf(error) : {},
  };
}

/** The error of a refused row: the service's own where it is one of ours, so that a row fails alike wherever it is answered. */
export function refusalError({ host, status, code, message, details }: Refusal): QaError {
  if (status === 400 && code !== undefined && OWN_CODES.has(code) && message !== undefined)
    return new QaError(code as ErrorCode, message, { details });
  return new QaError("endpoint_refused", `${host} refused the request: ${inWords({ status, code, message })}`, {
    details: { host, status, ...(code !== undefined && { endpoint_code: code }) },
  });
}

/** `401 unauthorized, the key is unknown` */
export function inWords({ status, code, message }: Pick<Refusal, "status" | "code" | "message">): string {
  return [code === undefined ? `${status}` : `${status} ${code}`, ...(message === undefined ? [] : [message])].join(
    ", ",
  );
}

function parseOrNothing(text: string): JsonObject | undefined {
  try {
    const body = parseJson(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined; // a page of some proxy: the status says what there is to say
  }
}

/** Where the official client looks, in its order. Of validation errors only path and message: their input is the user's text. */
function messageOf(body: JsonObject | undefined, described: JsonObject): string | undefined {
  if (body === undefined) return undefined;
  const detail = valueAt(body, "detail");
  const [message] = [valueAt(body, "error"), valueAt(described, "message"), valueAt(body, "message"), detail]
    .map((value) => (Array.isArray(value) ? validationErrors(value) : value))
    .filter((value) => typeof value === "string" && value !== "");
  return typeof message === "string" ? oneLine(message) : undefined;
}

function validationErrors(issues: readonly JsonValue[]): string {
  const texts = issues.flatMap((issue) => {
    const [msg, loc] = isJsonObject(issue) ? [valueAt(issue, "msg"), valueAt(issue, "loc")] : [];
    if (typeof msg !== "string") return [];
    const path = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
    return [path === "" ? msg : `${path}: ${msg}`];
  });
  return texts.join("; ");
}

/** Fit for a terminal and a cell. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > MAX_MESSAGE_CHARACTERS ? `${line.slice(0, MAX_MESSAGE_CHARACTERS)}…` : line;
}

function detailsOf(error: JsonObject): ErrorDetails {
  if (isDeeperThan(error)) return {};
  const { code: _, message: __, ...details } = Object.fromEntries(error instanceof Map ? error : Object.entries(error));
  return details;
}
