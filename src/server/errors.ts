/** Errors on the wire (CONTRACT 7): any thrown value becomes a code, a status and a body that holds no internals. */

import type { FastifyReply } from "fastify";
import { stringifyJson } from "../decision/json.js";
import { ERROR_KINDS, type ErrorCode, QaError, toQaError } from "../errors.js";
import { retryAfter } from "./retry-after.js";

export const WIRE_CODES = [
  "invalid_json",
  "invalid_http",
  "invalid_request",
  "unknown_model",
  "too_many_questions",
  "too_many_options",
  "question_too_long",
  "state_too_long",
  "processed_tokens_exceeded",
  "unauthorized",
  "allowance_exhausted",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "request_timeout",
  "body_too_large",
  "rate_limited",
  "in_flight_limited",
  "worker_busy",
  "worker_starting",
  "internal",
] as const satisfies readonly ErrorCode[];

/** The error as a client may see it; what is of the machine becomes `internal` without its text. */
export function wireErrorOf(error: unknown): QaError {
  const own = toQaError(fromFramework(error) ?? error);
  if ((WIRE_CODES as readonly string[]).includes(own.code) && own.code !== "internal") return own;
  switch (own.code) {
    case "aborted":
      return new QaError("worker_busy", "the call was given up, as the service is shutting down; try again", {
        details: retryAfter(0),
      });
    case "worker_crashed":
      return new QaError("internal", "an inference worker crashed twice on this call; try again", { cause: own });
    default:
      return new QaError("internal", "something went wrong inside the service; its log says more", { cause: own });
  }
}

export function statusOf({ code }: QaError): number {
  return ERROR_KINDS[code].status;
}

/** The headers of an error response. */
export function errorHeaders({ code, details }: QaError): Record<string, string> {
  const { retry_after_ms: retryAfterMs } = details;
  return {
    "x-service-error-code": code,
    ...(typeof retryAfterMs === "number" && {
      "retry-after": String(retryAfterMs / 1000),
      "retry-after-ms": String(retryAfterMs),
    }),
    ...(code === "unauthorized" && { "www-authenticate": "Bearer" }),
  };
}

export function errorBody(error: QaError): string {
  return stringifyJson({ error: error.toJSON() });
}

export function sendError(reply: FastifyReply, error: QaError): FastifyReply {
  const status = statusOf(error);
  if (status === 529) reply.raw.statusMessage = "Site Is Overloaded"; // a status that Node.js has no name for
  return reply.code(status).headers(errorHeaders(error)).type("application/json; charset=utf-8").send(errorBody(error));
}

/** Fastify's own errors that a client can cause. */
function fromFramework(error: unknown): QaError | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new QaError("body_too_large", "the body is larger than this service reads; send less");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
      return new QaError("invalid_json", "the body is not of the length that its header says");
    case "FST_ERR_BAD_URL":
    case "FST_ERR_ASYNC_CONSTRAINT":
      return new QaError("not_found", "the path is not one of this service");
    default:
      return undefined;
  }
}
