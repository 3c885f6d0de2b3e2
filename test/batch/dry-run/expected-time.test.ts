import { describe, expect, it } from "vitest";
import { expectTime, type Mark, rateOf } from "../../../src/batch/dry-run/expected-time.js";

/** Batches of two rows, one every `everyMs`. */
function batches(count: number, { everyMs = 100, tokens = 50 } = {}): Mark[] {
  return Array.from({ length: count }, (_, i) => ({ atMs: 1000 + i * everyMs, inputTokens: tokens })).flatMap(
    (mark) => [mark, { ...mark, atMs: mark.atMs + 0.5 }],
  );
}

describe("rateOf", () => {
  it("is the tokens a millisecond behind the first batch, whose start is not seen", () => {
    expect(rateOf(batches(11), 0)?.tokensPerMs).toBeCloseTo(1, 2);
  });

  it("counts few batches from when they were handed over, and says that it is not sure", () => {
    const rate = rateOf(batches(1), 900);
    expect(rate?.tokensPerMs).toBeCloseTo(1, 1);
    expect(rate?.spread).toBe(0.5);
  });

  it("spreads more where the batches differ more, within bounds", () => {
    const steady = rateOf(batches(40), 0)?.spread ?? 0;
    const uneven = batches(40).map(({ atMs, inputTokens }, i) => ({ atMs: atMs + 30 * i * (i % 16), inputTokens }));
    expect(steady).toBe(0.15);
    expect(rateOf(uneven, 0)?.spread).toBeGreaterThan(steady);
    expect(rateOf(uneven, 0)?.spread).toBeLessThanOrEqual(0.5);
  });

  it("is none where nothing was answered", () => {
    expect(rateOf([], 0)).toBeUndefined();
  });
});

describe("expectTime", () => {
  it("adds parts that come one after the other, and what is done once", () => {
    const parts = [
      { inputTokens: 1000, rate: { tokensPerMs: 10, spread: 0.25 } },
      { inputTokens: 300, rate: { tokensPerMs: 1, spread: 0.5 } },
    ];
    expect(expectTime(parts, 50)).toEqual({ fromMs: 50 + 80 + 200, toMs: 50 + 125 + 450 });
  });

  it("is what is done once where nothing is answered", () => {
    expect(expectTime([], 0)).toEqual({ fromMs: 0, toMs: 0 });
  });
});
