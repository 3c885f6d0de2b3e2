/** How outputs are packed, by the end of their names: each block a member of its own, and what was packed so unpacked again. */

import { Readable } from "node:stream";
import { QaError } from "../../errors.js";
import { CODECS, type Codec, codecOfName, ZSTD_NEEDS } from "../codecs.js";
import { unpacked } from "../read/unpack.js";
import type { Pack } from "./output-sink.js";

export interface Packing {
  readonly pack: Pack;
  /** Of whole members. */
  readonly unpack: Pack;
}

/** Characters of a block that is packed: all that a killed run answers anew, and hardly longer in all than one member. */
export const PACKED_BLOCK = 256 * 1024;

/**
 * The packing that a file's name asks for: gzip members, or zstd frames.
 * @throws QaError `invalid_usage` for zstd where this Node has none
 */
export function packingOf(file: string, codecs: readonly Codec[] = CODECS): Packing | undefined {
  const codec = codecOfName(file, codecs);
  if (codec === undefined) return undefined;
  const { pack } = codec;
  if (pack !== undefined) return { pack, unpack: (members) => unpackAll(file, members, codecs) };
  const remedy = `name it ${file.slice(0, -codec.extension.length)}gz, or pack stdout: qa run ... | zstd > FILE`;
  throw new QaError("invalid_usage", `${file}: ${ZSTD_NEEDS}; ${remedy}`);
}

async function unpackAll(file: string, members: Buffer, codecs: readonly Codec[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of unpacked(file, Readable.from([members]), codecs)) parts.push(part);
  return Buffer.concat(parts);
}
