import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QaError } from "../../src/errors.js";
import { type OpenedQueue, openQueue } from "../../src/queue/open-queue.js";
import type { PartJob, PushedRun } from "../../src/queue/part-job.js";
import { pushRun } from "../../src/queue/push-run.js";
import { readStatus } from "../../src/queue/queue-status.js";
import type { WorkEvent } from "../../src/queue/work-event.js";
import { type WorkOptions, workQueue } from "../../src/queue/work-queue.js";
import { type StartedRedis, startRedis } from "./start-redis.js";

const folder = mkdtempSync(join(tmpdir(), "qa-queue-"));
let redis: StartedRedis;
let opened: OpenedQueue[] = [];
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const each of opened) await each.close();
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

const SECRET = "the text of a row";
writeFileSync(join(folder, "in.txt"), `${SECRET}\n`.repeat(25));

let queues = 0;
async function open(name = `q${++queues}`): Promise<OpenedQueue> {
  const each = await openQueue({ redis: redis.url, name });
  opened = [...opened, each];
  return each;
}

const never = new AbortController().signal;
const run: PushedRun = {
  inputs: [join(folder, "in.txt")],
  out: join(folder, "parts"),
  rowsPerPart: 5,
  settings: {
    questions: { type: "preset", name: "triage" },
    read: {},
    state: {},
    deployment: "a",
    output: { format: "ndjson" },
  },
};
const push = (queue: OpenedQueue, changes: Partial<PushedRun> = {}) =>
  pushRun(queue, { ...run, ...changes }, { attempts: 3, backoffMs: 20, signal: never });

async function work(queue: OpenedQueue, options: Partial<WorkOptions>) {
  const events: WorkEvent[] = [];
  const onEvent = (event: WorkEvent) => events.push(event);
  const answer = async ({ range }: PartJob) => ({ rows: range.to - range.from, failed: 0 });
  const end = await workQueue(queue, {
    jobs: 2,
    leaseMs: 5000, // far over what a busy machine holds a process up
    untilEmpty: true,
    answer,
    onEvent,
    signal: never,
    ...options,
  });
  return { end, events };
}

const waitFor = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe("a queue", () => {
  it("holds each part of a run once, however often it is pushed, and no text of it", async () => {
    const queue = await open();
    expect(await push(queue)).toMatchObject({ rows: 25, parts: 5, added: 5, retried: 0 });
    expect(await push(queue)).toMatchObject({ parts: 5, added: 0 });
    expect(await readStatus(queue)).toMatchObject({ rows: 25, parts: { all: 5, waiting: 5, answered: 0 } });
    expect(JSON.stringify(await queue.queue.getJobs())).not.toContain(SECRET);
  });

  it("refuses another run, and a run that cannot be answered", async () => {
    const queue = await open();
    await push(queue);
    await expect(push(queue, { rowsPerPart: 6 })).rejects.toThrow("holds another run");
    const csv = join(folder, "in.csv");
    writeFileSync(csv, "id,note,subject\n1,a,b\n");
    await expect(push(await open(), { inputs: [csv] })).rejects.toThrow("id, note, subject");
  });

  it("gives every part to one worker only, and is empty when all are answered", async () => {
    const queue = await open();
    await push(queue, { rowsPerPart: 1 });
    const taken: number[] = [];
    const answer = async ({ index }: PartJob) => {
      taken.push(index);
      return { rows: 1, failed: 0 };
    };
    const ends = await Promise.all([work(queue, { answer }), work(await open(queue.name), { answer })]);
    expect(ends.map(({ end }) => end)).toEqual(["empty", "empty"]);
    expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, i) => i));
    expect(await readStatus(queue)).toMatchObject({ parts: { all: 25, answered: 25 } });
  });

  it("tries a part again where that may help, and counts it as failed after its attempts", async () => {
    const queue = await open();
    await push(queue, { rowsPerPart: 25 });
    let attempts = 0;
    const answer = async () => {
      attempts++;
      throw new QaError("output_failed", "no space is left; make room");
    };
    const { events } = await work(queue, { answer });
    expect(attempts).toBe(3);
    expect(events.map((event) => event.type === "failed" && event.isFinal)).toEqual([false, false, true]);
    expect(await readStatus(queue)).toMatchObject({
      parts: { all: 1, failed: 1 },
      failures: [{ part: "part 1/1, rows 1 to 25", reason: "no space is left; make room", attempts: 3 }],
    });
    expect(await push(queue, { rowsPerPart: 25 })).toMatchObject({ added: 0, retried: 1 });
    await work(queue, {});
    expect(await readStatus(queue)).toMatchObject({ parts: { all: 1, failed: 0, answered: 1 } });
  });

  it("does not try again what was asked wrongly", async () => {
    const queue = await open();
    await push(queue, { rowsPerPart: 25 });
    let attempts = 0;
    const answer = async () => {
      attempts++;
      throw new QaError("invalid_usage", "the input is not what it was");
    };
    await work(queue, { answer });
    expect(attempts).toBe(1);
    expect((await readStatus(queue)).failures[0]?.reason).toBe("the input is not what it was");
  });

  it("gets a part back at once from a worker that is told to stop, without counting it as an attempt", async () => {
    const queue = await open();
    await push(queue, { rowsPerPart: 25 });
    const stop = new AbortController();
    let isTaken = false;
    const answer: WorkOptions["answer"] = async (_, signal) => {
      isTaken = true;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new QaError("aborted", "the part was stopped");
    };
    const working = work(queue, { answer, signal: stop.signal });
    await waitFor(() => isTaken);
    stop.abort();
    const { end, events } = await working;
    expect(end).toBe("stopped");
    // a worker that waits for parts may be handed the part once more before its wait ends
    expect(events.map(({ type }) => type).filter((type) => type !== "given_back")).toEqual([]);
    expect(events).not.toEqual([]);
    expect(await readStatus(queue)).toMatchObject({ parts: { waiting: 1, in_hand: 0 } });
    const [job] = await queue.queue.getJobs();
    expect(job?.attemptsMade).toBe(0);
  });

  it("keeps a part with a worker that answers for longer than its lease", async () => {
    const queue = await open();
    await push(queue, { rowsPerPart: 25 });
    let taken = 0;
    const answer = async () => {
      taken++;
      await new Promise((resolve) => setTimeout(resolve, 6000));
      return { rows: 25, failed: 0 };
    };
    const leaseMs = 2000;
    await Promise.all([work(queue, { answer, leaseMs }), work(await open(queue.name), { answer, leaseMs })]);
    expect(taken).toBe(1);
  });

  it("that no Redis holds is an error that says where it was looked for, without the password", async () => {
    const away = openQueue({ redis: "redis://:secret@127.0.0.1:1", name: "q" });
    await expect(away).rejects.toMatchObject({ code: "queue_unavailable" });
    await expect(away).rejects.toThrow("127.0.0.1:1");
    await expect(away).rejects.not.toThrow("secret");
  });
});
