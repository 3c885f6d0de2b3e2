/** Counts equal requests in bounded memory. */

import type { ParsedRequest } from "../../decision/request.js";
import type { ChunkOptions } from "../../engine/chunked-reading.js";
import { createRequestKey } from "../request-key.js";

export interface Duplicates {
  /** Requests that were there before. */
  readonly rows: number;
  /** False once more different requests came than are told apart: then there are at least so many duplicates. */
  readonly isExact: boolean;
  /** Whether the request was there before. */
  add(request: ParsedRequest): boolean;
}

const MAX_KNOWN = 1_000_000; // some 40 MB
/** Of a key's 128 bits: two of a million different requests share these once in 9,000 files. */
const KEY_BITS = 52;

/** Duplicates of nothing yet, as a run tells them. */
export function createDuplicates(chunk: ChunkOptions | undefined, maxKnown: number = MAX_KNOWN): Duplicates {
  const keyOf = createRequestKey("");
  const known = new Set<number>();
  let rows = 0;
  let isExact = true;
  return {
    get rows() {
      return rows;
    },
    get isExact() {
      return isExact;
    },
    add(request) {
      const key = numberOf(keyOf(request, chunk));
      const isKnown = known.has(key);
      if (isKnown) rows++;
      else if (known.size < maxKnown) known.add(key);
      else isExact = false;
      return isKnown;
    },
  };
}

function numberOf(key: string): number {
  return Number(Buffer.from(key, "base64url").readBigUInt64BE() >> BigInt(64 - KEY_BITS));
}
