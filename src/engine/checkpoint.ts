/**
 * A checkpoint on disk: `models/<name>/checkpoint.json`, its graphs and tokenizer. Owns reading and verifying; a name that
 * shares weights with another one points to the other's files.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Calibration } from "../decision/calibration.js";
import type { PrefixLimits, SpecialTokens } from "../decision/sequence.js";
import { QaError } from "../errors.js";

export interface Checkpoint {
  readonly name: string;
  readonly family: string;
  readonly description: string;
  readonly releaseDate: string;
  readonly languages: readonly string[];
  /** Tokens of one sequence that the weights can read. */
  readonly window: number;
  /** Width d of hidden states. */
  readonly hiddenSize: number;
  /** graph name -> absolute path. */
  readonly graphs: Readonly<Record<string, string>>;
  readonly tokenizerPath: string;
  readonly specialTokens: SpecialTokens;
  readonly calibration: Calibration;
  readonly prefixLimits: PrefixLimits;
  /** SHA-256 over the hashes of all files: names the answers that these weights give. */
  readonly fingerprint: string;
}

interface CheckpointFile {
  name: string;
  family: string;
  description: string;
  release_date: string;
  languages: string[];
  window: number;
  hidden_size: number;
  graphs: Record<string, string>;
  /** Files that graphs keep tensors in, beside them. */
  data?: string[];
  tokenizer: string;
  special_tokens: SpecialTokens;
  calibration: { temperature?: Record<string, number>; temperature_by_options?: Record<string, number> };
  option_max_len?: number;
  head_max_len?: number;
  sha256: Record<string, string>;
}

const RESTORE =
  "restore it from where you got qa (`git checkout -- models` in a clone, or install the package again), or pass --models with a folder that has it";

/**
 * Reads a checkpoint's manifest and verifies every file it names against its SHA-256.
 * @throws QaError `checkpoint_missing`, `checkpoint_damaged`
 */
export async function loadCheckpoint(name: string, modelsDir: string): Promise<Checkpoint> {
  const folder = join(modelsDir, name);
  const file = await readManifest(name, modelsDir);
  await Promise.all(filesOf(file).map((path) => verify(join(folder, path), file.sha256[path])));
  const { temperature, temperature_by_options: temperatureByOptions } = file.calibration;
  return {
    name: file.name,
    family: file.family,
    description: file.description,
    releaseDate: file.release_date,
    languages: file.languages,
    window: file.window,
    hiddenSize: file.hidden_size,
    graphs: Object.fromEntries(Object.entries(file.graphs).map(([graph, path]) => [graph, join(folder, path)])),
    tokenizerPath: join(folder, file.tokenizer),
    specialTokens: file.special_tokens,
    calibration: { ...(temperature && { temperature }), ...(temperatureByOptions && { temperatureByOptions }) },
    prefixLimits: { optionMaxLen: file.option_max_len, headMaxLen: file.head_max_len },
    fingerprint: fingerprintOf(file),
  };
}

/**
 * The fingerprint of a checkpoint by its manifest alone: nothing is verified, which who loads it does.
 * @throws QaError `checkpoint_missing`, `checkpoint_damaged`
 */
export async function readFingerprint(name: string, modelsDir: string): Promise<string> {
  return fingerprintOf(await readManifest(name, modelsDir));
}

function fingerprintOf(file: CheckpointFile): string {
  const hashes = filesOf(file).map((path) => file.sha256[path]);
  return createHash("sha256")
    .update(JSON.stringify([hashes, file.calibration]))
    .digest("hex");
}

function filesOf({ graphs, tokenizer, data = [] }: CheckpointFile): string[] {
  return [...Object.values(graphs), tokenizer, ...data];
}

async function readManifest(name: string, modelsDir: string): Promise<CheckpointFile> {
  const path = join(modelsDir, name, "checkpoint.json");
  const manifest = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new QaError("checkpoint_missing", `checkpoint ${name} is not in ${modelsDir}; ${RESTORE}`, { cause });
  });
  return parseManifest(manifest, path);
}

/** Fields that every manifest has, and what they are. */
const REQUIRED: Readonly<Partial<Record<keyof CheckpointFile, "string" | "number" | "object">>> = {
  name: "string",
  family: "string",
  window: "number",
  hidden_size: "number",
  graphs: "object",
  tokenizer: "string",
  special_tokens: "object",
  calibration: "object",
  sha256: "object",
};

function parseManifest(text: string, path: string): CheckpointFile {
  try {
    const file = JSON.parse(text) as CheckpointFile;
    const wrong = Object.entries(REQUIRED).filter(([key, type]) => {
      const value = file[key as keyof CheckpointFile];
      return value === null || typeof value !== type;
    });
    if (wrong.length > 0) throw new Error(`has no valid ${wrong.map(([key]) => key).join(", ")}`);
    return file;
  } catch (cause) {
    throw new QaError("checkpoint_damaged", `${path} is not a checkpoint manifest; ${RESTORE}`, { cause });
  }
}

async function verify(path: string, expected: string | undefined): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash).catch((cause: unknown) => {
    throw new QaError("checkpoint_missing", `${path} cannot be read; ${RESTORE}`, { cause });
  });
  if (hash.digest("hex") !== expected)
    throw new QaError("checkpoint_damaged", `${path} does not have the hash that its manifest gives; ${RESTORE}`);
}
