import { describe, expect, it } from "vitest";
import { jobIdOf, nameOfJob, type PushedRun, planParts, resolveQueueName } from "../../src/queue/part-job.js";
import { drawStatus, exitCodeOfStatus, type QueueStatus } from "../../src/queue/queue-status.js";
import { lineOf } from "../../src/queue/work-event.js";

const run: PushedRun = {
  inputs: ["/data/in.csv"],
  out: "/data/parts",
  rowsPerPart: 10,
  settings: {
    questions: { type: "preset", name: "triage" },
    read: {},
    state: {},
    deployment: "a",
    output: { format: "csv" },
  },
};
const facts = { rows: 25, digest: "abc", questions: "def" };

describe("the parts of a pushed run", () => {
  it("cover all rows once, the last one only what is left", () => {
    const jobs = planParts(run, facts);
    expect(jobs.map(({ range }) => [range.from, range.to])).toEqual([
      [0, 10],
      [10, 20],
      [20, 25],
    ]);
    expect(jobs.map(({ out }) => out)).toEqual([0, 1, 2].map((at) => `/data/parts/part-0000${at}-of-00003.csv`));
    expect(jobs.map(jobIdOf)).toEqual([0, 1, 2].map((at) => `part-0000${at}-of-00003`));
    expect(nameOfJob(jobs[2] as (typeof jobs)[0])).toBe("part 3/3, rows 21 to 25");
  });

  it.each([
    [0, 1],
    [1, 1],
    [10, 1],
    [11, 2],
  ])("of %i rows are %i", (rows, count) => {
    expect(planParts(run, { ...facts, rows })).toHaveLength(count);
  });

  it("carry one mark, which changes with all that decides the answers", () => {
    const markOf = (changed: Partial<PushedRun>, now = facts) => planParts({ ...run, ...changed }, now)[0]?.run;
    const mark = markOf({});
    expect(new Set(planParts(run, facts).map((job) => job.run))).toEqual(new Set([mark]));
    const others = [
      markOf({ rowsPerPart: 5 }),
      markOf({ inputs: ["/data/other.csv"] }),
      markOf({ settings: { ...run.settings, model: "core-0.3.20" } }),
      markOf({}, { ...facts, digest: "other" }),
      markOf({}, { ...facts, questions: "other" }),
    ];
    for (const other of others) expect(other).not.toBe(mark);
  });
});

describe("the name of a queue", () => {
  it("is made from the folder of the parts, and differs where folders of one name differ", () => {
    expect(resolveQueueName({ out: "/a/my parts" })).toMatch(/^qa-my-parts-[0-9a-f]{8}$/);
    expect(resolveQueueName({ out: "/a/parts" })).not.toBe(resolveQueueName({ out: "/b/parts" }));
    expect(resolveQueueName({ out: "/a/parts/" })).toBe(resolveQueueName({ out: "/a/parts" }));
    expect(resolveQueueName({ out: "/a/parts", queue: "nightly" })).toBe("nightly");
  });

  it("is refused where Redis could take it for something else, and asked for where nothing tells it", () => {
    expect(() => resolveQueueName({ queue: "a:b" })).toThrow("--queue takes letters");
    expect(() => resolveQueueName({})).toThrow("pass --out DIR");
  });
});

describe("what the queue says", () => {
  const status = (answered: number, failed: number, all = 3): QueueStatus => ({
    queue: "q",
    rows: 25,
    parts: { all, answered, failed, in_hand: 0, waiting: all - answered - failed },
    failures: failed === 0 ? [] : [{ part: "part 2/3, rows 11 to 20", reason: "no file in.csv", attempts: 3 }],
  });

  it.each([
    [3, 0, 3, 0],
    [2, 0, 3, 3],
    [2, 1, 3, 1],
    [0, 0, 0, 3],
  ])("with %i answered and %i failed of %i parts has exit code %i", (answered, failed, all, code) => {
    expect(exitCodeOfStatus(status(answered, failed, all))).toBe(code);
  });

  it("is a bar, counts, and every failure with its reason", () => {
    expect(drawStatus(status(2, 1), 6).split("\n")).toEqual([
      "████    67%  2 of 3 parts",
      "25 rows; 0 in hand, 0 waiting, 1 failed",
      "  part 2/3, rows 11 to 20, after 3 attempts: no file in.csv",
    ]);
    expect(drawStatus(status(0, 0, 0))).toContain("holds no parts");
  });

  it("of a part is one line", () => {
    const [job] = planParts(run, facts);
    if (job === undefined) throw new Error("no job");
    const answered = { type: "answered", job, result: { rows: 10, failed: 1 }, elapsedMs: 1500 } as const;
    expect(lineOf(answered)).toBe("part 1/3, rows 1 to 10: 10 rows in 1.5 s, 1 of them as errors");
    expect(lineOf({ type: "failed", job, reason: "no space", isFinal: false })).toContain(
      "will be tried again: no space",
    );
  });
});
