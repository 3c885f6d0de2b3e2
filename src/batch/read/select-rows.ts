/** Which rows of an input a run takes: all, the first few, or a random sample. */

import type { Row } from "./row.js";

/** The first `limit` rows; reading stops behind the last of them. */
export async function* firstRows(rows: AsyncIterable<Row>, limit: number): AsyncGenerator<Row, void, undefined> {
  let taken = 0;
  if (limit <= 0) return;
  for await (const row of rows) {
    yield row;
    if (++taken >= limit) return;
  }
}

/**
 * A uniform sample of `size` rows, in the order of the input; the same for the same seed and input. Reads all rows, keeps
 * `size` (reservoir sampling, Vitter 1985, algorithm R).
 */
export async function* sampleRows(
  rows: AsyncIterable<Row>,
  { size, seed }: { readonly size: number; readonly seed: number },
): AsyncGenerator<Row, void, undefined> {
  const random = createRandom(seed);
  const kept: Row[] = [];
  let seen = 0;
  for await (const row of rows) {
    const place = seen < size ? seen : Math.floor(random() * (seen + 1));
    if (place < size) kept[place] = structuredClone(row); // a row is a slice that would keep its whole chunk of text alive
    seen++;
  }
  yield* kept.sort((a, b) => a.place.index - b.place.index);
}

/** Uniform numbers in [0, 1) from a 32-bit seed (xorshift, Marsaglia 2003). */
function createRandom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0 || 1; // a zero state would stay zero
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}
