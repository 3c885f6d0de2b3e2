/** A worker of bench/throughput.js: nothing but `InferenceSession.run` over tensors that were built beforehand. */

import { parentPort } from "node:worker_threads";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { openFamily } from "../dist/engine/family.js";
import { openOnnxSession, SESSION_OPTIONS } from "../dist/engine/session.js";

/** Of each batch, the graphs run for it and their tensors. */
let calls = [];

parentPort.on("message", async (message) => {
  if (message.type === "open") calls = await prepare(message.batches);
  else await loop(new Int32Array(message.next), message.batches);
  parentPort.postMessage("done");
});

async function prepare(batches) {
  const sessions = new Map();
  let current = [];
  const openRecording = async (path) => {
    sessions.set(path, await InferenceSession.create(path, SESSION_OPTIONS));
    const session = await openOnnxSession(path);
    return {
      ...session,
      run(feeds) {
        const tensors = Object.entries(feeds).map(([name, { type, data, dims }]) => [
          name,
          new Tensor(type, data, dims),
        ]);
        current.push({ session: sessions.get(path), feeds: Object.fromEntries(tensors) });
        return session.run(feeds);
      },
    };
  };
  const family = await openFamily(batches[0].checkpoint, openRecording);
  const prepared = [];
  for (const { groups } of batches) {
    current = [];
    await family.decide(groups);
    prepared.push(current);
  }
  return prepared;
}

async function loop(next, batches) {
  for (let batch = Atomics.add(next, 0, 1); batch < batches; batch = Atomics.add(next, 0, 1))
    for (const { session, feeds } of calls[batch]) await session.run(feeds);
}
