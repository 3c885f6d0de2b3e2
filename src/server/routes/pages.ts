/** The pages and their files, and what they ask the service for: `/app`, `/app/usage`, `/app/assets/*`, `/app/room`. */

import type { FastifyInstance, FastifyReply } from "fastify";
import { QaError } from "../../errors.js";
import { callOf, whenOver } from "../call.js";
import { authenticate } from "../caller.js";
import {
  ASSET_HEADERS,
  createPageContext,
  measureWith,
  PAGE_HEADERS,
  type PageContext,
  playgroundPage,
  readAssets,
  roomRoute,
  usagePage,
} from "../pages/index.js";
import type { Service } from "../service.js";
import { usageOf } from "./usage.js";

export async function pagesRoutes(app: FastifyInstance, service: Service): Promise<void> {
  const { engine, config, readiness, admission } = service;
  const context = await createPageContext(engine.deployment, {
    keyRequired: config.requireKey,
    host: config.isLoopback ? "127.0.0.1" : "this server",
  });
  const assets = readAssets();
  app.get("/app", async (_request, reply) => sendPage(reply, playgroundPage, context));
  app.get("/app/usage", async (request, reply) => {
    const { accept = "*/*" } = request.headers;
    if (accept.includes("text/html") && !accept.includes("application/json"))
      return sendPage(reply, usagePage, context);
    return reply.header("vary", "accept").send(usageOf(request, service));
  });
  app.get<{ Params: { "*": string } }>("/app/assets/*", async (request, reply) => {
    const path = request.params["*"];
    const asset = Object.hasOwn(assets, path) ? assets[path] : undefined;
    if (asset === undefined) throw new QaError("not_found", "there is no such file; start at /app");
    return reply.headers(ASSET_HEADERS).type(asset.type).send(asset.body);
  });
  await app.register(async (authenticated) => {
    authenticated.addHook("onRequest", async (request, reply) => {
      callOf(request).caller = authenticate(request, config);
      readiness.assertAccepting();
      whenOver(reply, admission.enter()); // measuring tokenises, which takes its place in the queue
    });
    await authenticated.register(roomRoute(measureWith(engine)));
  });
}

function sendPage(reply: FastifyReply, page: (context: PageContext) => string, context: PageContext): FastifyReply {
  return reply.headers(PAGE_HEADERS).type("text/html; charset=utf-8").send(page(context));
}
