import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { mapOrdered } from "../../src/engine/map-ordered.js";

/** 0, 1, 2 ... that records how many were read and whether it was closed. */
function createSource(count: number) {
  const seen = { read: 0, closed: false };
  async function* items() {
    try {
      for (let i = 0; i < count; i++) {
        seen.read++;
        yield i;
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, items: items() };
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

const double = async (n: number) => 2 * n;

describe("mapOrdered", () => {
  it("yields results in the order of the items, whichever is ready first", async () => {
    const { items } = createSource(50);
    const results = mapOrdered(items, 8, async (n) => {
      for (let i = 0; i < (n * 7) % 5; i++) await turn();
      return n;
    });
    expect(await collect(results)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  it.each([
    ["an array", [1, 2, 3]],
    ["a set", new Set([1, 2, 3])],
  ])("reads %s", async (_, source) => {
    expect(await collect(mapOrdered(source, 2, double))).toEqual([2, 4, 6]);
  });

  it("yields nothing of nothing", async () => {
    expect(await collect(mapOrdered([], 2, double))).toEqual([]);
  });

  it.each([1, 3, 16])("has at most %i in hand, and that many", async (limit) => {
    const { items } = createSource(60);
    let inHand = 0;
    let most = 0;
    const results = mapOrdered(items, limit, async () => {
      most = Math.max(most, ++inHand);
      await turn();
      await turn();
    });
    for await (const _ of results) inHand--;
    expect(most).toBe(limit);
  });

  it("does not read on while its consumer does not take", async () => {
    const { items, seen } = createSource(100);
    const results = mapOrdered(items, 4, double);
    await results.next();
    for (let i = 0; i < 20; i++) await turn();
    expect(seen.read).toBeLessThanOrEqual(5);
    await results.return();
  });

  it("closes the source when its consumer stops", async () => {
    const { items, seen } = createSource(100);
    for await (const result of mapOrdered(items, 4, double)) if (result === 4) break;
    expect(seen.closed).toBe(true);
    expect(seen.read).toBeLessThan(10);
  });

  it("yields what came before a rejection, then rejects and closes the source", async () => {
    const { items, seen } = createSource(100);
    const taken: number[] = [];
    const results = mapOrdered(items, 4, async (n) => {
      if (n === 5) throw new Error("five");
      return n;
    });
    await expect(
      (async () => {
        for await (const n of results) taken.push(n);
      })(),
    ).rejects.toThrow("five");
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    expect(seen.closed).toBe(true);
    expect(seen.read).toBeLessThan(15);
  });

  it("yields the results of all items that a failing source gave, then rejects with its error", async () => {
    async function* failing() {
      yield* [1, 2, 3];
      throw new Error("the disk is gone");
    }
    const taken: number[] = [];
    const results = mapOrdered(failing(), 10, double);
    await expect(
      (async () => {
        for await (const n of results) taken.push(n);
      })(),
    ).rejects.toThrow("the disk is gone");
    expect(taken).toEqual([2, 4, 6]);
  });

  it("yields a result that is ready although the source has no next item yet", async () => {
    let more: (value: number) => void = () => {};
    async function* slow() {
      yield 1;
      yield await new Promise<number>((resolve) => {
        more = resolve;
      });
    }
    const results = mapOrdered(slow(), 10, double);
    expect(await results.next()).toEqual({ done: false, value: 2 });
    more(2);
    expect(await collect(results)).toEqual([4]);
  });
});
