import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CompiledPrefix } from "../../src/engine/family.js";
import { type Job, Scheduler } from "../../src/engine/scheduler.js";
import { createFakeInference, fakeCheckpoint, fakeLogits, prefixOf } from "../fake-inference.js";

const MODEL = fakeCheckpoint("model");
const SET = prefixOf([2, 3]);

function jobOf(tokens: number, first: number, more: Partial<Job> = {}): Job {
  const stateIds = Array.from({ length: tokens }, (_, i) => (i === 0 ? first : 0));
  return { checkpoint: MODEL, stateIds, prefix: SET, prefixTokens: 10, ...more };
}

const statesOf = (groups: readonly { readonly states: readonly (readonly number[])[] }[]) =>
  groups.map(({ states }) => states.map((ids) => ids[0]));

describe("Scheduler", () => {
  it("gives every job its own logits, whatever batch it was in", async () => {
    const inference = createFakeInference();
    const scheduler = new Scheduler(inference, 300);
    const sets = [prefixOf([2]), prefixOf([1, 4]), prefixOf([3, 2, 2])];
    const jobs = Array.from({ length: 60 }, (_, i) =>
      jobOf(1 + ((i * 37) % 90), i, { prefix: sets[i % 3] as CompiledPrefix }),
    );
    const logits = await Promise.all(jobs.map((job) => scheduler.submit(job)));
    logits.forEach((own, i) => {
      expect([...own]).toEqual(fakeLogits(jobs[i]?.stateIds ?? [], sets[i % 3]?.optionCounts ?? []));
    });
    expect(inference.batches.length).toBeGreaterThan(3);
    expect(scheduler.load).toEqual({ waiting: 0, running: 0 });
  });

  it("batches jobs submitted in one turn, rows x (state with separator + prefix) within the budget", async () => {
    const inference = createFakeInference();
    // 3 x (19 + 1 + 10) = 90
    const scheduler = new Scheduler(inference, 90);
    await Promise.all(Array.from({ length: 7 }, (_, i) => scheduler.submit(jobOf(19, i))));
    expect(inference.batches.map(({ groups }) => statesOf(groups).flat().length)).toEqual([3, 3, 1]);
  });

  it("runs a job alone that is over the budget by itself", async () => {
    const inference = createFakeInference();
    const scheduler = new Scheduler(inference, 50);
    await Promise.all([scheduler.submit(jobOf(200, 1)), scheduler.submit(jobOf(200, 2))]);
    expect(inference.batches.map(({ groups }) => statesOf(groups))).toEqual([[[1]], [[2]]]);
  });

  it("never lets short and long states share a batch", async () => {
    const inference = createFakeInference();
    const scheduler = new Scheduler(inference, 100_000);
    await Promise.all([20, 400, 21, 410].map((tokens, i) => scheduler.submit(jobOf(tokens, i))));
    expect(inference.batches.map(({ groups }) => statesOf(groups).flat().sort())).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it("groups the rows of a batch by question set", async () => {
    const inference = createFakeInference();
    const scheduler = new Scheduler(inference, 4096);
    const other = prefixOf([7]);
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => scheduler.submit(jobOf(20, i, { prefix: i % 2 === 0 ? SET : other }))),
    );
    const [batch] = inference.batches;
    const groups = [...(batch?.groups ?? [])].map(({ prefix, states }) => [prefix, states.map((ids) => ids[0]).sort()]);
    expect(inference.batches).toHaveLength(1);
    expect(groups).toHaveLength(2);
    expect(groups).toContainEqual([SET, [0, 2, 4]]);
    expect(groups).toContainEqual([other, [1, 3, 5]]);
  });

  it("never mixes checkpoints, and lets them take turns", async () => {
    const inference = createFakeInference({ slots: 1 });
    const scheduler = new Scheduler(inference, 30);
    const checkpoints = ["english", "multilingual"].map(fakeCheckpoint);
    const jobs = checkpoints.flatMap((checkpoint) => [1, 2, 3].map((i) => jobOf(19, i, { checkpoint })));
    await Promise.all(jobs.map((job) => scheduler.submit(job)));
    expect(inference.batches.map(({ checkpoint }) => checkpoint)).toEqual([
      "english",
      "multilingual",
      "english",
      "multilingual",
      "english",
      "multilingual",
    ]);
  });

  it("starts with the job that has waited longest", async () => {
    const inference = createFakeInference({ slots: 1 });
    const scheduler = new Scheduler(inference, 30);
    await Promise.all([300, 20, 100].map((tokens, i) => scheduler.submit(jobOf(tokens, i))));
    expect(inference.batches.map(({ groups }) => statesOf(groups).flat())).toEqual([[0], [1], [2]]);
  });

  it.each([1, 3])("has at most %i batches running, and that many", async (slots) => {
    const inference = createFakeInference({ slots });
    const scheduler = new Scheduler(inference, 30);
    await Promise.all(Array.from({ length: 20 }, (_, i) => scheduler.submit(jobOf(19, i))));
    expect(inference.batches).toHaveLength(20);
    expect(inference.running).toEqual({ now: 0, most: slots });
  });

  it("tells what waits and what runs", async () => {
    const inference = createFakeInference({ slots: 1, hold: true });
    const scheduler = new Scheduler(inference, 30);
    const all = [1, 2, 3].map((i) => scheduler.submit(jobOf(19, i)));
    expect(scheduler.load).toEqual({ waiting: 3, running: 0 });
    await turn();
    expect(scheduler.load).toEqual({ waiting: 2, running: 1 });
    for (let i = 0; i < 3; i++) {
      inference.batches[i]?.settle();
      await turn();
      await turn();
    }
    await Promise.all(all);
    expect(scheduler.load).toEqual({ waiting: 0, running: 0 });
  });

  it("never runs a job that is aborted while it waits", async () => {
    const inference = createFakeInference({ slots: 1, hold: true });
    const scheduler = new Scheduler(inference, 30);
    const controller = new AbortController();
    const first = scheduler.submit(jobOf(19, 1));
    await turn();
    const aborted = scheduler.submit(jobOf(19, 2, { signal: controller.signal }));
    const last = scheduler.submit(jobOf(19, 3));
    aborted.catch(() => {});
    controller.abort();
    inference.batches[0]?.settle();
    await expect(aborted).rejects.toMatchObject({ name: "QaError", code: "aborted" });
    await first;
    await turn();
    inference.batches[1]?.settle();
    await last;
    expect(inference.batches.map(({ groups }) => statesOf(groups).flat())).toEqual([[1], [3]]);
  });

  it("rejects a waiting job when it is aborted, not when a batch ends", async () => {
    const inference = createFakeInference({ slots: 1, hold: true });
    const scheduler = new Scheduler(inference, 30);
    const controller = new AbortController();
    const first = scheduler.submit(jobOf(19, 1));
    await turn();
    const aborted = scheduler.submit(jobOf(19, 2, { signal: controller.signal }));
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    expect(scheduler.load).toEqual({ waiting: 0, running: 1 });
    inference.batches[0]?.settle();
    await first;
  });

  it("rejects a job that was aborted before it came", async () => {
    const inference = createFakeInference();
    const scheduler = new Scheduler(inference, 30);
    const signal = AbortSignal.abort();
    await expect(scheduler.submit(jobOf(19, 1, { signal }))).rejects.toMatchObject({ code: "aborted" });
    expect(inference.batches).toEqual([]);
  });

  it("lets a running batch finish whose job is aborted", async () => {
    const inference = createFakeInference({ hold: true });
    const scheduler = new Scheduler(inference, 30);
    const controller = new AbortController();
    const job = jobOf(19, 1, { signal: controller.signal });
    const logits = scheduler.submit(job);
    await turn();
    controller.abort();
    inference.batches[0]?.settle();
    expect([...(await logits)]).toEqual(fakeLogits(job.stateIds, SET.optionCounts));
  });

  it("gives the error of a batch to its own rows only", async () => {
    const inference = createFakeInference({ slots: 3, hold: true });
    const scheduler = new Scheduler(inference, 60);
    const results = Promise.allSettled([1, 2, 3, 4, 5, 6].map((i) => scheduler.submit(jobOf(19, i))));
    await turn();
    const [failing, ...others] = inference.batches;
    failing?.settle(new Error("broken"));
    for (const batch of others) batch.settle();
    const failed = statesOf(failing?.groups ?? []).flat();
    expect(failed).toHaveLength(2);
    (await results).forEach((result, i) => {
      expect(result.status).toBe(failed.includes(i + 1) ? "rejected" : "fulfilled");
    });
  });
});
