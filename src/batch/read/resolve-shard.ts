/**
 * Which shard of a run this process is: told by `--shard i/n`, or by the scheduler that started it (`--shard auto`). Pure;
 * shards are counted from 1 on the command line, as `split -n r/1/4` does, and from 0 inside.
 */

import { QaError } from "../../errors.js";
import { nameOfPart, type Shard } from "./part.js";

type Environment = Readonly<Record<string, string | undefined>>;

interface Scheduler {
  readonly name: string;
  /** Set in every process of an array, and nowhere else. */
  readonly variable: string;
  /** 0-based number of the process and how many there are; `NaN` where a variable is missing or no whole number. */
  readonly read: (env: Environment) => { readonly index: number; readonly count: number };
  readonly remedy: string;
}

const SCHEDULERS: readonly Scheduler[] = [
  {
    name: "a Kubernetes Indexed Job",
    variable: "JOB_COMPLETION_INDEX",
    read: (env) => ({ index: wholeNumber(env.JOB_COMPLETION_INDEX), count: wholeNumber(env.JOB_COMPLETIONS) }),
    remedy: "set JOB_COMPLETIONS in the manifest to the job's `completions`",
  },
  {
    name: "an AWS Batch array job",
    variable: "AWS_BATCH_JOB_ARRAY_INDEX",
    read: (env) => ({
      index: wholeNumber(env.AWS_BATCH_JOB_ARRAY_INDEX),
      count: wholeNumber(env.AWS_BATCH_JOB_ARRAY_SIZE),
    }),
    remedy: "AWS_BATCH_JOB_ARRAY_SIZE tells the array's size; pass --shard i/n where it is not set",
  },
  {
    name: "a Slurm job array",
    variable: "SLURM_ARRAY_TASK_ID",
    read: slurmArray,
    remedy: "its tasks have to be a range without gaps, such as --array=0-7; else pass --shard i/n",
  },
];

/**
 * The shard that `--shard` names: `i/n` with i from 1 to n, or `auto` for the one that the environment tells.
 * @throws QaError `invalid_usage`
 */
export function resolveShard(given: string, env: Environment): Shard {
  return given === "auto" ? shardOfEnvironment(env) : parseShard(given);
}

function parseShard(given: string): Shard {
  const [, number, count] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(given) ?? [];
  if (number === undefined || count === undefined || Number(number) > Number(count))
    throw new QaError(
      "invalid_usage",
      "--shard takes i/n with i from 1 to n, such as 1/4 (the first of four), or auto",
    );
  return { type: "shard", index: Number(number) - 1, count: Number(count) };
}

function shardOfEnvironment(env: Environment): Shard {
  const found = SCHEDULERS.filter(({ variable }) => filled(env[variable]) !== undefined);
  const [first, ...others] = found.map((scheduler) => ({ scheduler, shard: shardOf(scheduler, env) }));
  if (first === undefined) {
    const names = SCHEDULERS.map(({ name, variable }) => `${name} (${variable})`).join(", ");
    throw new QaError("invalid_usage", `--shard auto finds none of these: ${names}; pass --shard i/n`);
  }
  const other = others.find(({ shard }) => nameOfPart(shard) !== nameOfPart(first.shard));
  if (other === undefined) return first.shard;
  const told = [first, other].map(({ scheduler, shard }) => `${scheduler.name} (${nameOfPart(shard)})`).join(" and ");
  throw new QaError("invalid_usage", `--shard auto finds ${told}; pass --shard i/n to say which is meant`);
}

function shardOf({ name, read, remedy }: Scheduler, env: Environment): Shard {
  const { index, count } = read(env);
  if (index < count) return { type: "shard", index, count };
  throw new QaError("invalid_usage", `--shard auto finds ${name}, but not which of how many this is; ${remedy}`);
}

/** Task ids may begin anywhere and keep a step; `--array=0,3,7` has neither, and shows by its ends. */
function slurmArray(env: Environment): { index: number; count: number } {
  const count = wholeNumber(env.SLURM_ARRAY_TASK_COUNT);
  const min = wholeNumber(env.SLURM_ARRAY_TASK_MIN);
  const step = filled(env.SLURM_ARRAY_TASK_STEP) === undefined ? 1 : wholeNumber(env.SLURM_ARRAY_TASK_STEP);
  const hasMax = filled(env.SLURM_ARRAY_TASK_MAX) !== undefined;
  const isEven = !hasMax || wholeNumber(env.SLURM_ARRAY_TASK_MAX) === min + (count - 1) * step;
  const index = (wholeNumber(env.SLURM_ARRAY_TASK_ID) - min) / step;
  return { index: Number.isInteger(index) && index >= 0 && isEven ? index : Number.NaN, count };
}

function filled(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function wholeNumber(value: string | undefined): number {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
}
