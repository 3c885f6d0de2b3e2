/** An inference session. The only file that imports onnxruntime-node; `run` blocks its thread, so it belongs in a worker. */

import { InferenceSession, Tensor } from "onnxruntime-node";
import { QaError } from "../errors.js";

/** A tensor in row-major order. */
export type TensorData =
  | { readonly type: "int64"; readonly data: BigInt64Array; readonly dims: readonly number[] }
  | { readonly type: "float32"; readonly data: Float32Array; readonly dims: readonly number[] };

export interface Session {
  /** Runs the graph: input name -> tensor in, output name -> float tensor out. */
  run(feeds: Readonly<Record<string, TensorData>>): Promise<Readonly<Record<string, Float32Tensor>>>;
  close(): Promise<void>;
}

export type Float32Tensor = Extract<TensorData, { type: "float32" }>;

export type OpenSession = (path: string) => Promise<Session>;

/**
 * One intra-op thread: the cores are kept busy by one worker each instead. 8-bit weights are unpacked to floats once, at opening
 * (docs/decisions/0017-one-float-copy.md): without `disable_quant_qdq` the runtime would do so at every call.
 */
export const SESSION_OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  extra: { session: { disable_quant_qdq: "1" } },
};

/** Opens a graph. */
export const openOnnxSession: OpenSession = async (path) => {
  const session = await InferenceSession.create(path, SESSION_OPTIONS);
  return {
    async run(feeds) {
      const inputs = Object.fromEntries(
        Object.entries(feeds).map(([name, { type, data, dims }]) => [
          name,
          type === "int64" ? new Tensor("int64", data, dims) : new Tensor("float32", data, dims),
        ]),
      );
      const outputs = await session.run(inputs);
      return Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, toFloat32(name, tensor)]));
    },
    close: () => session.release(),
  };
};

function toFloat32(name: string, tensor: Tensor): Float32Tensor {
  if (!(tensor.data instanceof Float32Array))
    throw new QaError("checkpoint_damaged", `the graph's output ${name} is ${tensor.type}, not float32`);
  return { type: "float32", data: tensor.data, dims: tensor.dims };
}
