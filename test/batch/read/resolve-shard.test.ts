import { describe, expect, it } from "vitest";
import { resolveShard } from "../../../src/batch/read/resolve-shard.js";

const shard = (index: number, count: number) => ({ type: "shard", index, count });

describe("--shard", () => {
  it.each([
    ["1/1", shard(0, 1)],
    ["1/4", shard(0, 4)],
    ["4/4", shard(3, 4)],
    ["17/120", shard(16, 120)],
  ])("%s is counted from 1", (given, expected) => {
    expect(resolveShard(given, {})).toEqual(expected);
  });

  it.each([
    "0/4",
    "5/4",
    "1/0",
    "-1/4",
    "01/4",
    "1/04",
    "1.5/4",
    "1e1/20",
    "1",
    "/4",
    "1/",
    "1/4/8",
    " 1/4",
    "1 /4",
    "",
  ])("%j is refused, and the message shows the form", (given) => {
    expect(() => resolveShard(given, {})).toThrow("i/n with i from 1 to n, such as 1/4");
  });

  it("does not look at the environment unless told to", () => {
    const env = { JOB_COMPLETION_INDEX: "2", JOB_COMPLETIONS: "3" };
    expect(resolveShard("1/2", env)).toEqual(shard(0, 2));
  });
});

const kubernetes = (index: string, count?: string) => ({ JOB_COMPLETION_INDEX: index, JOB_COMPLETIONS: count });
const batch = (index: string, count?: string) => ({
  AWS_BATCH_JOB_ARRAY_INDEX: index,
  AWS_BATCH_JOB_ARRAY_SIZE: count,
});
const slurm = (id: string, { min = "0", count = "4", ...more }: Record<string, string> = {}) => ({
  SLURM_ARRAY_TASK_ID: id,
  SLURM_ARRAY_TASK_MIN: min,
  SLURM_ARRAY_TASK_COUNT: count,
  ...(more.step === undefined ? {} : { SLURM_ARRAY_TASK_STEP: more.step }),
  ...(more.max === undefined ? {} : { SLURM_ARRAY_TASK_MAX: more.max }),
});

describe("--shard auto", () => {
  it.each([
    ["the first pod of a Kubernetes Indexed Job", kubernetes("0", "4"), shard(0, 4)],
    ["its last pod", kubernetes("3", "4"), shard(3, 4)],
    ["a child of an AWS Batch array", batch("7", "10"), shard(7, 10)],
    ["a Slurm task of --array=0-3", slurm("2"), shard(2, 4)],
    ["a Slurm task of --array=1-4", slurm("1", { min: "1", step: "1", max: "4" }), shard(0, 4)],
    ["a Slurm task of --array=10-40:10", slurm("30", { min: "10", step: "10", max: "40" }), shard(2, 4)],
    ["two schedulers that say the same", { ...kubernetes("1", "4"), ...batch("1", "4") }, shard(1, 4)],
    ["a variable that is set but empty beside another", { ...batch("1", "4"), JOB_COMPLETION_INDEX: "" }, shard(1, 4)],
  ])("reads %s", (_, env, expected) => {
    expect(resolveShard("auto", env)).toEqual(expected);
  });

  it.each([
    ["no scheduler", {}, "finds none of these: a Kubernetes Indexed Job (JOB_COMPLETION_INDEX)"],
    ["a Kubernetes job without its size", kubernetes("0"), "set JOB_COMPLETIONS in the manifest"],
    ["a Kubernetes index over the size", kubernetes("4", "4"), "set JOB_COMPLETIONS in the manifest"],
    ["an index that is no number", kubernetes("one", "4"), "but not which of how many"],
    ["an AWS Batch array without its size", batch("0"), "AWS_BATCH_JOB_ARRAY_SIZE"],
    ["Slurm's --array=0,3,7", slurm("3", { count: "3", max: "7" }), "a range without gaps"],
    ["a Slurm id off the step", slurm("15", { min: "10", step: "10" }), "a range without gaps"],
    ["a Slurm id under the first", slurm("0", { min: "1" }), "a range without gaps"],
    ["two schedulers that differ", { ...kubernetes("1", "4"), ...batch("2", "4") }, "shard 2/4) and an AWS Batch"],
  ])("refuses %s and says what to do", (_, env, advice) => {
    expect(() => resolveShard("auto", env)).toThrow(advice);
  });
});
