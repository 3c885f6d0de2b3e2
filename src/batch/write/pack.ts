/** How outputs are packed, by the end of their names: each block a member of its own, and what was packed so unpacked again. */

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Pack } from "./output-sink.js";

export interface Packing {
  readonly pack: Pack;
  /** Of whole members. */
  readonly unpack: Pack;
}

const GZIP: Packing = { pack: promisify<Buffer, Buffer>(gzip), unpack: promisify<Buffer, Buffer>(gunzip) };

/** Characters of a block that is packed: all that a killed run answers anew, and hardly longer in all than one member. */
export const PACKED_BLOCK = 256 * 1024;

/** The packing that a file's name asks for. */
export function packingOf(file: string): Packing | undefined {
  return /\.gz$/i.test(file) ? GZIP : undefined;
}
