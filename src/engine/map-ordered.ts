/** Runs an async function over an async iterable, many at once, results in order: what bounds memory between reader and writer. */

/**
 * Yields `fn(item)` in the order of the items, with at most `limit` in hand, counted from the oldest not yet taken.
 * Stops reading and closes the source when the consumer stops or `fn` rejects.
 */
export async function* mapOrdered<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  limit: number,
  fn: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const inHand: Promise<R>[] = [];
  const items = iteratorOf(source);
  let ended = false;
  try {
    for (;;) {
      while (!ended && inHand.length < limit) {
        const next = await items.next();
        if (next.done === true) {
          ended = true;
          break;
        }
        const result = fn(next.value);
        result.catch(() => {}); // raised where it is awaited below
        inHand.push(result);
      }
      const oldest = inHand.shift();
      if (oldest === undefined) return;
      yield await oldest;
    }
  } finally {
    if (!ended) await items.return?.();
  }
}

function iteratorOf<T>(source: AsyncIterable<T> | Iterable<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}
