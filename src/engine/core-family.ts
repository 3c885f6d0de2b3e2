/**
 * The family `core` (CONTRACT 6): heads and options go through `encode` once a question set (core-prefix.ts), a state once for
 * all its questions (core-encode.ts), and `decide` lets the former read the latter. Owns the graphs' snake_case inputs.
 */

import { type Encoded, encodeSegments, rowsOf, sliceRows } from "./core-encode.js";
import { planDecideCalls } from "./core-plan.js";
import { type CorePrefix, compilePrefix, type PrefixGroup } from "./core-prefix.js";
import type { BatchGroup, Family, FamilyCheckpoint } from "./family.js";
import type { Float32Tensor, OpenSession, Session, TensorData } from "./session.js";

/** Opens the graphs `encode` and `decide` of a checkpoint. */
export async function openCoreFamily(checkpoint: FamilyCheckpoint, openSession: OpenSession): Promise<Family> {
  const { encode: encodePath, decide: decidePath } = checkpoint.graphs;
  const encode = await openSession(encodePath ?? "encode.onnx");
  const decide = await openSession(decidePath ?? "decide.onnx");
  return {
    compile: (questions) => compilePrefix(questions, encode, checkpoint),
    async decide(groups) {
      const coreGroups = groups as readonly BatchGroup<CorePrefix>[];
      const states = coreGroups.flatMap((group) => group.states.map((ids) => [...ids, checkpoint.sepId]));
      const encoded = await encodeSegments(states, encode, checkpoint.padId);
      const logits: Float32Array[] = [];
      let from = 0;
      for (const { prefix, states: rows } of coreGroups) {
        logits.push(...(await decideGroup(prefix, sliceRows(encoded, from, from + rows.length), decide)));
        from += rows.length;
      }
      return logits;
    },
    async close() {
      await encode.close();
      await decide.close();
    },
  };
}

/** Logits of every state of a group: the options of all questions, in order. */
async function decideGroup(prefix: CorePrefix, states: Encoded, decide: Session): Promise<Float32Array[]> {
  const rows = states.pooled.dims[0] ?? 0;
  const stateLength = states.hidden.dims[2] ?? 0;
  const offsets = [0];
  for (const count of prefix.optionCounts) offsets.push((offsets.at(-1) ?? 0) + count);
  const logits = Array.from({ length: rows }, () => new Float32Array(offsets.at(-1) ?? 0));
  for (const group of prefix.groups) {
    const size = { rows, questions: group.questions.length, prefixLength: group.prefixLength, stateLength };
    for (const call of planDecideCalls(size)) {
      const output = await decide.run({
        ...prefixFeeds(group, call.questions),
        ...stateFeeds(sliceRows(states, ...call.rows)),
      });
      scatter(output.logits as Float32Tensor, { group, call, offsets, optionCounts: prefix.optionCounts, logits });
    }
  }
  return logits;
}

function prefixFeeds(group: PrefixGroup, [from, to]: readonly [number, number]): Record<string, TensorData> {
  const n = group.questions.length;
  const { prefixLength: p, markers: m } = group;
  const d = group.headPooled.length / n;
  const float = (data: Float32Array, ...dims: number[]) =>
    rowsOf<TensorData>({ type: "float32", data, dims: [n, ...dims] }, from, to);
  const int = (data: BigInt64Array, ...dims: number[]) =>
    rowsOf<TensorData>({ type: "int64", data, dims: [n, ...dims] }, from, to);
  return {
    prefix_hidden: float(group.hidden, p, d),
    prefix_mask: int(group.mask, p),
    prefix_part: int(group.part, p),
    marker: int(group.marker, m),
    marker_mask: int(group.markerMask, m),
    head_pooled: float(group.headPooled, d),
    option_pooled: float(group.optionPooled, m, d),
    qtype: int(group.qtype),
  };
}

function stateFeeds({ hidden, pooled, mask }: Encoded): Record<string, TensorData> {
  return { state_hidden: hidden, state_mask: mask, state_pooled: pooled };
}

interface Scatter {
  readonly group: PrefixGroup;
  readonly call: { readonly rows: readonly [number, number]; readonly questions: readonly [number, number] };
  readonly offsets: readonly number[];
  readonly optionCounts: readonly number[];
  /** Per state, written in place. */
  readonly logits: readonly Float32Array[];
}

/** Puts the [r,Q,m] logits of one call where they belong in each state's own. */
function scatter(output: Float32Tensor, { group, call, offsets, optionCounts, logits }: Scatter): void {
  const [, questions = 1, markers = 1] = output.dims;
  for (let r = call.rows[0]; r < call.rows[1]; r++)
    for (let q = call.questions[0]; q < call.questions[1]; q++) {
      const question = group.questions[q] as number;
      const start = ((r - call.rows[0]) * questions + (q - call.questions[0])) * markers;
      const count = optionCounts[question] as number;
      logits[r]?.set(output.data.subarray(start, start + count), offsets[question] as number);
    }
}
