/**
 * Files of a run that take the place of its own all at once: they are written beside them, the sidecar says what they will
 * be, they are renamed, and the sidecar says that they are. Killed in between, the next run ends what was begun.
 */

import { realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathsOf, type RunFiles } from "../write/run-sink.js";
import { type Sidecar, writeSidecar } from "./sidecar.js";

/** Where what will take a file's place is written: beside it, with its ending, by which it is packed. */
export async function replacementOf(path: string): Promise<string> {
  const file = await placeOf(path);
  return join(dirname(file), `.qa-rows.${basename(file)}`);
}

/** The file itself where a path is a link to it, since a rename would put another in the place of the link. */
function placeOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/**
 * Puts the written replacements of all files in their places.
 * @param sidecar of the files as they are
 * @param replacement of what takes their place
 * @throws QaError `output_failed`
 */
export async function commitReplacement(files: RunFiles, sidecar: Sidecar, replacement: Sidecar): Promise<void> {
  await writeSidecar(files.out, { ...sidecar, replacement });
  await renameAll(files);
  await writeSidecar(files.out, replacement);
}

/**
 * The sidecar of an output whose replacement, if one was begun, is ended or dropped: ended from the moment when the sidecar
 * had told of it, since all files were written by then.
 * @throws QaError `output_failed`
 */
export async function settleReplacement({ out }: RunFiles, sidecar: Sidecar): Promise<Sidecar> {
  const files = { out, ...besidesOf(sidecar) }; // of the run that wrote them, whatever this one names
  if (sidecar.replacement === undefined) {
    await discardReplacement(files);
    return sidecar;
  }
  await renameAll(files);
  await writeSidecar(out, sidecar.replacement);
  return sidecar.replacement;
}

function besidesOf({ fingerprint: { rejects, review } }: Sidecar): Omit<RunFiles, "out"> {
  const pathOf = (value: unknown) => (typeof value === "string" ? value : undefined);
  return { rejects: pathOf(rejects), review: pathOf(review) };
}

/** Removes what was written to take the place of files. */
export async function discardReplacement(files: RunFiles): Promise<void> {
  for (const [, path] of pathsOf(files)) await rm(await replacementOf(path), { force: true });
}

async function renameAll(files: RunFiles): Promise<void> {
  for (const [, path] of pathsOf(files)) {
    const written = await replacementOf(path);
    if ((await stat(written).catch(() => undefined)) !== undefined) await rename(written, await placeOf(path));
  }
}
