/** What the service knows of a request while it is in hand: who calls, whether they still listen, and what to log of it. */

import type { FastifyReply, FastifyRequest } from "fastify";
import type { ErrorCode } from "../errors.js";
import type { Caller } from "./caller.js";

export interface Call {
  /** Monotonic. */
  readonly startedMs: number;
  readonly gone: AbortController;
  caller: Caller | undefined;
  code: ErrorCode | "ok";
  /** Numbers and names of this service, never text of a user. */
  facts: Readonly<Record<string, string | number>>;
}

const calls = new WeakMap<FastifyRequest, Call>();

/** Starts the account of a request; its signal is aborted when the client goes away before the response is complete. */
export function openCall(request: FastifyRequest, reply: FastifyReply): Call {
  const gone = new AbortController();
  const call: Call = { startedMs: performance.now(), gone, caller: undefined, code: "ok", facts: {} };
  calls.set(request, call);
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return call;
}

export function callOf(request: FastifyRequest): Call {
  const call = calls.get(request);
  if (call === undefined) throw new Error("a request was not opened; this is a bug in qa");
  return call;
}

/** Runs `end` once the response is complete or the client is gone, whichever comes first. */
export function whenOver(reply: FastifyReply, end: () => void): void {
  reply.raw.once("finish", end);
  reply.raw.once("close", end);
}
