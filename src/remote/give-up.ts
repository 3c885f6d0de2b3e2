/** The ends of a call that got no answer: an error of the row, or of the whole run. */

import { QaError } from "../errors.js";
import type { Endpoint } from "./endpoints.js";
import type { Reply } from "./post-request.js";
import { inWords, readRefusal } from "./read-refusal.js";

/** The failed tries of a call. */
export interface Failures {
  readonly count: number;
  /** Host -> tries there. */
  readonly byHost: ReadonlyMap<string, number>;
  readonly last: { readonly host: string; readonly reply: Reply };
  /** Whether none brought a word of any host. */
  readonly allSilent: boolean;
}

export function countFailure(before: Failures | undefined, { host }: Endpoint, reply: Reply): Failures {
  return {
    byHost: new Map(before?.byHost).set(host, (before?.byHost.get(host) ?? 0) + 1),
    count: (before?.count ?? 0) + 1,
    last: { host, reply },
    allSilent: (before?.allSilent ?? true) && (reply.type === "unreachable" || reply.type === "broken"),
  };
}

export function failedRow({ count, last: { host, reply } }: Failures, deadlineMs: number): QaError {
  const tries = count === 1 ? "1 try" : `${count} tries`;
  return new QaError(
    "endpoint_failed",
    `no answer within the deadline of ${seconds(deadlineMs)}, after ${tries}; the last, ${host}: ${describe(reply, host)}`,
    { details: { host, tries: count, ...(reply.type === "response" && { status: reply.status }) } },
  );
}

export function unreachable({ last: { host, reply } }: Failures, elapsedMs: number): QaError {
  return new QaError(
    "endpoint_unusable",
    `no endpoint could be reached for ${seconds(elapsedMs)}; the last, ${host}: ${describe(reply, host)}; see whether it runs and whether --endpoint names it`,
  );
}

/** Statuses that say that the address or the key is wrong, not the request: no other request will fare better. */
export function refusesAll(status: number): boolean {
  return (status >= 300 && status < 400) || [401, 403, 404, 405].includes(status);
}

export function unusable(
  { host, url }: Endpoint,
  response: { readonly status: number; readonly text: string },
): QaError {
  const { status } = response;
  return new QaError(
    "endpoint_unusable",
    `${url} refuses the calls of this run: ${inWords(readRefusal(response, host))}; ${advice(status)}`,
  );
}

function advice(status: number): string {
  if (status === 401 || status === 403) return "set TYPESAFE_API_KEY to a key of this service";
  if (status < 400) return "redirects are not followed, as the key would go along; pass the URL that it moved to";
  return "pass the base URL of a System One service to --endpoint, and to --model a name that it knows";
}

function describe(reply: Reply, host: string): string {
  switch (reply.type) {
    case "response":
      return `status ${inWords(readRefusal(reply, host))}`;
    case "unreachable":
      return `no connection (${reply.reason})`;
    case "broken":
      return `the connection broke (${reply.reason})`;
    case "timeout":
      return "took the call and did not answer";
    default:
      return reply satisfies never;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
