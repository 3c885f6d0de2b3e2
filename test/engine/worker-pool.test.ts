import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WorkerPool } from "../../src/engine/worker-pool.js";
import { fakeCheckpoint, prefixOf } from "../fake-inference.js";

/**
 * A worker whose tasks say what it shall do: the first state's first id is the action, the second names the task. It answers
 * with the name and its thread's id.
 */
const WORKER = `
import { appendFileSync } from "node:fs";
import { parentPort, threadId, workerData } from "node:worker_threads";
const [OK, CRASH, CRASH_ONCE, SLOW, FAIL] = [0, 1, 2, 3, 4];
let last = Promise.resolve();
parentPort.on("message", (message) => {
  last = last.then(() => message.type === "close" ? parentPort.close() : perform(message));
});
async function perform({ id, task }) {
  if (task.type === "compile") return parentPort.postMessage({ type: "done", id, result: { type: "fake", optionCounts: [task.questions.length] } });
  const [action, name] = task.groups[0].states[0];
  appendFileSync(workerData.log, name + "\\n");
  const attempts = workerData.attempts;
  const attempt = Atomics.add(attempts, name, 1);
  if (action === CRASH || (action === CRASH_ONCE && attempt === 0)) {
    setImmediate(() => { throw new Error("out of memory"); });
    return new Promise(() => {});
  }
  if (action === SLOW) await new Promise((resolve) => setTimeout(resolve, 50));
  if (action === FAIL) return parentPort.postMessage({ type: "failed", id, error: { code: "checkpoint_damaged", message: "no graph", details: { graph: "decide" } } });
  parentPort.postMessage({ type: "done", id, result: [Float32Array.of(name, threadId)] });
}
`;
const [OK, CRASH, CRASH_ONCE, SLOW, FAIL] = [0, 1, 2, 3, 4];

let folder: string;
let pool: WorkerPool;
let started: Worker[];
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "qa-pool-"));
  await writeFile(join(folder, "worker.mjs"), WORKER);
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => pool.close());

function openPool(size: number): WorkerPool {
  started = [];
  const attempts = new Int32Array(new SharedArrayBuffer(400));
  const log = join(folder, `log-${++files}`);
  pool = WorkerPool.open(size, () => {
    const worker = new Worker(join(folder, "worker.mjs"), { workerData: { attempts, log } });
    started.push(worker);
    return worker;
  });
  return pool;
}

/** Names of the tasks in the order in which workers took them, repeats included. */
const taken = async () => (await readFile(join(folder, `log-${files}`), "utf8")).trim().split("\n").map(Number);

async function decide(action: number | undefined, name: number): Promise<{ name: number; thread: number }> {
  const states = [[action ?? 0, name]];
  const [logits] = await pool.decide(fakeCheckpoint("model"), [{ prefix: prefixOf([1]), states }]);
  return { name: logits?.[0] ?? Number.NaN, thread: logits?.[1] ?? Number.NaN };
}

describe("WorkerPool", () => {
  it("gives every task its own result", async () => {
    openPool(2);
    const names = Array.from({ length: 30 }, (_, i) => i);
    const results = await Promise.all(names.map((name) => decide(OK, name)));
    expect(results.map(({ name }) => name)).toEqual(names);
  });

  it("passes compile to a worker", async () => {
    openPool(1);
    const question = { type: "noul", head: [1], options: [[2], [3]] } as const;
    expect(await pool.compile(fakeCheckpoint("model"), [question, question])).toEqual(prefixOf([2]));
  });

  it.each([1, 2, 3])("has work for twice its size of %i and never more workers than that", async (size) => {
    openPool(size);
    expect(pool.slots).toBe(2 * size);
    const results = await Promise.all(Array.from({ length: 4 * size }, (_, i) => decide(SLOW, i)));
    expect(started).toHaveLength(size);
    expect(new Set(results.map(({ thread }) => thread)).size).toBe(size);
  });

  it("starts no worker before there is work, and no second one while the first is idle", async () => {
    openPool(3);
    expect(started).toHaveLength(0);
    for (const name of [1, 2, 3]) await decide(OK, name);
    expect(started).toHaveLength(1);
  });

  it("replaces a worker that crashed and tries its batch once more", async () => {
    openPool(1);
    expect(await decide(CRASH_ONCE, 7)).toMatchObject({ name: 7 });
    expect(await taken()).toEqual([7, 7]);
    expect(started).toHaveLength(2);
  });

  it("gives up a batch that crashed its worker twice, says why, and works on", async () => {
    openPool(1);
    const crashed = decide(CRASH, 7);
    await expect(crashed).rejects.toMatchObject({ name: "QaError", code: "worker_crashed" });
    await expect(crashed).rejects.toHaveProperty("cause.message", "out of memory");
    expect(await taken()).toEqual([7, 7]);
    expect(await decide(OK, 8)).toMatchObject({ name: 8 });
  });

  it("holds a crash against the batch that was running only, not the one behind it", async () => {
    openPool(1);
    const results = await Promise.allSettled([decide(CRASH, 1), decide(OK, 2), decide(OK, 3)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(await taken()).toEqual([1, 1, 2, 3]);
  });

  it("hands on an error that a worker tells, and does not try again", async () => {
    openPool(1);
    await expect(decide(FAIL, 5)).rejects.toMatchObject({
      code: "checkpoint_damaged",
      message: "no graph",
      details: { graph: "decide" },
    });
    expect(await taken()).toEqual([5]);
    expect(started).toHaveLength(1);
  });

  it("waits on close for what workers have in hand, and aborts what still waits", async () => {
    openPool(1);
    const results = Promise.allSettled([1, 2, 3, 4].map((name) => decide(SLOW, name)));
    await pool.close();
    expect((await results).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
    expect((await results)[3]).toMatchObject({ reason: { code: "aborted" } });
    expect(await taken()).toEqual([1, 2]);
  });

  it("aborts on close a batch whose worker crashes, rather than start another", async () => {
    openPool(1);
    const crashed = decide(CRASH, 1);
    crashed.catch(() => {});
    await pool.close();
    await expect(crashed).rejects.toMatchObject({ code: "aborted" });
    expect(started).toHaveLength(1);
  });

  it("takes no work after close, and may be closed twice", async () => {
    openPool(1);
    await decide(OK, 1);
    await pool.close();
    await pool.close();
    await expect(decide(OK, 2)).rejects.toMatchObject({ code: "aborted" });
  });

  it("says of a worker that cannot start why it cannot", async () => {
    pool = WorkerPool.open(1, () => new Worker(join(folder, "missing.mjs")));
    const failed = decide(OK, 1);
    await expect(failed).rejects.toMatchObject({ code: "worker_crashed" });
    await expect(failed).rejects.toHaveProperty("cause.message", expect.stringContaining("missing.mjs"));
  });
});
