/** A question set of the family `core`, encoded once: what `decide` takes of its heads and options, whatever the states. */

import type { QuestionType } from "../decision/question.js";
import { encodeSegments } from "./core-encode.js";
import { planPrefixGroups } from "./core-plan.js";
import type { CompiledPrefix, FamilyCheckpoint, FamilyQuestion } from "./family.js";
import type { Session } from "./session.js";

const QTYPE: Record<QuestionType, bigint> = { choice: 0n, score: 1n, noul: 2n };
/** Padded tokens of one `encode` call over heads and options. */
const MAX_SEGMENT_TOKENS = 4096;
/** The longest segment of such a call has at most this many times the tokens of its shortest, and this many more. */
const MAX_SEGMENT_RATIO = 1.2;
const SEGMENT_SLACK = 2;

/** Questions of similar prefix length, padded together. P = longest prefix, M = most options, D = hidden size. */
export interface PrefixGroup {
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

export interface CorePrefix extends CompiledPrefix {
  readonly type: "core";
  /** Number of options of each question, in order. */
  readonly optionCounts: readonly number[];
  readonly groups: readonly PrefixGroup[];
}

/** The first depth of a segment's hidden states [length,d] and its pooled vector [d]. */
interface SegmentVectors {
  readonly hidden: Float32Array;
  readonly pooled: Float32Array;
}

/** Encodes heads and options and pads questions of like length together. */
export async function compilePrefix(
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
