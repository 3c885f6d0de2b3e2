/** The wait that a refused client is told (CONTRACT 7): whole seconds, at least 1 and at most 15, the same in all places. */

const MAX_RETRY_S = 15;

/** The details of an error that is worth a retry after a delay. */
export function retryAfter(delayMs: number): { readonly retry_after_ms: number } {
  const seconds = Math.ceil(delayMs / 1000 - 1e-6);
  return { retry_after_ms: Math.min(MAX_RETRY_S, Math.max(1, seconds)) * 1000 };
}
