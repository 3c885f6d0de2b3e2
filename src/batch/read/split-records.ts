/** The records of an output that qa wrote, byte for byte: lines of NDJSON, records of CSV, which may hold line breaks. */

import type { OutputFormat } from "../write/output-format.js";

const LINE_FEED = 0x0a;
const QUOTE = 0x22;

/**
 * Records with their line ends; one that was cut off comes last and has none. In a CSV that qa wrote, a line feed ends a
 * record where the quotes before it are even: a bare cell holds none, and a quoted one doubles those that it holds.
 */
export async function* splitRecords(
  chunks: AsyncIterable<Uint8Array>,
  format: OutputFormat,
): AsyncGenerator<Buffer, void, undefined> {
  let begun: Buffer[] = []; // of a record that goes on in the next chunk
  let isQuoted = false;
  for await (const { buffer, byteOffset, length } of chunks) {
    const chunk = Buffer.from(buffer, byteOffset, length);
    let start = 0;
    for (let at = 0; at < length; ) {
      const feed = chunk.indexOf(LINE_FEED, at);
      const end = feed === -1 ? length : feed + 1;
      if (format === "csv" && hasOddQuotes(chunk, at, end)) isQuoted = !isQuoted;
      at = end;
      if (feed === -1 || isQuoted) continue;
      const last = chunk.subarray(start, end);
      yield begun.length === 0 ? last : Buffer.concat([...begun, last]);
      begun = [];
      start = end;
    }
    if (start < length) begun.push(chunk.subarray(start));
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}

function hasOddQuotes(chunk: Buffer, from: number, to: number): boolean {
  let isOdd = false;
  for (let at = chunk.indexOf(QUOTE, from); at !== -1 && at < to; at = chunk.indexOf(QUOTE, at + 1)) isOdd = !isOdd;
  return isOdd;
}
