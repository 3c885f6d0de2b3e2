/**
 * The family `core` (CONTRACT 6): heads and options go through `encode` once a question set, a state once for all its
 * questions, and `decide` lets the former read the latter. Translates between segments and the graphs' snake_case tensors.
 */

import type { QuestionType } from "../decision/question.js";
import { planDecideCalls, planPrefixGroups } from "./core-plan.js";
import type { BatchGroup, CompiledPrefix, Family, FamilyCheckpoint, FamilyQuestion } from "./family.js";
import type { Float32Tensor, OpenSession, Session, TensorData } from "./session.js";

const QTYPE: Record<QuestionType, bigint> = { choice: 0n, score: 1n, noul: 2n };
/** Padded tokens of one `encode` call over heads and options. */
const MAX_SEGMENT_TOKENS = 4096;
/** The longest segment of such a call has at most this many times the tokens of its shortest, and this many more. */
const MAX_SEGMENT_RATIO = 1.2;
const SEGMENT_SLACK = 2;

/** Questions of similar prefix length, padded together. P = longest prefix, M = most options, D = hidden size. */
interface PrefixGroup {
  /** Indexes of the questions in their set. */
  readonly questions: readonly number[];
  readonly prefixLength: number;
  readonly markers: number;
  /** [Q,P,D], [Q,D], [Q,M,D] */
  readonly hidden: Float32Array;
  readonly headPooled: Float32Array;
  readonly optionPooled: Float32Array;
  /** [Q,P], [Q,P], [Q,M], [Q,M], [Q] */
  readonly mask: BigInt64Array;
  readonly part: BigInt64Array;
  readonly marker: BigInt64Array;
  readonly markerMask: BigInt64Array;
  readonly qtype: BigInt64Array;
}

interface CorePrefix extends CompiledPrefix {
  readonly type: "core";
  /** Number of options of each question, in order. */
  readonly optionCounts: readonly number[];
  readonly groups: readonly PrefixGroup[];
}

/** hidden [n,c,s,d] and pooled [n,d] of n padded segments. */
interface Encoded {
  readonly hidden: Float32Tensor;
  readonly pooled: Float32Tensor;
  readonly mask: TensorData;
}

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

async function encodeSegments(
  segments: readonly (readonly number[])[],
  encode: Session,
  padId: number,
): Promise<Encoded> {
  const n = segments.length;
  const s = Math.max(...segments.map((ids) => ids.length));
  const inputIds = new BigInt64Array(n * s).fill(BigInt(padId));
  const attentionMask = new BigInt64Array(n * s);
  segments.forEach((ids, row) => {
    for (let i = 0; i < ids.length; i++) inputIds[row * s + i] = BigInt(ids[i] as number);
    attentionMask.fill(1n, row * s, row * s + ids.length);
  });
  const mask: TensorData = { type: "int64", data: attentionMask, dims: [n, s] };
  const output = await encode.run({
    input_ids: { type: "int64", data: inputIds, dims: [n, s] },
    attention_mask: mask,
  });
  return { hidden: output.hidden as Float32Tensor, pooled: output.pooled as Float32Tensor, mask };
}

/** Rows [from, to) of an encoded batch, without copying. */
function sliceRows({ hidden, pooled, mask }: Encoded, from: number, to: number): Encoded {
  return {
    hidden: rowsOf(hidden, from, to),
    pooled: rowsOf(pooled, from, to),
    mask: rowsOf(mask, from, to),
  };
}

function rowsOf<T extends TensorData>(tensor: T, from: number, to: number): T {
  const [rows = 1, ...rest] = tensor.dims;
  const width = tensor.data.length / rows;
  return { ...tensor, data: tensor.data.subarray(from * width, to * width), dims: [to - from, ...rest] };
}

/** The first depth of a segment's hidden states [length,d] and its pooled vector [d]. */
interface SegmentVectors {
  readonly hidden: Float32Array;
  readonly pooled: Float32Array;
}

async function compilePrefix(
  questions: readonly FamilyQuestion[],
  encode: Session,
  checkpoint: FamilyCheckpoint,
): Promise<CorePrefix> {
  const segments = questions.flatMap(({ head, options }) => [head, ...options]);
  const vectors = await encodeApart(segments, encode, checkpoint);
  let at = 0;
  const perQuestion = questions.map(({ type, head, options }) => {
    const own = vectors.slice(at, at + 1 + options.length);
    at += 1 + options.length;
    return { type, lengths: [head, ...options].map((ids) => ids.length), vectors: own };
  });
  const prefixLengths = perQuestion.map(({ lengths }) => lengths.reduce((sum, length) => sum + length, 0));
  return {
    type: "core",
    optionCounts: questions.map(({ options }) => options.length),
    groups: planPrefixGroups(prefixLengths).map((members) =>
      padGroup(
        members,
        members.map((q) => perQuestion[q] as EncodedQuestion),
        checkpoint.hiddenSize,
      ),
    ),
  };
}

/** Encodes segments of any length in calls of bounded size, each among its like; results in the order given. */
async function encodeApart(
  segments: readonly (readonly number[])[],
  encode: Session,
  { padId, hiddenSize: d }: FamilyCheckpoint,
): Promise<SegmentVectors[]> {
  const order = segments.map((_, i) => i).sort((a, b) => lengthAt(segments, a) - lengthAt(segments, b));
  const vectors: SegmentVectors[] = new Array(segments.length);
  let from = 0;
  while (from < order.length) {
    const longest = lengthAt(segments, order[from] as number) * MAX_SEGMENT_RATIO + SEGMENT_SLACK;
    const fits = (length: number, count: number) => length <= longest && count * length <= MAX_SEGMENT_TOKENS;
    let to = from + 1;
    while (to < order.length && fits(lengthAt(segments, order[to] as number), to + 1 - from)) to++;
    const members = order.slice(from, to);
    const { hidden, pooled } = await encodeSegments(
      members.map((i) => segments[i] as readonly number[]),
      encode,
      padId,
    );
    const [, depths = 1, length = 1] = hidden.dims;
    members.forEach((i, row) => {
      const start = row * depths * length * d;
      vectors[i] = {
        hidden: hidden.data.slice(start, start + lengthAt(segments, i) * d),
        pooled: pooled.data.slice(row * d, (row + 1) * d),
      };
    });
    from = to;
  }
  return vectors;
}

function lengthAt(segments: readonly (readonly number[])[], i: number): number {
  return segments[i]?.length ?? 0;
}

interface EncodedQuestion {
  readonly type: QuestionType;
  /** Tokens of the head, then of each option. */
  readonly lengths: readonly number[];
  readonly vectors: readonly SegmentVectors[];
}

function padGroup(members: readonly number[], questions: readonly EncodedQuestion[], d: number): PrefixGroup {
  const n = questions.length;
  const p = Math.max(...questions.map(({ lengths }) => lengths.reduce((sum, length) => sum + length, 0)));
  const m = Math.max(...questions.map(({ lengths }) => lengths.length - 1));
  const group = {
    questions: members,
    prefixLength: p,
    markers: m,
    hidden: new Float32Array(n * p * d),
    headPooled: new Float32Array(n * d),
    optionPooled: new Float32Array(n * m * d),
    mask: new BigInt64Array(n * p),
    part: new BigInt64Array(n * p),
    marker: new BigInt64Array(n * m),
    markerMask: new BigInt64Array(n * m),
    qtype: BigInt64Array.from(questions, ({ type }) => QTYPE[type]),
  };
  questions.forEach(({ lengths, vectors }, q) => {
    let at = 0;
    vectors.forEach(({ hidden, pooled }, segment) => {
      const length = lengths[segment] as number;
      group.hidden.set(hidden, (q * p + at) * d);
      group.mask.fill(1n, q * p + at, q * p + at + length);
      if (segment === 0) group.headPooled.set(pooled, q * d);
      else {
        group.part.fill(1n, q * p + at, q * p + at + length);
        group.marker[q * m + segment - 1] = BigInt(at);
        group.markerMask[q * m + segment - 1] = 1n;
        group.optionPooled.set(pooled, (q * m + segment - 1) * d);
      }
      at += length;
    });
  });
  return group;
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
