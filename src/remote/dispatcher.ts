/**
 * Brings a call to some host and its response back: bounded in flight per host, tried again elsewhere or later, until the
 * row's deadline. Knows HTTP, not what was asked.
 */

import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import type { RemoteConfig } from "../config.js";
import type { QaError } from "../errors.js";
import type { Clock } from "./clock.js";
import type { Deadline } from "./deadline.js";
import type { Endpoint } from "./endpoints.js";
import { countFailure, type Failures, failedRow, refusesAll, unreachable, unusable } from "./give-up.js";
import {
  afterFailure,
  afterPauseAsked,
  type Candidate,
  chooseHost,
  HEALTHY,
  type HostHealth,
  isResting,
  whenAsked,
} from "./host-health.js";
import { postRequest, type Reply } from "./post-request.js";
import { isWorthRetry, planRetry, type RetryPlan } from "./retry-plan.js";

/** The turn of a row: how long it may take, and whether it is still wanted. */
export interface Turn {
  readonly deadline: Deadline;
  readonly signal: AbortSignal;
}

export interface Landed {
  readonly host: string;
  /** Not one that is worth a retry. */
  readonly status: number;
  readonly text: string;
}

/**
 * @throws QaError `endpoint_failed`: the deadline came first; `endpoint_unusable`: no call can succeed; at an abort the
 * signal's reason
 */
export type Send = (body: string, turn: Turn) => Promise<Landed>;

type DispatchConfig = Pick<RemoteConfig, "inFlightPerHost" | "apiKey">;

interface Host extends Endpoint, Candidate {
  health: HostHealth;
  sent: number;
  /** Whether it has ever answered what was asked. */
  hasServed: boolean;
  /** Runs a call when there is room for it. */
  readonly limit: <T>(call: () => Promise<T>) => Promise<T>;
}

interface Fleet {
  readonly hosts: readonly Host[];
  readonly apiKey: string | undefined;
  readonly clock: Clock;
  /** When any host last said anything. */
  heardMs: number | undefined;
}

interface Outgoing {
  readonly body: string;
  /** One for all tries: a service that has charged for a try whose response was lost knows it again. */
  readonly id: string;
  readonly turn: Turn;
}

type Response = Extract<Reply, { readonly type: "response" }>;

interface Tried {
  readonly reply: Reply;
  readonly sentMs: number;
}

/** How long to wait for hosts of which nothing was ever heard: a wrong address should not take a whole deadline to tell. */
const FIRST_WORD_MS = 15_000;

export function createDispatcher(endpoints: readonly Endpoint[], config: DispatchConfig, clock: Clock): Send {
  const { inFlightPerHost, apiKey } = config;
  const hosts = endpoints.map((endpoint) => createHost(endpoint, inFlightPerHost));
  const fleet: Fleet = { hosts, apiKey, clock, heardMs: undefined };
  // a call chooses its host when there is room for it, not before: so none waits behind a slow host while another idles
  const admit = pLimit(hosts.length * inFlightPerHost);
  return (body, turn) => admit(() => send(fleet, { body, id: `qa-${randomUUID()}`, turn }));
}

function createHost(endpoint: Endpoint, inFlight: number): Host {
  const limit = pLimit(inFlight);
  return {
    ...endpoint,
    get load() {
      return limit.activeCount + limit.pendingCount;
    },
    health: HEALTHY,
    sent: 0,
    hasServed: false,
    limit,
  };
}

async function send(fleet: Fleet, outgoing: Outgoing): Promise<Landed> {
  const { clock } = fleet;
  const { deadline, signal } = outgoing.turn;
  let failures: Failures | undefined;
  for (;;) {
    signal.throwIfAborted();
    if (fleet.heardMs !== undefined) deadline.noteContact(fleet.heardMs);
    const { host, waitMs } = chooseHost(fleet.hosts, { nowMs: clock.nowMs(), failed: failures?.byHost });
    if (failures !== undefined && waitMs >= deadline.leftMs(clock.nowMs())) throw gaveUp(fleet, failures, deadline);
    if (waitMs > 0) {
      // each a little later, by chance: or all that wait would come at once
      await clock.sleep(waitMs * (1 + clock.random() / 10), signal);
      continue;
    }
    const tried = await host.limit(() => tryHost(fleet, host, { ...outgoing, attempt: failures?.count ?? 0 }));
    if (tried === undefined) continue;
    const { reply } = tried;
    if (reply.type === "response" && !isWorthRetry(reply.status)) return land(fleet, host, reply);
    failures = countFailure(failures, host, reply);
    if (reply.type === "unreachable") deadline.noteOutage(clock.nowMs());
    else deadline.noteContact(clock.nowMs());
    const plan = planNext(fleet, { reply, failures, deadline });
    noteFailure(fleet, host, { ...tried, plan });
    if (plan.type === "give_up") throw gaveUp(fleet, failures, deadline);
    await clock.sleep(plan.waitMs, signal);
  }
}

/** One try, unless the host has begun to rest while the call waited for room. */
async function tryHost(
  { clock, apiKey }: Fleet,
  host: Host,
  { body, id, turn: { deadline, signal }, attempt }: Outgoing & { readonly attempt: number },
): Promise<Tried | undefined> {
  const sentMs = clock.nowMs();
  if (isResting(host.health, sentMs)) return undefined;
  host.health = whenAsked(host.health, sentMs);
  host.sent++;
  deadline.start(sentMs);
  // half of the deadline at most: a host that takes a call and never answers leaves time to ask another
  const timeoutMs = Math.max(1, Math.min(deadline.ms / 2, deadline.leftMs(sentMs)));
  const headers = headersOf({ apiKey, id, attempt });
  return { reply: await postRequest({ url: host.url, headers, body, timeoutMs, signal }), sentMs };
}

function headersOf({ apiKey, id, attempt }: { apiKey: string | undefined; id: string; attempt: number }) {
  return {
    "content-type": "application/json",
    accept: "application/json",
    "user-agent": "qa",
    "x-typesafe-request-id": id,
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(attempt > 0 && { "x-typesafe-retry-count": String(attempt) }),
  };
}

/** @throws QaError `endpoint_unusable`: a host that has never answered refuses everything */
function land(fleet: Fleet, host: Host, { status, text }: Response): Landed {
  fleet.heardMs = fleet.clock.nowMs();
  host.health = HEALTHY;
  const isAnswered = status >= 200 && status < 300;
  if (!isAnswered && !host.hasServed && refusesAll(status)) throw unusable(host, { status, text });
  host.hasServed ||= isAnswered;
  return { host: host.host, status, text };
}

function planNext(
  { clock, heardMs }: Fleet,
  { reply, failures, deadline }: { reply: Reply; failures: Failures; deadline: Deadline },
): RetryPlan {
  const isUnheardOf = heardMs === undefined && failures.allSilent;
  return planRetry(reply.type === "response" ? reply : {}, {
    attempt: failures.count - 1,
    elapsedMs: deadline.elapsedMs(clock.nowMs()),
    deadlineMs: isUnheardOf ? Math.min(FIRST_WORD_MS, deadline.ms) : deadline.ms,
    dateMs: clock.dateMs(),
    random: clock.random(),
  });
}

function noteFailure(fleet: Fleet, host: Host, { reply, sentMs, plan }: Tried & { readonly plan: RetryPlan }): void {
  const nowMs = fleet.clock.nowMs();
  if (reply.type === "response") fleet.heardMs = nowMs;
  host.health =
    plan.hostRestMs === undefined
      ? afterFailure(host.health, { sentMs, nowMs })
      : afterPauseAsked(plan.hostRestMs, nowMs);
}

/** The row's error; the run's in an outage, and where nothing was ever heard. */
function gaveUp({ heardMs, clock }: Fleet, failures: Failures, deadline: Deadline): QaError {
  const isSilent = deadline.isOut || (heardMs === undefined && failures.allSilent);
  return isSilent ? unreachable(failures, deadline.elapsedMs(clock.nowMs())) : failedRow(failures, deadline.ms);
}
