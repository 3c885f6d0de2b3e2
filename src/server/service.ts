/** What the routes of a service share. */

import type { Engine } from "../engine/engine.js";
import type { Limiter } from "./accounts/limiter.js";
import type { Admission } from "./admission.js";
import type { ServerConfig } from "./config.js";
import type { Metrics } from "./metrics.js";
import type { Readiness } from "./readiness.js";
import type { Turns } from "./turns.js";

export interface Service {
  readonly engine: Engine;
  readonly config: ServerConfig;
  readonly readiness: Readiness;
  readonly admission: Admission;
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly turns: Turns;
  /** Aborted where the service stops waiting for calls in hand. */
  readonly stop: AbortSignal;
}
