/** Who answers a run: the endpoints that its flags name, else the engine of this machine; equal rows once, also across runs. */

import { Flags } from "@oclif/core";
import { AnswerCache } from "../batch/answer-cache.js";
import { answerOnce, storeIdentityOf } from "../batch/answer-once.js";
import { type Answerer, engineAnswerer } from "../batch/answerer.js";
import { type EngineOptions, resolveRemoteConfig } from "../config.js";
import { resolveModel } from "../engine/deployment.js";
import { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { openRemote } from "../remote/remote-answerer.js";
import { inGroup } from "./flags.js";

export const endpointFlags = inGroup("endpoint", {
  endpoint: Flags.string({
    summary: "ask System One services in place of the engine; base URLs, separated by commas; key: TYPESAFE_API_KEY",
    helpValue: "URL[,URL]",
    exclusive: ["workers", "batch-tokens"],
  }),
  "in-flight": Flags.integer({
    summary: "calls in flight per endpoint (default 8)",
    helpValue: "N",
    min: 1,
    dependsOn: ["endpoint"],
  }),
  deadline: Flags.integer({
    summary: "seconds for a row at the endpoints, tries again included (default 120)",
    helpValue: "SECONDS",
    min: 1,
    max: 86_400,
    dependsOn: ["endpoint"],
  }),
});

interface EngineFlags extends EngineOptions {
  readonly model?: string | undefined;
  readonly models?: string | undefined;
  readonly "batch-tokens"?: number | undefined;
}

interface AnswererFlags extends EngineFlags {
  readonly endpoint?: string | undefined;
  readonly "in-flight"?: number | undefined;
  readonly deadline?: number | undefined;
  readonly long: "reject" | "chunk";
  readonly cache?: string | undefined;
}

export interface OpenAnswerer extends Answerer {
  close(): void | Promise<void>;
}

/**
 * Opens who answers, and with `--cache` what earlier runs kept; whoever opens it closes it.
 * @throws QaError `invalid_usage`, `unknown_deployment`, `unknown_model`, `cache_unavailable`
 */
export async function openAnswerer(flags: AnswererFlags): Promise<OpenAnswerer> {
  const cache = flags.cache === undefined ? undefined : AnswerCache.open(flags.cache);
  const own = await openOwnAnswerer(flags);
  return {
    ...answerOnce(own, { store: cache, identity: cache && (await storeIdentityOf(own)) }),
    async close() {
      await own.close();
      const failure = cache?.close();
      if (failure !== undefined) process.stderr.write(`qa: went on without the cache: ${failure.message}\n`);
    },
  };
}

/**
 * Opens the engine of this machine, once the model that all rows ask for is known; whoever opens it closes it.
 * @throws QaError `unknown_deployment`, `unknown_model`
 */
export async function openEngine(flags: EngineFlags): Promise<Engine> {
  const engine = await Engine.open({ ...flags, modelsDir: flags.models, maxBatchTokens: flags["batch-tokens"] });
  try {
    resolveModel(engine.deployment, flags.model);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openOwnAnswerer(flags: AnswererFlags): Promise<OpenAnswerer> {
  const { endpoint, deadline } = flags;
  if (endpoint === undefined) {
    const engine = await openEngine(flags);
    return { ...engineAnswerer(engine), close: () => engine.close() };
  }
  if (flags.long === "chunk")
    throw new QaError("invalid_usage", "--long chunk needs the engine's tokenizer; run without --endpoint, or reject");
  return openRemote(resolveRemoteConfig({ endpoint, inFlight: flags["in-flight"], deadlineSeconds: deadline }));
}
