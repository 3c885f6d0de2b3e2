import { describe, expect, it } from "vitest";
import { planBatch, type Waiting } from "../../src/engine/batch-plan.js";
import { createSeeded } from "../seeded.js";

const states = (...stateTokens: number[]): Waiting[] =>
  stateTokens.map((tokens) => ({ stateTokens: tokens, prefixTokens: 10 }));
const paddedTokens = (rows: readonly Waiting[]) =>
  rows.length * (Math.max(...rows.map((row) => row.stateTokens)) + Math.max(...rows.map((row) => row.prefixTokens)));

describe("planBatch", () => {
  it.each<[string, Waiting[], number, number[]]>([
    ["one state", states(50), 4096, [0]],
    ["states of one length", states(50, 50, 50), 4096, [0, 1, 2]],
    ["the budget to the last token: 3 x (50 + 10)", states(50, 50, 50), 180, [0, 1, 2]],
    ["one row less where a token lacks", states(50, 50, 50), 179, [0, 1]],
    ["the oldest alone where it is over the budget by itself", states(500, 1, 500), 100, [0]],
    ["a longer state at the ratio: 100 * 1.2 + 8", states(100, 128), 4096, [0, 1]],
    ["no state over the ratio", states(100, 129), 4096, [0]],
    ["a shorter state at the ratio", states(128, 100), 4096, [1, 0]],
    ["no state under the ratio", states(129, 100), 4096, [0]],
    ["short states by the slack of 8", states(1, 9, 10), 4096, [0, 1]],
    ["those nearest to the oldest, ascending by length", states(100, 400, 90, 95, 20, 105), 4096, [2, 3, 0, 5]],
    [
      "no row whose prefix would make all others too dear",
      [...states(50, 50), { stateTokens: 51, prefixTokens: 400 }],
      500,
      [0, 1],
    ],
  ])("takes %s", (_, waiting, maxBatchTokens, batch) => {
    expect([...planBatch(waiting, { maxBatchTokens })].sort()).toEqual([...batch].sort());
  });

  it("has the indexes ascending by length", () => {
    const waiting = states(100, 96, 104, 98, 100, 110, 92);
    const lengths = planBatch(waiting, { maxBatchTokens: 4096 }).map((i) => waiting[i]?.stateTokens);
    expect(lengths).toEqual([92, 96, 98, 100, 100, 104, 110]);
  });

  it("holds the oldest, the budget and the ratio, and leaves out no neighbour that fits", () => {
    const draw = createSeeded(11);
    for (let round = 0; round < 500; round++) {
      const longest = draw(1, 2048);
      const waiting = Array.from({ length: draw(1, 120) }, () => ({
        stateTokens: draw(1, longest),
        prefixTokens: draw(4, 900),
      }));
      const maxBatchTokens = draw(64, 8192);
      const batch = planBatch(waiting, { maxBatchTokens });
      const rows = batch.map((i) => waiting[i] as Waiting);
      expect(new Set(batch).size).toBe(batch.length);
      expect(batch).toContain(0);
      const fits = (some: readonly Waiting[]) => {
        const lengths = some.map((row) => row.stateTokens);
        return paddedTokens(some) <= maxBatchTokens && Math.max(...lengths) <= Math.min(...lengths) * 1.2 + 8;
      };
      expect(rows.length === 1 || fits(rows)).toBe(true);
      const shorter = waiting.filter((row, i) => !batch.includes(i) && row.stateTokens < (rows[0]?.stateTokens ?? 0));
      const nearest = shorter.sort((a, b) => b.stateTokens - a.stateTokens)[0];
      const ties = shorter.filter((row) => row.stateTokens === nearest?.stateTokens);
      if (nearest !== undefined && ties.length === 1) expect(fits([nearest, ...rows])).toBe(false);
    }
  });

  it("works off whatever waits: taken batch by batch, every state is taken once", () => {
    const draw = createSeeded(12);
    const waiting = Array.from({ length: 300 }, (_, id) => ({ id, stateTokens: draw(1, 600), prefixTokens: 60 }));
    const taken: number[] = [];
    let left = waiting;
    while (left.length > 0) {
      const batch = new Set(planBatch(left, { maxBatchTokens: 2048 }));
      taken.push(...left.filter((_, i) => batch.has(i)).map(({ id }) => id));
      left = left.filter((_, i) => !batch.has(i));
    }
    expect(taken.sort((a, b) => a - b)).toEqual(waiting.map(({ id }) => id));
  });
});
