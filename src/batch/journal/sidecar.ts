/**
 * The facts that stand beside an output, in `FILE.qa`: what made it, of which input, and up to where it is whole. Rewritten as
 * a whole, so that it is there as it was or as it is, never half.
 */

import { open, readFile, rename } from "node:fs/promises";
import type { JsonValue } from "../../decision/json.js";
import { QaError } from "../../errors.js";
import { isTallySnapshot, type TallySnapshot } from "../progress/tally-snapshot.js";
import type { Part } from "../read/part.js";
import type { InputPlace } from "../read/read-requests.js";
import { outputFailed } from "../write/output-errors.js";

/** All that decides what a row of the output says, as plain JSON; texts stand in it as hashes. */
export interface Fingerprint {
  readonly [key: string]: JsonValue;
}

/** The files of a run: its output, the inputs of its failed rows, and the rows that a person is to look at. */
export type FileRole = "out" | "rejects" | "review";

export interface FileFacts {
  /** Length up to which it is whole. */
  readonly bytes: number;
  /** Hash of the last of these bytes. */
  readonly tail: string;
}

/** A place that a run can go on from. */
export interface Mark {
  /** Rows of the output. */
  readonly rows: number;
  /** Where the input stood behind the last of these rows; of a finished run its end. */
  readonly input: InputPlace;
  readonly files: { readonly [role in FileRole]?: FileFacts };
  readonly tally: TallySnapshot;
}

export interface Sidecar extends Mark {
  readonly version: 1;
  readonly fingerprint: Fingerprint;
  /** Which rows of the input; `null` for all. */
  readonly part: Part | null;
  readonly finished: boolean;
  /**
   * Of a packed output that ends with a block which is not full: the place before that block, since a run that goes on packs
   * it anew, so that blocks are cut as if it had never stopped.
   */
  readonly full?: Mark;
  /** Over all sittings. */
  readonly sittings: number;
  readonly elapsedMs: number;
  /** What a rewritten output will have for facts, between its writing and its renaming. */
  readonly replacement?: Sidecar;
}

/** Name of the sidecar of an output. */
export function sidecarOf(out: string): string {
  return `${out}.qa`;
}

/** Whether a name is that of a sidecar. */
export function isSidecarName(file: string): boolean {
  return file.endsWith(".qa");
}

/**
 * Reads the sidecar of an output, `undefined` where there is none.
 * @throws QaError `input_damaged`
 */
export async function findSidecar(out: string): Promise<Sidecar | undefined> {
  const file = sidecarOf(out);
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw new QaError("input_damaged", `${file} cannot be read (${cause.code}); check its permissions`, { cause });
  });
  if (text === undefined) return undefined;
  const value = parse(text);
  if (isSidecar(value)) return value;
  const message = `${file} is not what this version of qa writes; make ${out} again (qa run --restart), or name another output`;
  throw new QaError("input_damaged", message, { details: { file } });
}

/**
 * Reads the sidecar of an output that has to have one.
 * @throws QaError `input_missing`, `input_damaged`
 */
export async function readSidecar(out: string): Promise<Sidecar> {
  const sidecar = await findSidecar(out);
  if (sidecar !== undefined) return sidecar;
  const message = `${out} has no ${sidecarOf(out)} beside it that tells what it holds; qa run writes both: keep them together`;
  throw new QaError("input_missing", message);
}

/**
 * Puts the sidecar in the place of the one before it, on the disk when it returns.
 * @throws QaError `output_failed`
 */
export async function writeSidecar(out: string, sidecar: Sidecar): Promise<void> {
  const file = sidecarOf(out);
  const beside = `${file}.new`;
  try {
    const handle = await open(beside, "w");
    try {
      await handle.writeFile(`${JSON.stringify(sidecar, undefined, 1)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (cause) {
    throw outputFailed(file, sidecar.rows, cause);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSidecar(value: unknown): value is Sidecar {
  if (typeof value !== "object" || value === null) return false;
  const { version, rows, input, files, fingerprint, tally } = value as Partial<Sidecar>;
  if (version !== 1 || !isTallySnapshot(tally) || !isObject(fingerprint) || !isObject(files) || !isObject(input))
    return false;
  const isPlaced = Number.isSafeInteger(rows) && Number.isSafeInteger(input.rows) && typeof input.digest === "string";
  return isPlaced && (rows === 0 || isObject(files.out));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
