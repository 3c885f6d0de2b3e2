/** The files of a run, written anew beside the old ones. */

import { createReadStream } from "node:fs";
import { chmod, stat } from "node:fs/promises";
import { type JournaledFile, openJournaledFile } from "../journal/journaled-file.js";
import { discardReplacement, replacementOf } from "../journal/replacement.js";
import type { FileRole, Mark } from "../journal/sidecar.js";
import { pathsOf, type RowTexts, type RunFiles } from "../write/run-sink.js";

export interface ReplacementFiles {
  write(texts: RowTexts, rows: number): Promise<void>;
  /** @throws QaError `output_failed` */
  close(): Promise<Mark["files"]>;
  /** Closes what is open and removes what has not taken its place. */
  discard(): Promise<void>;
}

/**
 * Opens the files anew; rows for review come behind those that are there, whose answers stay.
 * @throws QaError `output_failed`
 */
export async function openReplacementFiles(files: RunFiles): Promise<ReplacementFiles> {
  const open = new Map<FileRole, JournaledFile>();
  for (const [role, path] of pathsOf(files)) open.set(role, await openBeside(path));
  const review = open.get("review");
  const hasHead = review !== undefined && (await copyInto(review, files.review as string));
  return {
    async write(texts, rows) {
      const isHead = (role: FileRole) => role === "review" && rows === 0 && hasHead;
      await Promise.all([...open].map(([role, file]) => file.write(isHead(role) ? "" : (texts[role] ?? ""), rows)));
    },
    async close() {
      const facts: Partial<Record<FileRole, Awaited<ReturnType<JournaledFile["close"]>>>> = {};
      for (const [role, file] of open) {
        open.delete(role);
        facts[role] = await file.close();
      }
      return facts;
    },
    async discard() {
      for (const file of open.values()) await file.abort();
      open.clear();
      await discardReplacement(files);
    },
  };
}

/** Opens what will take a file's place, to be read and written by the same as that. */
async function openBeside(path: string): Promise<JournaledFile> {
  const beside = await replacementOf(path);
  const file = await openJournaledFile(beside, { type: "overwrite" });
  const mode = (await stat(path).catch(() => undefined))?.mode;
  if (mode !== undefined) await chmod(beside, mode);
  return file;
}

/** Copies a file, if it is there, and ends its last line, which editors may leave without an end. */
async function copyInto(file: JournaledFile, path: string): Promise<boolean> {
  if ((await stat(path).catch(() => undefined)) === undefined) return false;
  let last = "\n";
  for await (const text of createReadStream(path, { encoding: "utf8" })) {
    last = text as string;
    await file.write(last, 0);
  }
  if (!last.endsWith("\n")) await file.write("\n", 0);
  return true;
}
