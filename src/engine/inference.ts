/** What the engine asks of inference, and the messages between the main thread and an inference worker. Plain data only. */

import type { ErrorCode, ErrorDetails } from "../errors.js";
import type { BatchGroup, CompiledPrefix, FamilyCheckpoint, FamilyQuestion } from "./family.js";

export interface Inference {
  /** Batches worth handing over at once: enough to keep every worker busy while its next batch is prepared. */
  readonly slots: number;
  /** Workers that ended unasked since the pool was opened; absent where there are no workers. */
  readonly crashes?: number;
  compile(checkpoint: FamilyCheckpoint, questions: readonly FamilyQuestion[]): Promise<CompiledPrefix>;
  /** Logits of every state, groups one after the other. */
  decide(checkpoint: FamilyCheckpoint, groups: readonly BatchGroup[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export type Task =
  | { readonly type: "compile"; readonly checkpoint: FamilyCheckpoint; readonly questions: readonly FamilyQuestion[] }
  | { readonly type: "decide"; readonly checkpoint: FamilyCheckpoint; readonly groups: readonly BatchGroup[] };

export type ToWorker = { readonly type: "task"; readonly id: number; readonly task: Task } | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "done"; readonly id: number; readonly result: unknown }
  | {
      readonly type: "failed";
      readonly id: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails };
    };
