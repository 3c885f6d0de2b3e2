/** The service over an engine: routes, hooks and errors wired together. It never listens; `serve.ts` does. */

import { STATUS_CODES } from "node:http";
import fastify, { type FastifyInstance, LogController } from "fastify";
import type { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { DEFAULT_ACCOUNT } from "./accounts/accounts.js";
import { Limiter } from "./accounts/limiter.js";
import { Admission } from "./admission.js";
import { callOf, openCall } from "./call.js";
import { resolveServerConfig, type ServerConfig, type ServerOptions } from "./config.js";
import { errorBody, errorHeaders, sendError, statusOf, wireErrorOf } from "./errors.js";
import { createMetrics } from "./metrics.js";
import { allowOrigin, assertOwnHostAndOrigin } from "./origin-guard.js";
import { Readiness } from "./readiness.js";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.js";
import { modelsRoute } from "./routes/models.js";
import { operationsRoutes } from "./routes/operations.js";
import { pagesRoutes } from "./routes/pages.js";
import { systemOneRoute } from "./routes/system-one.js";
import type { Service } from "./service.js";
import { Turns } from "./turns.js";

export interface App {
  readonly http: FastifyInstance;
  /** Resolves when the checkpoints are loaded; rejects where they cannot be. Until then calls get a 529. */
  readonly started: Promise<void>;
  /** Takes no more calls, gives those in hand some time, and closes; what is unanswered then is not charged. */
  drain(timeoutMs: number): Promise<void>;
}

const DRAIN_POLL_MS = 20;
/** For responses that are on their way when all else is done. */
const LAST_RESPONSES_MS = 2_000;
/** Asked for every few seconds by machines. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Builds the service; it starts to load the checkpoints at once. */
export async function createApp(engine: Engine, options: ServerOptions): Promise<App> {
  const config = resolveServerConfig(options, engine.config.workers);
  if (!config.requireKey) config.accounts.keys.saveAccount(DEFAULT_ACCOUNT);
  const stop = new AbortController();
  const service = createService(engine, config, stop.signal);
  const http = createHttp(config);
  addHooks(http, service);
  systemOneRoute(http, service);
  modelsRoute(http, service);
  operationsRoutes(http, service);
  await pagesRoutes(http, service);
  answerTheRest(http);
  const { readiness, admission } = service;
  return {
    http,
    started: readiness.started,
    async drain(timeoutMs) {
      readiness.drain();
      const until = performance.now() + timeoutMs;
      while (admission.inHand > 0 && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
      stop.abort();
      // a connection that was opened and never used is not idle to Node.js, and would be waited for until it times out
      const cut = setTimeout(() => http.server.closeAllConnections(), LAST_RESPONSES_MS);
      await http.close();
      clearTimeout(cut);
    },
  };
}

function createService(engine: Engine, config: ServerConfig, stop: AbortSignal): Service {
  const readiness = new Readiness(() => engine.warm());
  const admission = new Admission(config.maxCallsInHand, config.now);
  const metrics = createMetrics(
    {
      inHand: () => admission.inHand,
      waiting: () => engine.load.waiting,
      running: () => engine.load.running,
      workerCrashes: () => engine.workerCrashes,
      isReady: () => readiness.phase === "ready",
    },
    config,
  );
  return { engine, config, readiness, admission, limiter: new Limiter(config.now), metrics, turns: new Turns(), stop };
}

function createHttp({ bodyLimitBytes, requestTimeoutMs, headersTimeoutMs, log }: ServerConfig): FastifyInstance {
  const http = fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: 1_000 },
    genReqId: requestIdOf,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    logger: log === undefined ? false : { level: log.level, stream: log.stream, base: null },
    return503OnClosing: false,
    forceCloseConnections: "idle",
    exposeHeadRoutes: true,
    clientErrorHandler(error, socket) {
      if (error.code === "ECONNRESET" || socket.destroyed) return;
      socket.end(rawResponse(clientErrorOf(error.code)));
    },
    frameworkErrors: (error, request, reply) => {
      reply.header(REQUEST_ID_HEADER, request.id);
      sendError(reply, wireErrorOf(error));
    },
  });
  http.removeAllContentTypeParsers();
  http.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  return http;
}

function addHooks(http: FastifyInstance, service: Service): void {
  const { config, metrics, readiness } = service;
  http.addHook("onRequest", async (request, reply) => {
    openCall(request, reply);
    delete request.raw.headers["content-type"]; // a body is JSON whatever this says, also where it says nothing valid
    reply.header(REQUEST_ID_HEADER, request.id).header("x-content-type-options", "nosniff");
    reply.header("cache-control", "no-store");
    assertOwnHostAndOrigin({ host: request.headers.host, origin: request.headers.origin }, config);
    if (allowOrigin(request, reply, config)) return reply;
    return undefined;
  });
  http.addHook("onSend", async (_request, reply) => {
    if (readiness.phase === "draining") reply.header("connection", "close"); // or closing would wait for it to go idle
  });
  http.addHook("onResponse", async (request, reply) => {
    const { caller, code, facts, startedMs } = callOf(request);
    const route = request.routeOptions.url ?? "none";
    const elapsedMs = performance.now() - startedMs;
    metrics.response({ route, status: reply.statusCode, code, seconds: elapsedMs / 1000 });
    const account = caller?.account.name;
    const level = PROBES.has(route) ? "debug" : "info";
    request.log[level](
      { method: request.method, route, status: reply.statusCode, code, ms: Math.round(elapsedMs), account, ...facts },
      "response",
    );
  });
  http.setErrorHandler((thrown, request, reply) => {
    const error = wireErrorOf(thrown);
    const call = callOf(request);
    call.code = error.code;
    if (error.code === "internal") request.log.error({ error: causeOf(thrown) }, "a request failed");
    if (thrown instanceof QaError && thrown.code === "worker_crashed") void readiness.recover();
    if (call.caller !== undefined) config.accounts.ledger.noteRefusal(call.caller.account.name, error.code);
    return sendError(reply, error);
  });
}

/** The stack of what went wrong, and of what caused it. An error's own message never holds a user's text (STYLE). */
function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const { cause } = thrown;
  return cause instanceof Error ? `${thrown.stack}\ncaused by ${cause.stack}` : `${thrown.stack}`;
}

/** 405 for a known path with another method, else 404. */
function answerTheRest(http: FastifyInstance): void {
  http.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?");
    const methods = (["GET", "POST"] as const).filter((method) => http.findRoute({ url: path, method }) !== null);
    const call = callOf(request);
    const error =
      methods.length === 0
        ? new QaError("not_found", "the path is not one of this service; GET /openapi.json lists them")
        : new QaError("method_not_allowed", `this path takes ${methods.join(" and ")} only`);
    call.code = error.code;
    if (methods.length > 0) reply.header("allow", methods.join(", "));
    return sendError(reply, error);
  });
}

/** What the HTTP parser or its timeouts refused before there was a request. */
function clientErrorOf(code: string | undefined): QaError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new QaError("request_timeout", "the request took too long to arrive; try again");
  return new QaError("invalid_http", "this is not HTTP/1.1 as this service reads it");
}

function rawResponse(error: QaError): string {
  const body = errorBody(error);
  const headers = {
    ...errorHeaders(error),
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusOf(error)} ${STATUS_CODES[statusOf(error)] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}
