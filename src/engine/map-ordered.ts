/** Runs an async function over an async iterable, many at once, results in order: what bounds memory between reader and writer. */

/**
 * Yields `fn(item)` in the order of the items, with at most `limit` in hand, counted from the oldest not yet taken. A result
 * is handed on while the source is still waited for; an error of the source is thrown behind the results of what it gave.
 * Closes the source when the consumer stops early or `fn` rejects.
 */
export async function* mapOrdered<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  limit: number,
  fn: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const items = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const inHand: Promise<R>[] = [];
  let reading: Promise<Read<T>> | undefined;
  let end: Ended | undefined;
  try {
    while (end === undefined || inHand.length > 0) {
      if (end === undefined && inHand.length < limit) reading ??= read(items);
      const next = await firstOf(reading, inHand[0]);
      if (next === undefined) {
        yield await (inHand.shift() as Promise<R>);
        continue;
      }
      reading = undefined;
      if (next.type === "item") inHand.push(start(fn, next.item));
      else end = next;
    }
  } finally {
    if (end === undefined) await items.return?.();
  }
  if (end.type === "failed") throw end.error;
}

type Ended = { readonly type: "ended" } | { readonly type: "failed"; readonly error: unknown };
type Read<T> = { readonly type: "item"; readonly item: T } | Ended;

async function read<T>(items: AsyncIterator<T> | Iterator<T>): Promise<Read<T>> {
  try {
    const next = await items.next();
    return next.done === true ? { type: "ended" } : { type: "item", item: next.value };
  } catch (error) {
    return { type: "failed", error };
  }
}

function start<T, R>(fn: (item: T) => Promise<R>, item: T): Promise<R> {
  const result = fn(item);
  result.catch(() => {}); // raised where it is awaited, in its turn
  return result;
}

/** What was read, or `undefined` where the oldest result was there first. */
function firstOf<T>(reading: Promise<T> | undefined, oldest: Promise<unknown> | undefined): Promise<T | undefined> {
  const done = oldest?.then(
    () => undefined,
    () => undefined,
  );
  return Promise.race([reading, done].filter((promise) => promise !== undefined));
}
