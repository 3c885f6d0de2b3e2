/** How inputs and outputs may be compressed: gzip everywhere, zstd where this Node has it. One table for reading and writing. */

import type { Transform } from "node:stream";
import { promisify } from "node:util";
import * as zlib from "node:zlib";

export interface Codec {
  readonly name: "gzip" | "zstd";
  /** Of file names, without the dot. */
  readonly extension: "gz" | "zst";
  /** The first bytes of what is compressed so. */
  readonly magic: readonly number[];
  /** Compressed bytes to unpack at once, so that at most 16 MiB of text come of them, also of a bomb. */
  readonly unpackBytes: number;
  /** Whether a stream unpacks one frame only, and has to be given one. */
  readonly isFramed: boolean;
  /** A stream that unpacks; none where this Node has none. */
  readonly createUnpacker: (() => Transform) | undefined;
  /** A block packed by itself, so that packed blocks one after the other are one packed file. */
  readonly pack: ((block: Buffer) => Promise<Buffer>) | undefined;
}

/** What newer versions of Node have, and the types of the oldest that is supported do not know. */
interface ZlibWithZstd {
  readonly createZstdDecompress?: (options?: { params?: Record<number, number> }) => Transform;
  readonly zstdCompress?: (block: Buffer, done: (error: Error | null, packed: Buffer) => void) => void;
}

/** The codecs of a Node by its zlib. */
export function codecsOf({ createZstdDecompress, zstdCompress }: ZlibWithZstd): readonly Codec[] {
  return [
    {
      name: "gzip",
      extension: "gz",
      magic: [0x1f, 0x8b],
      unpackBytes: 16_384, // 1032 : 1
      isFramed: false, // it goes on with the next member by itself
      createUnpacker: () => zlib.createGunzip(),
      pack: promisify<Buffer, Buffer>(zlib.gzip),
    },
    {
      name: "zstd",
      extension: "zst",
      magic: [0x28, 0xb5, 0x2f, 0xfd],
      unpackBytes: 512, // 32,768 : 1
      isFramed: true,
      createUnpacker: createZstdDecompress && (() => createZstdDecompress()),
      pack: zstdCompress && promisify<Buffer, Buffer>(zstdCompress),
    },
  ];
}

export const CODECS = codecsOf(zlib as ZlibWithZstd);

/** What an error says where this Node lacks zstd. */
export const ZSTD_NEEDS = `zstd needs Node 22.15, 23.8 or newer, and this is ${process.version}`;

/** The codec that a file's name tells. */
export function codecOfName(file: string, codecs: readonly Codec[] = CODECS): Codec | undefined {
  const extension = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase();
  return codecs.find((codec) => codec.extension === extension);
}

/** A file's name without the extension of a codec. */
export function withoutCodec(file: string): string {
  const codec = codecOfName(file);
  return codec === undefined ? file : file.slice(0, -codec.extension.length - 1);
}
