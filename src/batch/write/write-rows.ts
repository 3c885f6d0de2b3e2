/** Opens a stream of rows that nobody can go on with later: stdout, a pipe, a device, or a file that is written at one go. */

import { open, stat } from "node:fs/promises";
import type { Writable } from "node:stream";
import { openError, outputExists } from "./output-errors.js";
import { createFileSink, createStreamSink } from "./output-sink.js";
import { PACKED_BLOCK, packingOf } from "./pack.js";
import { createRowQueue, type RowWriter } from "./row-queue.js";

export interface WriteOptions {
  /** A file, packed where its name says so (`.gz`), or `-` for stdout. */
  readonly out: string;
  /** Overwrite a file that exists; it is emptied at once. */
  readonly force?: boolean | undefined;
  /** What `-` writes to; default `process.stdout`. */
  readonly stdout?: Writable | undefined;
}

/**
 * Opens an output for whole rows. Rows reach it as they come (packed ones by the block).
 * @throws QaError `output_exists`, `invalid_usage` for a folder that is missing, `output_failed`
 */
export async function openRowWriter({ out, force = false, stdout }: WriteOptions): Promise<RowWriter> {
  if (out === "-") return createRowQueue(createStreamSink(stdout ?? process.stdout), { name: "stdout" });
  const entry = await stat(out).catch(() => undefined); // what is wrong with it, opening it will tell
  const isRegular = entry === undefined || entry.isFile();
  if (entry !== undefined && isRegular && !force) throw outputExists(out);
  const handle = await open(out, force || !isRegular ? "w" : "wx").catch((error) => {
    throw openError(out, error);
  });
  const pack = packingOf(out)?.pack;
  const sink = createFileSink(handle, { isRegular, pack });
  return createRowQueue(sink, { name: out, ...(pack === undefined ? {} : { blockLength: PACKED_BLOCK }) });
}
