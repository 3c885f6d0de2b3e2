import { describe, expect, it } from "vitest";
import { binsOf, createTokenHistogram } from "../../../src/batch/room/token-histogram.js";

const filled = (values: readonly number[]) => {
  const histogram = createTokenHistogram();
  for (const value of values) histogram.add(value);
  return histogram;
};
const spread = (count: number, most: number) =>
  Array.from({ length: count }, (_, i) => Math.floor(Math.abs(Math.sin(i * 12.9898 + 1)) ** 3 * most));

describe("createTokenHistogram", () => {
  it("gives the tokens that a share of the states has at most, exactly below 8,192 tokens", () => {
    const values = spread(997, 8191);
    const sorted = [...values].sort((a, b) => a - b);
    for (const share of [0, 0.01, 0.5, 0.9, 0.95, 0.99, 1])
      expect(filled(values).atShare(share)).toBe(sorted[Math.max(1, Math.ceil(share * 997)) - 1]);
  });

  it("never promises too few tokens, and at most 1/4,096 too many, above", () => {
    const values = spread(500, 50_000_000);
    const sorted = [...values].sort((a, b) => a - b);
    for (const share of [0.1, 0.5, 0.95, 1]) {
      const exact = sorted[Math.ceil(share * 500) - 1] ?? 0;
      expect(filled(values).atShare(share)).toBeGreaterThanOrEqual(exact);
      expect(filled(values).atShare(share)).toBeLessThanOrEqual(exact * (1 + 1 / 4096));
    }
  });

  it("keeps count, total, smallest and largest", () => {
    const { count, total, min, max } = filled([7, 3, 9000]);
    expect({ count, total, min, max }).toEqual({ count: 3, total: 9010, min: 3, max: 9000 });
  });
});

describe("binsOf", () => {
  it("has every state in one bin, and bins that follow each other from 0 to the longest state", () => {
    for (const [count, most] of [
      [1, 5],
      [2, 3000],
      [50, 100],
      [999, 6000],
    ] as const) {
      const histogram = filled(spread(count, most));
      const bins = binsOf(histogram, [408, 487]);
      expect(bins.reduce((sum, bin) => sum + bin.rows, 0)).toBe(count);
      expect(bins[0]?.from).toBe(0);
      expect(bins.at(-1)?.to).toBe(histogram.max);
      bins.slice(1).forEach((bin, i) => {
        expect(bin.from).toBe((bins[i]?.to ?? 0) + 1);
      });
      expect(bins.length).toBeLessThan(40);
    }
  });

  it("ends a bin at every border, so that a bin fits or does not", () => {
    const bins = binsOf(filled([10, 20, 30, 405, 409, 480, 700]), [408, 487]);
    expect(bins.map(({ to }) => to)).toEqual(expect.arrayContaining([408, 487]));
    expect(bins.filter(({ to }) => to <= 408).reduce((sum, bin) => sum + bin.rows, 0)).toBe(4);
  });

  it("is empty without states", () => {
    expect(binsOf(createTokenHistogram(), [408])).toEqual([]);
  });
});
