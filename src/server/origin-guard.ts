/**
 * Who may call from a browser. On a loopback address a page of the web could reach this service through the user's browser
 * (DNS rebinding, simple cross-site posts): there Host and Origin must be our own or allowed. CORS only where allowed.
 */

import type { FastifyReply, FastifyRequest } from "fastify";
import { QaError } from "../errors.js";
import { isLoopback, type ServerConfig } from "./config.js";

type GuardConfig = Pick<ServerConfig, "isLoopback" | "allowedHosts" | "allowedOrigins">;

/** @throws QaError `forbidden` */
export function assertOwnHostAndOrigin(
  { host, origin }: { readonly host: string | undefined; readonly origin: string | undefined },
  config: GuardConfig,
): void {
  if (!config.isLoopback) return;
  const name = host?.toLowerCase().replace(/:\d+$/, "");
  if (name === undefined || !(isLoopback(name) || config.allowedHosts.includes(name)))
    throw new QaError(
      "forbidden",
      "the Host header names another machine; call this service by localhost, or start it with --allow-host",
    );
  if (origin === undefined || config.allowedOrigins.includes(origin) || origin === `http://${host}`) return;
  if (config.allowedHosts.includes(name) && origin === `https://${host}`) return; // behind a proxy that ends TLS
  throw new QaError(
    "forbidden",
    "the call comes from a page of another origin; start the service with --allow-origin to let that page call it",
  );
}

const EXPOSED = "x-typesafe-request-id, x-service-error-code, retry-after, retry-after-ms, x-qa-cost, x-qa-route";

/** CORS headers for an allowed origin; answers its preflight and returns true then. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, config: GuardConfig): boolean {
  const { origin } = request.headers;
  if (config.allowedOrigins.length === 0) return false;
  reply.header("vary", "origin");
  if (origin === undefined || !config.allowedOrigins.includes(origin)) return false;
  reply.header("access-control-allow-origin", origin).header("access-control-expose-headers", EXPOSED);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  const asked = request.headers["access-control-request-headers"];
  reply.header("access-control-allow-methods", "GET, POST").header("access-control-max-age", "600");
  if (asked !== undefined) reply.header("access-control-allow-headers", asked);
  reply.code(204).send();
  return true;
}
