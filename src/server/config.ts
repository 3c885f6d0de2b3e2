/** What a service is told: complete and readonly, made of partial options once. */

import type { Accounts } from "./accounts/accounts.js";

export interface ServerOptions {
  /** Opened accounts; their owner closes them after the service. */
  readonly accounts: Accounts;
  /** Without keys everyone is the account `default`. Default: keys are required. */
  readonly requireKey?: boolean;
  /** Address listened on; on a loopback one Host and Origin are checked. */
  readonly host?: string;
  /** Further host names by which a loopback service may be called, e.g. those of a proxy in front of it. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call the service. */
  readonly allowedOrigins?: readonly string[];
  readonly bodyLimitBytes?: number;
  /** Calls that may be in hand at once, waiting ones included; default 64 a worker. */
  readonly maxCallsInHand?: number;
  /** Time to send a whole request, and its headers. */
  readonly requestTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  /** Milliseconds since 1970, in place of the system's clock. */
  readonly now?: () => number;
  /** Where log lines go, as NDJSON; default nowhere. */
  readonly log?: { readonly level: string; readonly stream: { write(line: string): void } };
  /** Also show the process's own numbers in /metrics. */
  readonly processMetrics?: boolean;
}

export interface ServerConfig {
  readonly accounts: Accounts;
  readonly requireKey: boolean;
  readonly isLoopback: boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyLimitBytes: number;
  readonly maxCallsInHand: number;
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly now: () => number;
  readonly log: ServerOptions["log"];
  readonly processMetrics: boolean;
}

const CALLS_PER_WORKER = 64;

export function resolveServerConfig(options: ServerOptions, workers: number): ServerConfig {
  return {
    accounts: options.accounts,
    requireKey: options.requireKey ?? true,
    isLoopback: isLoopback(options.host ?? "127.0.0.1"),
    allowedHosts: (options.allowedHosts ?? []).map((host) => host.toLowerCase()),
    allowedOrigins: options.allowedOrigins ?? [],
    bodyLimitBytes: options.bodyLimitBytes ?? 2 ** 20,
    maxCallsInHand: options.maxCallsInHand ?? CALLS_PER_WORKER * workers,
    requestTimeoutMs: options.requestTimeoutMs ?? 15_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    now: options.now ?? Date.now,
    log: options.log,
    processMetrics: options.processMetrics ?? false,
  };
}

/** Whether an address or host name reaches this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}
