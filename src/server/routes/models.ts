/** `GET /v1/models`: every name that a request may use (CONTRACT 3). */

import type { FastifyInstance } from "fastify";
import type { Checkpoint } from "../../engine/checkpoint.js";
import { modelNames, type Role, resolveModel } from "../../engine/deployment.js";
import type { Engine } from "../../engine/engine.js";
import { authenticate } from "../caller.js";
import type { Service } from "../service.js";

interface ModelCard {
  readonly name: string;
  readonly description: string;
  readonly release_date: string;
}

export function modelsRoute(app: FastifyInstance, { engine, config, readiness }: Service): void {
  app.get("/v1/models", async (request) => {
    authenticate(request, config);
    readiness.assertAccepting();
    return { models: await modelCards(engine) };
  });
}

async function modelCards(engine: Engine): Promise<ModelCard[]> {
  const { deployment } = engine;
  const english = (await engine.model("english")).checkpoint;
  const multilingual = (await engine.model("multilingual")).checkpoint;
  const byRole: Record<Role, Checkpoint> = { english, multilingual };
  const [, latest = ""] = [english.releaseDate, multilingual.releaseDate].sort();
  return modelNames(deployment).map((name) => {
    const target = resolveModel(deployment, name);
    if (target.type === "routed")
      return {
        name,
        description: `The language of the state decides: ${english.name} for English, else ${multilingual.name}.`,
        release_date: latest,
      };
    const checkpoint = byRole[target.role];
    const { description, releaseDate } = checkpoint;
    const alias = name === checkpoint.name ? "" : `Alias of ${checkpoint.name}. `;
    return { name, description: `${alias}${description}`, release_date: releaseDate };
  });
}
