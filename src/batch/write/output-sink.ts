/** Where blocks of rows go: a file, packed (a member a block, so that whole blocks are whole files) or not, or a stream such as stdout. */

import type { FileHandle } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { Sink } from "./row-queue.js";

/** Packs a block into a member of its own. */
export type Pack = (block: Buffer) => Promise<Buffer>;

export interface FileSinkOptions {
  /** Whether it is a file on a disk, and neither a pipe nor a device. */
  readonly isRegular: boolean;
  /** Default: as it is. */
  readonly pack?: Pack | undefined;
  /** Length of the file, which blocks are added to; default 0. */
  readonly from?: number;
  /** Told of the file's new length after each block. */
  readonly onBlock?: (bytes: number) => void;
}

/** A sink to an open file that it closes; a block that does not fit is taken back, so that the file ends with a whole row. */
export function createFileSink(handle: FileHandle, { isRegular, pack, from = 0, onBlock }: FileSinkOptions): Sink {
  let whole = from;
  return {
    async write(block) {
      const bytes = pack === undefined ? block : await pack(block);
      try {
        for (let at = 0; at < bytes.length; )
          at += (await handle.write(bytes, at, bytes.length - at, isRegular ? whole + at : null)).bytesWritten;
        whole += bytes.length;
      } catch (error) {
        if (isRegular) await handle.truncate(whole);
        throw error;
      }
      onBlock?.(whole);
    },
    async sync() {
      if (isRegular) await handle.datasync();
    },
    async close() {
      try {
        if (isRegular) await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** A sink to a stream that others own: it is not ended. */
export function createStreamSink(stream: Writable): Sink {
  let failure: Error | undefined;
  const onError = (error: Error): Error => {
    failure ??= error;
    return failure;
  };
  stream.on("error", onError); // a broken pipe is also an event, and would end the process
  return {
    write: (block) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        stream.write(block, (error) => (error ? reject(onError(error)) : resolve()));
      }),
    async close() {
      if (failure === undefined) stream.off("error", onError);
    },
  };
}
