/** For those who run the service: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`. None needs a key, none tells of users. */

import type { FastifyInstance } from "fastify";
import { openApi } from "../openapi.js";
import type { Service } from "../service.js";

export function operationsRoutes(app: FastifyInstance, { engine, readiness, admission, metrics }: Service): void {
  app.get("/healthz", async () => ({ status: "ok" }));

  app.get("/readyz", async (_request, reply) => {
    const { waiting, running } = engine.load;
    return reply.code(readiness.phase === "ready" ? 200 : 503).send({
      status: readiness.phase,
      in_flight: admission.inHand,
      limit: admission.limit,
      queue: waiting,
      batches: running,
      worker_crashes: engine.workerCrashes,
    });
  });

  app.get("/metrics", async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));

  const document = openApi(engine.deployment);
  app.get("/openapi.json", async () => document);
}
