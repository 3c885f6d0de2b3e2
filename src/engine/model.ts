/** A checkpoint ready to read under a deployment: its tokenizer, its limits there, and what a worker needs to open it. */

import type { Limits } from "../decision/room.js";
import { type Checkpoint, loadCheckpoint } from "./checkpoint.js";
import type { Deployment, Role } from "./deployment.js";
import type { FamilyCheckpoint } from "./family.js";
import { type CheckpointTokenizer, loadTokenizer } from "./tokenizer.js";

export interface Model {
  readonly checkpoint: Checkpoint;
  readonly tokenizer: CheckpointTokenizer;
  readonly limits: Limits;
  readonly familyCheckpoint: FamilyCheckpoint;
}

/**
 * Loads and verifies the checkpoint that a deployment gives a role.
 * @throws QaError `checkpoint_missing`, `checkpoint_damaged`
 */
export async function loadModel(deployment: Deployment, role: Role, modelsDir: string): Promise<Model> {
  const checkpoint = await loadCheckpoint(deployment.checkpoints[role], modelsDir);
  const tokenizer = await loadTokenizer(checkpoint);
  const limits = deployment.limits[role];
  const { name, family, graphs, hiddenSize } = checkpoint;
  const { pad: padId, sep: sepId } = tokenizer.special;
  return {
    checkpoint,
    tokenizer,
    limits: { ...limits, window: Math.min(limits.window, checkpoint.window) },
    familyCheckpoint: { name, family, graphs, hiddenSize, padId, sepId },
  };
}
