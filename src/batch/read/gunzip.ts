/** Gzip, recognised by its bytes; of a file that was cut off, all that is there is handed on before the error. */

import { createGunzip } from "node:zlib";
import { QaError } from "../../errors.js";
import { nameOf } from "./row-reader.js";

const INFLATE_BYTES = 16_384; // at most 16 MiB of text at once, also from a gzip bomb (1032 : 1)

/**
 * Unpacks what begins as gzip, by its bytes and not by its name; all else passes.
 * @throws QaError `input_damaged`, after all that could be unpacked
 */
export async function* unpacked(file: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gunzip: Gunzip | undefined;
  let isPlain = false;
  try {
    for await (const chunk of chunks) {
      isPlain ||= gunzip === undefined && !(chunk[0] === 0x1f && chunk[1] === 0x8b);
      if (isPlain) {
        yield chunk;
        continue;
      }
      gunzip ??= openGunzip(file);
      for (let at = 0; at < chunk.length && !gunzip.hasEnded(); at += INFLATE_BYTES)
        yield* gunzip.push(chunk.subarray(at, at + INFLATE_BYTES));
      if (gunzip.hasEnded()) return; // what follows the last member is padding, to gzip too
    }
    if (gunzip !== undefined) yield* gunzip.end();
  } finally {
    gunzip?.close();
  }
}

interface Gunzip {
  push(bytes: Uint8Array): AsyncGenerator<Uint8Array>;
  end(): AsyncGenerator<Uint8Array>;
  hasEnded(): boolean;
  close(): void;
}

/** A gunzip that hands on all it could unpack before it fails; as a pipe, zlib throws away what waits when it fails. */
function openGunzip(file: string): Gunzip {
  const stream = createGunzip();
  const ready: Uint8Array[] = [];
  let failure: Error | undefined;
  let hasEnded = false;
  let wake = () => {};
  stream.on("data", (bytes: Uint8Array) => ready.push(bytes));
  stream.on("end", () => {
    hasEnded = true;
    wake();
  });
  stream.on("error", (error) => {
    failure = error;
    wake(); // the callback of a write that fails is not called
  });
  async function* after(act: (done: () => void) => void): AsyncGenerator<Uint8Array> {
    await new Promise<void>((resolve) => {
      wake = resolve;
      act(resolve);
    });
    yield* ready.splice(0);
    if (failure !== undefined) throw damagedGzip(file, failure);
  }
  return {
    push: (bytes) => after((done) => stream.write(bytes, () => done())),
    end: () => after(() => stream.end()),
    hasEnded: () => hasEnded,
    close: () => stream.destroy(),
  };
}

function damagedGzip(file: string, cause: Error): QaError {
  const isCut = "code" in cause && cause.code === "Z_BUF_ERROR";
  const message = isCut ? "ends before its gzip data does" : "holds damaged gzip data";
  return new QaError("input_damaged", `${nameOf(file)} ${message}; fetch or pack it again`, { cause });
}
