/** The one resolved configuration: partial public options in, complete readonly values out. Reads the environment; nothing below does. */

import { availableParallelism, homedir, totalmem } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { QaError } from "./errors.js";

export interface EngineOptions {
  /** Name of a deployment (`a`, `b`) or path of a deployment file. Default `a`, or `QA_DEPLOYMENT`. */
  readonly deployment?: string | undefined;
  /** Folder of checkpoints. Default: those that ship with qa, or `QA_MODELS`. */
  readonly modelsDir?: string | undefined;
  /** Inference workers, one core each. Default: one a core, as far as memory goes (`defaultWorkers`). */
  readonly workers?: number | undefined;
  /** Tokens of one batch, padding and question prefixes included. */
  readonly maxBatchTokens?: number | undefined;
}

export interface EngineConfig {
  readonly deployment: string;
  readonly deploymentsDir: string;
  readonly modelsDir: string;
  readonly workers: number;
  readonly maxBatchTokens: number;
  /** Rows that `answerAll` has in hand at once; states of like length are found among these. */
  readonly windowRows: number;
  /** Bound of the cache of compiled question sets. */
  readonly maxQuestionSetBytes: number;
}

export interface RemoteOptions {
  /** URLs of System One services, separated by commas. */
  readonly endpoint: string;
  /** Calls in flight per host. Default 8. */
  readonly inFlight?: number | undefined;
  /** Seconds that a row may take from its first call on, all tries included. Default 120. */
  readonly deadlineSeconds?: number | undefined;
}

export interface RemoteConfig {
  readonly endpoint: string;
  readonly inFlightPerHost: number;
  readonly deadlineMs: number;
  /** Sent to every endpoint; none: calls go without. */
  readonly apiKey: string | undefined;
  /** Name that requests without one are sent with. */
  readonly defaultModel: string;
}

/** What a worker with both checkpoints of deployment `a` open comes to at its peak (`node bench/workers.js`, docs/scale.md). */
const WORKER_BYTES = 1000 * 2 ** 20;

/** The folder of the package, where models/, deployments/ and presets/ stand. */
export const PACKAGE_DIR = fileURLToPath(new URL("../", import.meta.url));

export function resolveEngineConfig(
  options: EngineOptions = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): EngineConfig {
  return {
    deployment: options.deployment ?? env.QA_DEPLOYMENT ?? "a",
    deploymentsDir: `${PACKAGE_DIR}deployments`,
    modelsDir: options.modelsDir ?? env.QA_MODELS ?? `${PACKAGE_DIR}models`,
    workers: options.workers ?? defaultWorkers(thisMachine()),
    maxBatchTokens: options.maxBatchTokens ?? 2048,
    windowRows: 256,
    maxQuestionSetBytes: 256 * 2 ** 20,
  };
}

export interface Machine {
  readonly cores: number;
  readonly totalBytes: number;
  /** What a control group allows the process; undefined or 0 where nothing is known, beyond `totalBytes` where there is no limit. */
  readonly allowedBytes: number | undefined;
}

/** Workers where no number is given: one a core, but no more than three quarters of the memory hold, and one in any case. */
export function defaultWorkers({ cores, totalBytes, allowedBytes }: Machine): number {
  const bytes = Math.min(totalBytes, allowedBytes || totalBytes);
  return Math.max(1, Math.min(cores, Math.floor((bytes * 0.75) / WORKER_BYTES)));
}

function thisMachine(): Machine {
  return { cores: availableParallelism(), totalBytes: totalmem(), allowedBytes: process.constrainedMemory() };
}

/**
 * Options of a run over endpoints. The key and the default name come from the variables that the official client reads, with
 * the same default; the key from nowhere else, so that it stands in no list of processes and no history of a shell.
 */
export function resolveRemoteConfig(
  { endpoint, inFlight = 8, deadlineSeconds = 120 }: RemoteOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): RemoteConfig {
  return {
    endpoint,
    inFlightPerHost: inFlight,
    deadlineMs: deadlineSeconds * 1000,
    apiKey: env.TYPESAFE_API_KEY?.trim() || undefined,
    defaultModel: env.TYPESAFE_DEFAULT_MODEL?.trim() || "jev-latest",
  };
}

/** Where accounts are kept: `given`, or `qa` in the user's data directory (XDG Base Directory Specification). */
export function resolveDataDir(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (given !== undefined) return resolve(given);
  const { XDG_DATA_HOME: base } = env;
  // the specification has relative paths ignored
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ".local", "share"), "qa");
}

/**
 * Where the queue's Redis is: `given`, or `QA_REDIS_URL`, or `REDIS_URL`, or the one of this machine.
 * @throws QaError `invalid_usage`
 */
export function resolveRedisUrl(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const url = given ?? env.QA_REDIS_URL ?? env.REDIS_URL ?? "redis://127.0.0.1:6379";
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return url;
  throw new QaError("invalid_usage", "--redis (or QA_REDIS_URL, REDIS_URL) is no URL such as redis://host:6379");
}
