/** Opens the files of a run: as a journal where all are files that a later run can go on with, else as streams. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { QaError } from "../errors.js";
import { Journal, type JournalOptions } from "./journal/journal.js";
import { createRunStream } from "./write/run-sink.js";

export interface SinkOptions extends JournalOptions {
  /** The files that the run reads, none of which may be written. */
  readonly inputs: readonly string[];
}

/**
 * Opens the files of a run; nothing is written yet.
 * @throws QaError `invalid_usage`: a file that is also an input, or named twice; those of `Journal.open`
 */
export async function openSink(options: SinkOptions): Promise<Journal | ReturnType<typeof createRunStream>> {
  const { files, inputs, restart } = options;
  if (files.rejects === "-")
    throw new QaError("invalid_usage", "--rejects takes the name of a file, as in rejects.ndjson");
  await assertApart(Object.values(files), inputs);
  const isStream = files.out === "-" || (await stat(files.out).catch(() => undefined))?.isFile() === false;
  if (!isStream) return Journal.open(options);
  const isDirectory = files.out !== "-" && (await stat(files.out)).isDirectory();
  if (isDirectory) throw new QaError("invalid_usage", `${files.out} is a directory; name a file in it`);
  return createRunStream({ files, restart });
}

/** Holds all written files apart from one another and from what is read, by whatever names. */
async function assertApart(outputs: readonly (string | undefined)[], inputs: readonly string[]): Promise<void> {
  const known = new Map<string, "input" | "output">();
  for (const input of inputs) known.set(await identityOf(input), "input");
  for (const path of outputs) {
    if (path === undefined || path === "-" || path === "/dev/null") continue;
    const identity = await identityOf(path);
    const also = known.get(identity);
    if (also === "input")
      throw new QaError(
        "invalid_usage",
        `${path} is also an input, and would be changed while it is read; name another`,
      );
    if (also === "output") throw new QaError("invalid_usage", `${path} is named for two outputs; name another for one`);
    known.set(identity, "output");
  }
}

async function identityOf(path: string): Promise<string> {
  const entry = await stat(path).catch(() => undefined); // what is wrong with it, opening it will tell
  return entry === undefined ? resolve(path) : `${entry.dev}:${entry.ino}`;
}
