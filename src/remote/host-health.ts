/**
 * Which host to ask. A host that failed several times in a row rests, longer each time; then one call tries it while the
 * others still go elsewhere. A host that asked for a pause rests for that. Pure.
 */

export interface HostHealth {
  /** Failures that counted since the host last answered. */
  readonly failures: number;
  /** When the last of them came. */
  readonly failedMs: number;
  /** In the past where the host may be asked. */
  readonly restUntilMs: number;
}

export interface Candidate {
  readonly host: string;
  readonly health: HostHealth;
  /** Calls in flight or queued. */
  readonly load: number;
  /** Calls so far. */
  readonly sent: number;
}

export const HEALTHY: HostHealth = {
  failures: 0,
  failedMs: Number.NEGATIVE_INFINITY,
  restUntilMs: Number.NEGATIVE_INFINITY,
};

const FAILURES_TO_REST = 3;
const FIRST_REST_MS = 1_000;
/** So that a host that is back is found soon. */
const MAX_REST_MS = 5_000;

export function isResting({ restUntilMs }: HostHealth, nowMs: number): boolean {
  return restUntilMs > nowMs;
}

/** After a call that got no answer. Once a host rests, the calls that were sent to it before do not count. */
export function afterFailure(
  health: HostHealth,
  { sentMs, nowMs }: { readonly sentMs: number; readonly nowMs: number },
): HostHealth {
  if (isSuspect(health) && sentMs <= health.failedMs) return health;
  const failed = { ...health, failures: health.failures + 1, failedMs: nowMs };
  return isSuspect(failed) ? { ...failed, restUntilMs: nowMs + restMs(failed) } : failed;
}

/** After the host asked for a pause: it lives. */
export function afterPauseAsked(pauseMs: number, nowMs: number): HostHealth {
  return { ...HEALTHY, restUntilMs: nowMs + pauseMs };
}

/** Before a call to a host: one that failed lets a single call try it, and rests on for all others. */
export function whenAsked(health: HostHealth, nowMs: number): HostHealth {
  return isSuspect(health) ? { ...health, restUntilMs: nowMs + restMs(health) } : health;
}

/**
 * The host to ask, and for how long to wait before: of those that may be asked the one that this row has failed at least, then
 * the least busy.
 */
export function chooseHost<T extends Candidate>(
  hosts: readonly T[],
  { nowMs, failed }: { readonly nowMs: number; readonly failed?: ReadonlyMap<string, number> | undefined },
): { host: T; waitMs: number } {
  const waitOf = ({ health }: T) => Math.max(0, health.restUntilMs - nowMs);
  const failuresAt = ({ host }: T) => failed?.get(host) ?? 0;
  const [host] = hosts.toSorted(
    (a, b) => waitOf(a) - waitOf(b) || failuresAt(a) - failuresAt(b) || a.load - b.load || a.sent - b.sent,
  );
  if (host === undefined) throw new Error("there is no host to choose from; this is a bug in qa");
  return { host, waitMs: waitOf(host) };
}

function isSuspect({ failures }: HostHealth): boolean {
  return failures >= FAILURES_TO_REST;
}

function restMs({ failures }: HostHealth): number {
  return Math.min(FIRST_REST_MS * 2 ** (failures - FAILURES_TO_REST), MAX_REST_MS);
}
