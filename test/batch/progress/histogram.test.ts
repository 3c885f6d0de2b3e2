import { describe, expect, it } from "vitest";
import { addToHistogram, BINS, emptyHistogram } from "../../../src/batch/progress/histogram.js";

function binOf(value: number): number {
  const histogram = emptyHistogram();
  addToHistogram(histogram, value);
  return histogram.indexOf(1);
}

describe("a histogram", () => {
  it("puts every border into the bin above it, whatever floating point makes of it", () => {
    for (let bin = 0; bin < BINS; bin++) {
      expect(binOf(Number((bin * 0.05).toFixed(2)))).toBe(bin);
      expect(binOf(Number((bin * 0.05 + 0.0499).toFixed(4)))).toBe(bin);
    }
  });

  it("has 1 in its last bin, and nothing outside its bins", () => {
    expect([1, 1.5, -0.1].map(binOf)).toEqual([BINS - 1, BINS - 1, 0]);
  });
});
