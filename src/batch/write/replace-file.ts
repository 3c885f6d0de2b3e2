/** An output that is there as a whole or not at all: written beside its place, and renamed into it at the end. */

import { randomBytes } from "node:crypto";
import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { QaError } from "../../errors.js";
import type { RowWriter } from "./row-queue.js";
import { openRowWriter } from "./write-rows.js";

export interface Replacement {
  readonly writer: RowWriter;
  /** Closes the writer and puts the file in its place. @throws QaError `output_failed` */
  commit(): Promise<void>;
  /** Removes what was written. */
  discard(): Promise<void>;
}

export interface ReplacementOptions {
  /** A file, compressed where its name ends in `.gz` or `.zst`. */
  readonly out: string;
  /** Replace a file that exists. */
  readonly force: boolean;
}

/**
 * Opens a file to be written as a whole.
 * @throws QaError `output_exists`, `invalid_usage`, `output_failed`
 */
export async function openReplacement({ out, force }: ReplacementOptions): Promise<Replacement> {
  const entry = await stat(out).catch(() => undefined);
  if (out === "-" || (entry !== undefined && !entry.isFile()))
    throw new QaError("invalid_usage", `${out} is no file; name one, since it is written as a whole or not at all`);
  if (entry !== undefined && !force) {
    const message = `${out} exists; name another file, or pass --force to overwrite it`;
    throw new QaError("output_exists", message, { details: { file: out } });
  }
  const beside = join(dirname(out), `.${randomBytes(4).toString("hex")}-${basename(out)}`);
  const writer = await openRowWriter({ out: beside, force: true });
  return {
    writer,
    async commit() {
      await writer.close();
      await rename(beside, out).catch((cause: unknown) => {
        throw new QaError("output_failed", `${out} could not be written; check its folder`, { cause });
      });
    },
    async discard() {
      await writer.abort();
      await rm(beside, { force: true });
    },
  };
}
