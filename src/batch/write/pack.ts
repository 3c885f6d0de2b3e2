/** How the blocks of an output are compressed, told by its name. */

import { QaError } from "../../errors.js";
import { CODECS, type Codec, codecOfName, ZSTD_NEEDS } from "../codecs.js";

/** A block of whole rows compressed by itself: a gzip member or a zstd frame, of which any number make one file. */
export type Pack = (block: Buffer) => Promise<Buffer>;

/**
 * What an output named `*.gz` or `*.zst` is compressed with, nothing for any other name.
 * @throws QaError `invalid_usage` for zstd where this Node has none
 */
export function packOf(out: string, codecs: readonly Codec[] = CODECS): Pack | undefined {
  const codec = codecOfName(out, codecs);
  if (codec === undefined || codec.pack !== undefined) return codec?.pack;
  const plain = out.slice(0, -codec.extension.length);
  throw new QaError(
    "invalid_usage",
    `${out}: ${ZSTD_NEEDS}; name the output ${plain}gz, or pack stdout: qa run ... | zstd > FILE`,
  );
}
