/**
 * What a checkpoint family does inside an inference worker. `core` reads a state once for all its questions; another family
 * (one sequence a question, CONTRACT 6) is one more file that implements this.
 */

import type { QuestionType } from "../decision/question.js";
import { QaError } from "../errors.js";
import { openCoreFamily } from "./core-family.js";
import type { OpenSession } from "./session.js";

/** What a family needs of a checkpoint; plain data, so that it crosses to a worker. */
export interface FamilyCheckpoint {
  readonly name: string;
  readonly family: string;
  /** graph name -> absolute path. */
  readonly graphs: Readonly<Record<string, string>>;
  readonly hiddenSize: number;
  readonly padId: number;
  readonly sepId: number;
}

/** A tokenised question as a family compiles it. */
export interface FamilyQuestion {
  readonly type: QuestionType;
  /** `[CLS] head [SEP]` */
  readonly head: readonly number[];
  /** `[MASK] option`, one per option. */
  readonly options: readonly (readonly number[])[];
}

/** A question set as its family wants to have it for every batch; plain data, opaque to everyone else. */
export type CompiledPrefix = { readonly type: string };

/** States of one batch that are asked the same questions. */
export interface BatchGroup<P extends CompiledPrefix = CompiledPrefix> {
  readonly prefix: P;
  /** Token ids of each state, without the closing separator. */
  readonly states: readonly (readonly number[])[];
}

export interface Family {
  /** Encodes a question set once, however many states it will be asked of. */
  compile(questions: readonly FamilyQuestion[]): Promise<CompiledPrefix>;
  /** Logits of every state, groups one after the other: [options of all its questions, in order] each. */
  decide(groups: readonly BatchGroup[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Opens the family that a checkpoint names. */
export async function openFamily(checkpoint: FamilyCheckpoint, openSession: OpenSession): Promise<Family> {
  if (checkpoint.family === "core") return openCoreFamily(checkpoint, openSession);
  throw new QaError(
    "checkpoint_damaged",
    `checkpoint ${checkpoint.name} is of the family "${checkpoint.family}", which this version of qa does not know; update qa`,
  );
}
