/** Opens a file or stdin as chunks of decoded text: encodings, and the formats that are no text at all. */

import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { QaError } from "../../errors.js";
import { createDecoder, type Decoder, type Encoding } from "./decode-text.js";
import { nameOf } from "./row-reader.js";
import { unpacked } from "./unpack.js";

export interface OpenOptions {
  /** What `-` reads; default `process.stdin`. */
  readonly stdin?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told the bytes taken from the file, as they lie on the disk. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

const HEAD_BYTES = 4;

const FOREIGN: readonly { magic: readonly number[]; kind: string; remedy: string }[] = [
  { magic: [0x28, 0xb5, 0x2f, 0xfd], kind: "zstd data packed twice", remedy: "unpack it once: zstd -d FILE" },
  { magic: [0xfd, 0x37, 0x7a, 0x58], kind: "xz data", remedy: "unpack it first: xz -dc FILE | qa run - --from FORMAT" },
  { magic: [0x42, 0x5a, 0x68], kind: "bzip2 data", remedy: "unpack it first: bzip2 -dc FILE | qa run - --from FORMAT" },
  {
    magic: [0x50, 0x4b, 0x03, 0x04],
    kind: "a zip archive or an Excel workbook",
    remedy: "unzip it, or save the sheet as CSV",
  },
  { magic: [0xd0, 0xcf, 0x11, 0xe0], kind: "an old Excel workbook", remedy: "save the sheet as CSV" },
  {
    magic: [0x50, 0x41, 0x52, 0x31],
    kind: "a Parquet file",
    remedy: "name it *.parquet or pass --from parquet (a file, not stdin)",
  },
  { magic: [0xff, 0xfe, 0x00, 0x00], kind: "UTF-32 text", remedy: "convert it: iconv -f utf-32 -t utf-8" },
  { magic: [0x00, 0x00, 0xfe, 0xff], kind: "UTF-32 text", remedy: "convert it: iconv -f utf-32 -t utf-8" },
];

/**
 * Text of an input, chunk by chunk; stopping early closes the file.
 * @throws QaError `input_missing`, `input_unsupported`, `input_damaged` (after all that could be read), `aborted`
 */
export async function* openText(file: string, options: OpenOptions = {}): AsyncGenerator<string, void, undefined> {
  let decoder: Decoder | undefined;
  for await (const bytes of headFirst(openBytes(file, options))) {
    decoder ??= createDecoder(encodingOf(file, bytes));
    yield decoder.push(bytes);
  }
  if (decoder !== undefined) yield decoder.end();
}

/**
 * Bytes of an input, unpacked where they are gzip or zstd; stopping early closes the file.
 * @throws QaError `input_missing`, `input_unsupported` for a directory or what this Node cannot unpack, `input_damaged`, `aborted`
 */
export function openBytes(file: string, options: OpenOptions = {}): AsyncGenerator<Uint8Array> {
  return unpacked(file, headFirst(readBytes(file, options)));
}

async function* readBytes(file: string, { stdin, signal, onBytes }: OpenOptions): AsyncGenerator<Uint8Array> {
  const stream = file === "-" ? (stdin ?? process.stdin) : createReadStream(file);
  if (signal !== undefined) addAbortSignal(signal, stream);
  try {
    for await (const chunk of stream) {
      const bytes: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      onBytes?.(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw signal?.aborted ? new QaError("aborted", "reading was stopped", { cause: error }) : openError(file, error);
  }
}

/** The same bytes, the first chunk long enough to tell what they are. */
async function* headFirst(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  let isTold = false;
  for await (const chunk of chunks) {
    if (!isTold) head = Buffer.concat([head, chunk]);
    if (isTold) yield chunk;
    else if (head.length >= HEAD_BYTES) {
      isTold = true;
      yield head;
    }
  }
  if (!isTold && head.length > 0) yield head;
}

function encodingOf(file: string, head: Uint8Array): Encoding {
  for (const { magic, kind, remedy } of FOREIGN)
    if (magic.every((byte, at) => head[at] === byte))
      throw new QaError("input_unsupported", `${nameOf(file)} is ${kind}, not text; ${remedy}`);
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const sample = head.subarray(0, 1024);
  if (sample.filter((byte) => byte === 0).length * 4 <= sample.length) return "utf-8";
  const remedy = "if it is UTF-16, convert it: iconv -f utf-16le -t utf-8 (or utf-16be)";
  throw new QaError("input_unsupported", `${nameOf(file)} is UTF-16 without a byte order mark, or no text; ${remedy}`);
}

/** Why a file cannot be opened or read. */
export function openError(file: string, cause: unknown): QaError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT") return new QaError("input_missing", `no file ${nameOf(file)}; check its name`, { cause });
  if (code === "EACCES" || code === "EPERM")
    return new QaError("input_missing", `${nameOf(file)} may not be read; check its permissions`, { cause });
  if (code === "EISDIR")
    return new QaError("input_unsupported", `${nameOf(file)} is a directory; name its files`, { cause });
  return new QaError("input_damaged", `${nameOf(file)} could not be read to its end (${String(code)})`, { cause });
}
