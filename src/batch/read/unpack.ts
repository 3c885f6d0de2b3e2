/** Compressed input, recognised by its bytes; of a file that was cut off, all that is there is handed on before the error. */

import type { Transform } from "node:stream";
import { QaError } from "../../errors.js";
import { CODECS, type Codec, ZSTD_NEEDS } from "../codecs.js";
import { nameOf } from "./row-reader.js";
import { createFrameSplitter } from "./zstd-frames.js";

/**
 * Unpacks what begins as compressed data, by its bytes and not by its name; all else passes.
 * @throws QaError `input_damaged`, after all that could be unpacked; `input_unsupported` for what this Node cannot unpack
 */
export async function* unpacked(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  codecs: readonly Codec[] = CODECS,
): AsyncGenerator<Uint8Array> {
  let codec: Codec | undefined;
  let unpacker: Unpacker | undefined;
  let isPlain = false;
  try {
    for await (const chunk of chunks) {
      codec ??= isPlain ? undefined : codecs.find(({ magic }) => magic.every((byte, at) => chunk[at] === byte));
      isPlain = codec === undefined;
      if (codec === undefined) {
        yield chunk;
        continue;
      }
      unpacker ??= openUnpacker(file, codec);
      for (let at = 0; at < chunk.length && !unpacker.hasEnded(); at += codec.unpackBytes)
        yield* unpacker.push(chunk.subarray(at, at + codec.unpackBytes));
      if (unpacker.hasEnded()) return; // what follows the last member is padding, to gzip too
    }
    if (unpacker !== undefined) yield* unpacker.end();
  } catch (error) {
    throw error instanceof QaError || codec === undefined ? error : damaged(file, codec, error);
  } finally {
    unpacker?.close();
  }
}

interface Unpacker {
  push(bytes: Uint8Array): AsyncGenerator<Uint8Array>;
  end(): AsyncGenerator<Uint8Array>;
  hasEnded(): boolean;
  close(): void;
}

function openUnpacker(file: string, { createUnpacker, isFramed, extension }: Codec): Unpacker {
  if (createUnpacker !== undefined) return isFramed ? openFramed(createUnpacker) : openStream(createUnpacker());
  const remedy = `unpack it first: zstd -dc ${file === "-" ? "" : file.endsWith(`.${extension}`) ? file : "FILE"} | qa run - --from FORMAT`;
  throw new QaError("input_unsupported", `${nameOf(file)} is zstd data; ${ZSTD_NEEDS}; ${remedy}`);
}

/** An unpacker that hands on all it could unpack before it fails; as a pipe, zlib throws away what waits when it fails. */
function openStream(stream: Transform): Unpacker {
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
    if (failure !== undefined) throw failure;
  }
  return {
    push: (bytes) => after((done) => stream.write(bytes, () => done())),
    end: () => after(() => stream.end()),
    hasEnded: () => hasEnded,
    close: () => stream.destroy(),
  };
}

/** A stream a frame. */
function openFramed(createUnpacker: () => Transform): Unpacker {
  const splitter = createFrameSplitter();
  let stream: Unpacker | undefined;
  return {
    async *push(bytes) {
      for (const part of splitter.push(bytes)) {
        stream ??= openStream(createUnpacker());
        if (part.type === "bytes") {
          yield* stream.push(part.bytes);
          continue;
        }
        yield* stream.end();
        stream.close();
        stream = undefined;
      }
    },
    async *end() {
      if (!splitter.isWhole()) throw new CutError();
      if (stream !== undefined) yield* stream.end();
    },
    hasEnded: () => false,
    close: () => stream?.close(),
  };
}

class CutError extends Error {}

function damaged(file: string, { name }: Codec, cause: unknown): QaError {
  const isCut =
    cause instanceof CutError || (cause instanceof Error && "code" in cause && cause.code === "Z_BUF_ERROR");
  const message = isCut ? `ends before its ${name} data does` : `holds damaged ${name} data`;
  return new QaError("input_damaged", `${nameOf(file)} ${message}; fetch or pack it again`, { cause });
}
