/** Who answers the requests of a run: the engine of this machine, or whoever else takes requests one by one. */

import type { JsonValue } from "../decision/json.js";
import type { ParsedRequest } from "../decision/request.js";
import type { ChunkOptions } from "../engine/chunked-reading.js";
import type { Decision } from "../engine/decision.js";
import type { Engine } from "../engine/engine.js";
import type { Route } from "../engine/router.js";

export interface AnswerOptions {
  /** Have states over the room answered in chunks; an error without. */
  readonly chunk?: ChunkOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why a request was answered where it was: by a checkpoint that the engine chose, or by an endpoint that was asked. */
export type AnsweredBy = Route | { readonly reason: { readonly type: "endpoint"; readonly host: string } };

export interface Answered extends Omit<Decision, "route"> {
  readonly route: AnsweredBy;
  /** Where nobody was asked anew: taken from an equal row of this `run`, or from the `cache` of an earlier one. */
  readonly reused?: "run" | "cache" | undefined;
}

export interface Answerer {
  /** Requests that it is worth having in hand at once. */
  readonly windowRows: number;
  /** Whether a choice without instructions is an error (CONTRACT 3). */
  readonly choiceNeedsInstructions: boolean;
  /** What of it decides the answers, as plain JSON: a run is gone on with only by the same. @throws QaError */
  identity(): Promise<{ readonly [key: string]: JsonValue }>;
  /** @throws QaError: the row's error, but for `checkpoint_missing`, `checkpoint_damaged`, `endpoint_unusable`: the run's */
  answer(request: ParsedRequest, options: AnswerOptions): Promise<Answered>;
}

/** The engine as who answers; questions over the limits of one call are split over several. */
export function engineAnswerer(engine: Engine): Answerer {
  return {
    windowRows: engine.config.windowRows,
    choiceNeedsInstructions: engine.deployment.choiceNeedsInstructions,
    identity: () => engine.identity(),
    answer: (request, options) => engine.decide(request, { ...options, limits: "split" }),
  };
}
