/** The jobs of a run on a queue: which rows of which files, asked what, written where. Never a text, an answer or a key. Pure. */

import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import type { Range } from "../batch/read/part.js";
import type { ReadOptions } from "../batch/read/read-rows.js";
import type { StateOptions } from "../batch/read/state-of-row.js";
import type { OutputOptions } from "../batch/write/output-format.js";
import type { ChunkOptions } from "../engine/chunked-reading.js";
import { QaError } from "../errors.js";

export type QuestionsSource =
  | { readonly type: "file"; readonly file: string }
  | { readonly type: "preset"; readonly name: string };

/** All that decides the answers of a run, as JSON. */
export interface RunSettings {
  /** `undefined`: the rows carry their own. */
  readonly questions?: QuestionsSource | undefined;
  readonly read: Pick<ReadOptions, "from" | "delimiter">;
  readonly state: StateOptions;
  readonly limit?: number | undefined;
  readonly model?: string | undefined;
  readonly deployment: string;
  readonly chunk?: ChunkOptions | undefined;
  readonly output: OutputOptions;
}

export interface PushedRun {
  /** Absolute paths, which the workers have to see as well. */
  readonly inputs: readonly string[];
  /** Absolute path of the folder of the parts. */
  readonly out: string;
  readonly rowsPerPart: number;
  readonly settings: RunSettings;
}

/** What a run was when it was pushed, and has to be when its parts are answered. */
export interface RunFacts {
  /** Rows of the input. */
  readonly rows: number;
  /** Of all rows of the input. */
  readonly digest: string;
  /** Digest of the questions. */
  readonly questions: string;
}

/** What one job of the queue holds. */
export interface PartJob extends Pick<PushedRun, "inputs" | "settings"> {
  /** Tells the jobs of one run from those of any other. */
  readonly run: string;
  readonly facts: RunFacts;
  readonly range: Range;
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** Absolute path of the file that holds the answers. */
  readonly out: string;
}

/** What a finished job tells. */
export interface PartResult {
  readonly rows: number;
  readonly failed: number;
}

/** The jobs of a run; an input without rows is one part. */
export function planParts({ inputs, out, rowsPerPart, settings }: PushedRun, facts: RunFacts): readonly PartJob[] {
  const run = digestOf({ inputs, out, rowsPerPart, settings, facts });
  const count = Math.max(1, Math.ceil(facts.rows / rowsPerPart));
  return Array.from({ length: count }, (_, index) => {
    const from = index * rowsPerPart;
    const range: Range = { type: "range", from, to: Math.max(from, Math.min(from + rowsPerPart, facts.rows)) };
    const name = `part-${padded(index)}-of-${padded(count)}.${settings.output.format}`;
    return { run, inputs, settings, facts, range, index, count, out: join(out, name) };
  });
}

/** Name of the job in the queue; the same for the same part, so that it is there once however often it is pushed. */
export function jobIdOf({ index, count }: PartJob): string {
  return `part-${padded(index)}-of-${padded(count)}`;
}

/** `part 3/120, rows 2001 to 3000`. */
export function nameOfJob({ index, count, range }: PartJob): string {
  return `part ${index + 1}/${count}, rows ${range.from + 1} to ${range.to}`;
}

/**
 * The queue of a run: `name` where it is given, else made from the folder of its parts.
 * @throws QaError `invalid_usage`
 */
export function resolveQueueName({ queue, out }: { queue?: string | undefined; out?: string | undefined }): string {
  if (queue !== undefined) {
    if (/^[\w.-]{1,100}$/.test(queue)) return queue;
    throw new QaError("invalid_usage", "--queue takes letters, digits and . _ -, at most 100");
  }
  if (out === undefined)
    throw new QaError("invalid_usage", "which queue? pass --out DIR as to qa queue push, or --queue NAME");
  const path = resolve(out);
  return `qa-${basename(path)
    .replace(/[^\w.-]+/g, "-")
    .slice(0, 60)}-${digestOf(path).slice(0, 8)}`;
}

function padded(value: number): string {
  return String(value).padStart(5, "0");
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
