/** Opens the output of a run: stdout, or a file that nothing is overwritten for unless asked. */

import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { QaError } from "../../errors.js";
import { createFileSink, createStreamSink } from "./output-sink.js";
import { packOf } from "./pack.js";
import { codeOf, createRowQueue, type RowWriter } from "./row-queue.js";

export interface WriteOptions {
  /** A file, compressed where its name ends in `.gz` or `.zst`, or `-` for stdout. */
  readonly out: string;
  /** Overwrite a file that exists; it is emptied at once. */
  readonly force?: boolean | undefined;
  /** The files that the run reads, none of which may be the output. */
  readonly inputs?: readonly string[] | undefined;
  /** What `-` writes to; default `process.stdout`. */
  readonly stdout?: Writable | undefined;
}

const PACKED_BLOCK = 1024 * 1024;

/**
 * Opens an output for whole rows. Rows reach a file as they come (a compressed file by the MiB) and are flushed at `close`.
 * @throws QaError `output_exists`, `invalid_usage` for a folder that is missing, an output that is an input or a compression that this Node lacks,
 * `output_failed`
 */
export async function openRowWriter({ out, force = false, inputs = [], stdout }: WriteOptions): Promise<RowWriter> {
  if (out === "-") return createRowQueue(createStreamSink(stdout ?? process.stdout), { name: "stdout" });
  const entry = await statOf(out);
  if (entry?.isDirectory()) throw new QaError("invalid_usage", `${out} is a directory; name a file in it`);
  const isRegular = entry === undefined || entry.isFile();
  const pack = packOf(out);
  if (entry !== undefined && isRegular) {
    for (const input of inputs) await assertOther(input, out, entry);
    if (!force) throw outputExists(out);
  }
  const handle = await open(out, force || !isRegular ? "w" : "wx").catch((error) => {
    throw openError(out, error);
  });
  return createRowQueue(createFileSink(handle, { isRegular, pack }), {
    name: out,
    ...(pack === undefined ? {} : { minBlock: PACKED_BLOCK }),
  });
}

async function statOf(file: string) {
  return await stat(file).catch(() => undefined); // what is wrong with it, opening it will tell
}

async function assertOther(input: string, out: string, { dev, ino }: { dev: number; ino: number }): Promise<void> {
  const entry = input === "-" ? undefined : await statOf(input);
  if (entry?.dev === dev && entry.ino === ino)
    throw new QaError("invalid_usage", `${out} is also an input, and would be emptied before it is read; name another`);
}

function outputExists(out: string): QaError {
  const message = `${out} exists; name another file, or pass --force to overwrite it`;
  return new QaError("output_exists", message, { details: { file: out } });
}

function openError(out: string, cause: unknown): QaError {
  const code = codeOf(cause);
  if (code === "EEXIST") return outputExists(out);
  if (code === "ENOENT" || code === "ENOTDIR") {
    const folder = dirname(out);
    return new QaError("invalid_usage", `no folder ${folder} for the output; make it first: mkdir -p ${folder}`, {
      cause,
    });
  }
  const why =
    code === "EACCES" || code === "EPERM" || code === "EROFS" ? "may not be written" : `could not be opened (${code})`;
  return new QaError("output_failed", `${out} ${why}; check its permissions, or name another file`, { cause });
}
