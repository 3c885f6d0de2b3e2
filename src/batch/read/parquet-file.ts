/** A file that is read here and there, the parts of one row group kept, since its slices take the same ones. */

import { open } from "node:fs/promises";
import type { AsyncBuffer } from "hyparquet";

export interface ParquetFile extends AsyncBuffer {
  /** Forgets what was read: for the next row group. */
  forget(): void;
  close(): Promise<void>;
}

/** @throws the system's error where it cannot be opened */
export async function openParquetFile(path: string): Promise<ParquetFile> {
  const handle = await open(path);
  const parts = new Map<string, Promise<ArrayBuffer>>();
  const { size } = await handle.stat();

  async function read(start: number, end: number): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(end - start);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw new Error("the file ends too early");
      at += bytesRead;
    }
    return bytes.buffer;
  }

  return {
    byteLength: size,
    slice(start, end = size) {
      const key = `${start} ${end}`;
      const part = parts.get(key) ?? read(start, end);
      parts.set(key, part);
      return part;
    },
    forget: () => parts.clear(),
    close: () => handle.close(),
  };
}
