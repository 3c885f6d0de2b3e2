/** What the answers of an engine depend on beside the request: as long as it is the same, so are they. */

import { DECISION_VERSION } from "../decision/version.js";
import { QaError } from "../errors.js";
import type { Role } from "./deployment.js";
import type { Engine } from "./engine.js";

/**
 * The decision's version, the deployment with its routing, and the fingerprints of both checkpoints. Which of them answers
 * is known only after routing; a change of either is another identity, which costs less than it saves.
 */
export async function identityOf(engine: Engine): Promise<string> {
  const [english, multilingual] = await Promise.all([
    fingerprintOf(engine, "english"),
    fingerprintOf(engine, "multilingual"),
  ]);
  return JSON.stringify([DECISION_VERSION, engine.deployment, { english, multilingual }]);
}

/** A checkpoint that is not there gives no answers: a run that needs it says so. */
async function fingerprintOf(engine: Engine, role: Role): Promise<string | null> {
  try {
    return (await engine.model(role)).checkpoint.fingerprint;
  } catch (error) {
    if (error instanceof QaError) return null;
    throw error;
  }
}
