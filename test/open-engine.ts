/** An engine over the sources under test whose inference workers run the built worker. */

import { Worker } from "node:worker_threads";
import type { EngineOptions } from "../src/config.js";
import { Engine } from "../src/engine/engine.js";
import { WorkerPool } from "../src/engine/worker-pool.js";

export function startBuiltWorker(): Worker {
  return new Worker(new URL("../dist/engine/worker.js", import.meta.url));
}

export function openEngine(options: EngineOptions = {}): Promise<Engine> {
  return Engine.open(options, WorkerPool.open(options.workers ?? 2, startBuiltWorker));
}
