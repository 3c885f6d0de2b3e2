/** Whether and when to try again. Pure: what failed, how often, how long ago the first try was -> a wait or the end. */

export interface Failure {
  /** Of the response, absent where there was none. */
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
}

export interface Standing {
  /** Tries that failed before this one. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly deadlineMs: number;
  /** Wall clock. */
  readonly dateMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** `hostRestMs`: what the host asked to be left alone for; another host may be asked before. */
export type RetryPlan =
  | { readonly type: "wait"; readonly waitMs: number; readonly hostRestMs: number | undefined }
  | { readonly type: "give_up"; readonly reason: "refused" | "deadline"; readonly hostRestMs: number | undefined };

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** A told wait of nothing is not believed, or a busy host would be asked without end. */
const MIN_WAIT_MS = 50;
/** A longer one is not either, as in the official client. */
const MAX_TOLD_MS = 60_000;

/** 408, 429 and 5xx, as the official clients have it. */
export function isWorthRetry(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

export function planRetry({ status, headers }: Failure, standing: Standing): RetryPlan {
  if (status !== undefined && !isWorthRetry(status))
    return { type: "give_up", reason: "refused", hostRestMs: undefined };
  const { attempt, elapsedMs, deadlineMs, dateMs, random } = standing;
  const toldMs = headers === undefined ? undefined : toldWaitMs(headers, dateMs);
  const hostRestMs = toldMs !== undefined && toldMs <= MAX_TOLD_MS ? Math.max(MIN_WAIT_MS, toldMs) : undefined;
  const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** attempt, MAX_WAIT_MS) * (1 - random / 2);
  const waitMs = Math.min(hostRestMs ?? backoffMs, backoffMs);
  if (elapsedMs + waitMs >= deadlineMs) return { type: "give_up", reason: "deadline", hostRestMs };
  return { type: "wait", waitMs, hostRestMs };
}

/** What `retry-after-ms`, else `Retry-After` (seconds or a date, RFC 9110 10.2.3) asks for; absent where neither can be read. */
export function toldWaitMs(headers: Headers, dateMs: number): number | undefined {
  const ms = numberOf(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const text = headers.get("retry-after");
  const seconds = numberOf(text);
  if (seconds !== undefined) return seconds * 1000;
  const date = text !== null && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - dateMs);
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
