/** The one error of the house and the one table of its codes: exit code of the CLI, status of the API, whether a retry may help. */

import type { JsonValue } from "./decision/json.js";

interface ErrorKind {
  /** Exit code of a command that ends with this error. */
  readonly exit: 1 | 2;
  /** HTTP status. */
  readonly status: number;
  readonly retry: boolean;
}

const usage = { exit: 2, status: 400, retry: false } as const;
const fatal = { exit: 1, status: 500, retry: false } as const;
const later = { exit: 1, status: 529, retry: true } as const;

export const ERROR_KINDS = {
  // of a request: the codes of the wire
  invalid_json: usage,
  invalid_request: { ...usage, status: 422 },
  unknown_model: usage,
  too_many_questions: usage,
  too_many_options: usage,
  question_too_long: usage,
  state_too_long: usage,
  processed_tokens_exceeded: usage,
  // of a caller of the service (CONTRACT 7)
  invalid_http: usage,
  unauthorized: { ...usage, status: 401 },
  allowance_exhausted: { ...usage, status: 402 },
  forbidden: { ...usage, status: 403 },
  not_found: { ...usage, status: 404 },
  method_not_allowed: { ...usage, status: 405 },
  request_timeout: { ...usage, status: 408, retry: true },
  body_too_large: { ...usage, status: 413 },
  rate_limited: { ...later, status: 429 },
  in_flight_limited: { ...later, status: 429 },
  worker_busy: later,
  worker_starting: later,
  // of a row of a file
  malformed_row: usage,
  state_missing: usage,
  // of a row that an endpoint was asked about
  endpoint_refused: fatal,
  endpoint_failed: { ...fatal, retry: true },
  endpoint_answer_invalid: fatal,
  // of an invocation
  invalid_usage: usage,
  input_missing: usage,
  input_unsupported: usage,
  input_damaged: fatal,
  output_exists: usage,
  output_locked: usage,
  output_changed: usage,
  run_changed: usage,
  input_changed: usage,
  unknown_deployment: usage,
  // of the machine
  checkpoint_missing: fatal,
  checkpoint_damaged: fatal,
  output_failed: fatal,
  too_many_errors: fatal,
  accounts_unavailable: fatal,
  cache_unavailable: fatal,
  address_unavailable: fatal,
  queue_unavailable: { ...fatal, retry: true },
  endpoint_unusable: fatal,
  worker_crashed: { ...fatal, retry: true },
  aborted: { ...fatal, retry: true },
  internal: fatal,
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;
export type ErrorDetails = Readonly<Record<string, JsonValue>>;

/** An error that says what is wrong, where, and what to do; it never holds the user's text. */
export class QaError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    { details = {}, cause }: { details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "QaError";
    this.code = code;
    this.details = details;
  }

  /** `{code, message, ...details}`: the error as the wire and a failed row show it. */
  toJSON(): { code: ErrorCode; message: string } & ErrorDetails {
    return { code: this.code, message: this.message, ...this.details };
  }
}

/** Any thrown value as a QaError; what is not one becomes `internal`, its text kept as the cause only. */
export function toQaError(error: unknown): QaError {
  if (error instanceof QaError) return error;
  return new QaError("internal", "something went wrong inside qa; this is a bug in qa", { cause: error });
}
