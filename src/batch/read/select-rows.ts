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
 * `size`.
 */
export async function* sampleRows(
  rows: AsyncIterable<Row>,
  { size, seed }: { readonly size: number; readonly seed: number },
): AsyncGenerator<Row, void, undefined> {
  const reservoir = createReservoir<Row>(size, seed);
  for await (const row of rows) reservoir.add(() => structuredClone(row)); // a row is a slice that would keep its whole chunk of text alive
  yield* reservoir.kept.sort((a, b) => a.place.index - b.place.index);
}

export interface Reservoir<T> {
  /** In no particular order. */
  readonly kept: T[];
  /** Offers one more item, which is made only where it is kept. */
  add(make: () => T): void;
}

/** Keeps a uniform sample of `size` of the items offered so far (reservoir sampling, Vitter 1985, algorithm R). */
export function createReservoir<T>(size: number, seed: number): Reservoir<T> {
  const random = createRandom(seed);
  const kept: T[] = [];
  let seen = 0;
  return {
    kept,
    add(make) {
      const place = seen < size ? seen : Math.floor(random() * (seen + 1));
      if (place < size) kept[place] = make();
      seen++;
    },
  };
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
