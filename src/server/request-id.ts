/** The id of a request: the client's own where it sent a usable one, so that a retry is known again; else a new one. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const REQUEST_ID_HEADER = "x-typesafe-request-id";
const USABLE = /^[\x21-\x7e]{1,128}$/;

/** The id that the client gave, where it is printable ASCII of at most 128 characters. */
export function givenRequestId(request: IncomingMessage): string | undefined {
  const given = request.headers[REQUEST_ID_HEADER];
  return typeof given === "string" && USABLE.test(given) ? given : undefined;
}

export function requestIdOf(request: IncomingMessage): string {
  return givenRequestId(request) ?? `req_${randomUUID()}`;
}
