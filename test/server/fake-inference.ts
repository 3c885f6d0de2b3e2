/** Inference without a model: deterministic logits from the tokens, and a gate that tests hold and open. */

import type { BatchGroup, CompiledPrefix, FamilyCheckpoint, FamilyQuestion } from "../../src/engine/family.js";
import type { Inference } from "../../src/engine/inference.js";

interface FakePrefix extends CompiledPrefix {
  readonly optionIds: readonly (readonly number[])[];
}

export class FakeInference implements Inference {
  readonly slots = 2;
  crashes = 0;
  /** States of each batch decided, in order. */
  readonly batches: number[] = [];
  compiled = 0;
  /** Thrown by the next calls of `decide`, first come first. */
  readonly failures: Error[] = [];
  #held: (() => void)[] | undefined;

  /** From now on batches wait until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const open of held) open();
  }

  async compile(_checkpoint: FamilyCheckpoint, questions: readonly FamilyQuestion[]): Promise<CompiledPrefix> {
    this.compiled++;
    return { type: "fake", optionIds: questions.flatMap(({ options }) => options) } as FakePrefix;
  }

  async decide(_checkpoint: FamilyCheckpoint, groups: readonly BatchGroup[]): Promise<Float32Array[]> {
    this.batches.push(groups.reduce((sum, { states }) => sum + states.length, 0));
    await new Promise<void>((resolve) => (this.#held === undefined ? setImmediate(resolve) : this.#held.push(resolve)));
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    return groups.flatMap(({ prefix, states }) =>
      states.map((ids) => Float32Array.from((prefix as FakePrefix).optionIds, (option) => logitOf(ids, option))),
    );
  }

  async close(): Promise<void> {
    this.release();
  }
}

/** Share of the option's tokens that the state holds: enough to tell one label from another. */
function logitOf(state: readonly number[], option: readonly number[]): number {
  const [, ...ids] = option;
  return (4 * ids.filter((id) => state.includes(id)).length) / Math.max(1, ids.length);
}
