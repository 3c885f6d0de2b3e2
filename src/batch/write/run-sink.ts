/** Where the rows of a run go, and from where it goes on: what a run asks of its outputs, and outputs that none can go on with. */

import type { Writable } from "node:stream";
import type { FileRole, Fingerprint } from "../journal/sidecar.js";
import type { Tally } from "../progress/tally.js";
import type { InputPlace } from "../read/read-requests.js";
import type { RowWriter } from "./row-queue.js";
import { openRowWriter } from "./write-rows.js";

/** Path of each file of a run. */
export type RunFiles = { readonly out: string } & { readonly [role in FileRole]?: string | undefined };

/** The files that a run writes. */
export function pathsOf(files: RunFiles): readonly (readonly [FileRole, string])[] {
  return Object.entries(files).flatMap(([role, path]) =>
    path === undefined ? [] : [[role as FileRole, path] as const],
  );
}

/** What a row comes to, for each file that gets something of it. */
export type RowTexts = { readonly out: string } & { readonly [role in FileRole]?: string | undefined };

export interface RunStart {
  readonly fingerprint: Fingerprint;
  /** What stands before the first row of each file. */
  readonly heads: RowTexts;
  readonly tally: Tally;
}

export interface RunSink {
  /** Where an earlier sitting of this run ended; nothing where it is to begin. */
  readonly done: InputPlace | undefined;
  /** Aborted once nobody reads the output any more. */
  readonly readerGone: AbortSignal;
  /** Opens the files, once all that can be wrong with the run before its first row is found. @throws QaError */
  begin(start: RunStart): Promise<void>;
  /** Takes a row that the tally has counted, and its place. @throws QaError `output_failed` */
  write(texts: RowTexts, at: InputPlace): Promise<void>;
  /** @param end where the input stands: its end, if the run is finished. @throws QaError `output_failed` */
  close(end: { readonly finished: boolean; readonly input: InputPlace }): Promise<void>;
  /** Ends without writing what waits. */
  abort(): Promise<void>;
}

export interface StreamSinkOptions {
  /** `-` for stdout. */
  readonly files: RunFiles;
  readonly restart: boolean;
  /** What `-` writes to; default `process.stdout`. */
  readonly stdout?: Writable | undefined;
}

/** A sink to stdout, a pipe or a device, and to files beside it. */
export function createRunStream({ files, restart, stdout }: StreamSinkOptions): RunSink {
  const gone = new AbortController();
  const writers = new Map<FileRole, RowWriter>();
  const writeAll = async (texts: RowTexts, rows: number) => {
    await Promise.all([...writers].map(([role, writer]) => writer.write(texts[role] ?? "", rows)));
  };
  return {
    done: undefined,
    readerGone: gone.signal,
    async begin({ heads }) {
      for (const [role, path] of pathsOf(files))
        writers.set(role, await openRowWriter({ out: path, force: restart, stdout }));
      writers.get("out")?.readerGone.addEventListener("abort", () => gone.abort());
      await writeAll(heads, 0);
    },
    write: (texts) => writeAll(texts, 1),
    async close() {
      await Promise.all([...writers.values()].map((writer) => writer.close()));
    },
    async abort() {
      await Promise.all([...writers.values()].map((writer) => writer.abort()));
    },
  };
}
