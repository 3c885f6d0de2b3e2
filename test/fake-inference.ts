/** Inference with deterministic logits, that records what it was asked and answers when told to. */

import type { BatchGroup, CompiledPrefix, FamilyCheckpoint, FamilyQuestion } from "../src/engine/family.js";
import type { Inference } from "../src/engine/inference.js";

export interface FakePrefix extends CompiledPrefix {
  readonly type: "fake";
  readonly optionCounts: readonly number[];
}

export interface FakeBatch {
  readonly checkpoint: string;
  readonly groups: readonly BatchGroup[];
  /** Answers the batch, or fails it; done by itself where the inference does not hold batches. */
  readonly settle: (error?: unknown) => void;
}

export interface FakeInference extends Inference {
  readonly batches: FakeBatch[];
  readonly compiled: { readonly checkpoint: string; readonly questions: readonly FamilyQuestion[] }[];
  /** Errors that the next calls of `compile` end with, one each. */
  readonly compileErrors: unknown[];
  readonly running: { now: number; most: number };
  closed: boolean;
}

/**
 * @param slots batches that the scheduler may have running
 * @param hold whether batches wait for their `settle`
 */
export function createFakeInference({ slots = 2, hold = false } = {}): FakeInference {
  const fake: FakeInference = {
    slots,
    batches: [],
    compiled: [],
    compileErrors: [],
    running: { now: 0, most: 0 },
    closed: false,
    async compile(checkpoint, questions) {
      fake.compiled.push({ checkpoint: checkpoint.name, questions });
      if (fake.compileErrors.length > 0) throw fake.compileErrors.shift();
      return prefixOf(questions.map(({ options }) => options.length));
    },
    async decide(checkpoint, groups) {
      fake.running.most = Math.max(fake.running.most, ++fake.running.now);
      await new Promise<void>((resolve, reject) => {
        const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
        fake.batches.push({ checkpoint: checkpoint.name, groups, settle });
        if (!hold) setImmediate(resolve);
      }).finally(() => fake.running.now--);
      return groups.flatMap(({ prefix, states }) =>
        states.map((ids) => Float32Array.from(fakeLogits(ids, (prefix as FakePrefix).optionCounts))),
      );
    },
    async close() {
      fake.closed = true;
    },
  };
  return fake;
}

export function prefixOf(optionCounts: readonly number[]): FakePrefix {
  return { type: "fake", optionCounts };
}

/** One logit an option: the sum of the state's ids, then one more each. */
export function fakeLogits(stateIds: readonly number[], optionCounts: readonly number[]): number[] {
  const sum = stateIds.reduce((total, id) => total + id, 0);
  return Array.from({ length: optionCounts.reduce((a, b) => a + b, 0) }, (_, i) => sum + i);
}

export function fakeCheckpoint(name: string): FamilyCheckpoint {
  return { name, family: "core", graphs: {}, hiddenSize: 4, padId: 0, sepId: 2 };
}
