/** Segments through the graph `encode`: padded in, hidden states and pooled vectors out, rows of them without copying. */

import type { Float32Tensor, Session, TensorData } from "./session.js";

/** hidden [n,c,s,d] and pooled [n,d] of n padded segments. */
export interface Encoded {
  readonly hidden: Float32Tensor;
  readonly pooled: Float32Tensor;
  readonly mask: TensorData;
}

/** The runtime multiplies a single token in another order than two, and its last bit would tell a batch of one from others. */
const MIN_LENGTH = 2;

/** Encodes segments in one call, padded to the longest. */
export async function encodeSegments(
  segments: readonly (readonly number[])[],
  encode: Session,
  padId: number,
): Promise<Encoded> {
  const n = segments.length;
  const s = Math.max(MIN_LENGTH, ...segments.map((ids) => ids.length));
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
export function sliceRows({ hidden, pooled, mask }: Encoded, from: number, to: number): Encoded {
  return {
    hidden: rowsOf(hidden, from, to),
    pooled: rowsOf(pooled, from, to),
    mask: rowsOf(mask, from, to),
  };
}

/** Rows [from, to) of a tensor, without copying. */
export function rowsOf<T extends TensorData>(tensor: T, from: number, to: number): T {
  const [rows = 1, ...rest] = tensor.dims;
  const width = tensor.data.length / rows;
  return { ...tensor, data: tensor.data.subarray(from * width, to * width), dims: [to - from, ...rest] };
}
