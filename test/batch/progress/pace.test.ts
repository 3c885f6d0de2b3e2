import { describe, expect, it } from "vitest";
import { createPace } from "../../../src/batch/progress/pace.js";

const seen = (rows: number, inputTokens = rows * 10, rowsRead = rows) => ({ rows, inputTokens, rowsRead });

describe("createPace", () => {
  it("gives no rate before there is something to measure", () => {
    const pace = createPace(1000);
    expect(pace.observe(seen(0), undefined, 4000)).toMatchObject({ rowsPerSecond: undefined, elapsedMs: 3000 });
    expect(createPace(0).observe(seen(9), undefined, 400).rowsPerSecond).toBeUndefined();
  });

  it("measures rows and tokens by the clock that it is given", () => {
    const pace = createPace(0);
    expect(pace.observe(seen(20), undefined, 2000)).toMatchObject({ rowsPerSecond: 10, tokensPerSecond: 100 });
  });

  it("forgets what is more than some ten seconds ago", () => {
    const pace = createPace(0);
    for (let second = 1; second <= 60; second++) pace.observe(seen(second * 100), undefined, second * 1000);
    for (let second = 61; second <= 75; second++)
      pace.observe(seen(6000 + (second - 60) * 5), undefined, second * 1000);
    expect(pace.observe(seen(6080), undefined, 76_000).rowsPerSecond).toBeCloseTo(5);
  });

  it("stays calm where answers come in bursts", () => {
    const pace = createPace(0);
    const rates: number[] = [];
    for (let ms = 125; ms <= 60_000; ms += 125) {
      const { rowsPerSecond } = pace.observe(seen(Math.floor(ms / 1000) * 64), undefined, ms);
      if (ms > 20_000 && rowsPerSecond !== undefined) rates.push(rowsPerSecond);
    }
    expect(Math.max(...rates)).toBeLessThan(64 * 1.12);
    expect(Math.min(...rates)).toBeGreaterThan(64 * 0.88);
  });

  it("takes rows that are read but not answered off what is done", () => {
    const pace = createPace(0);
    expect(pace.observe(seen(0, 0, 0), 1, 0).fractionDone).toBe(0);
    expect(pace.observe(seen(15, 150, 60), 1, 1000).fractionDone).toBe(0.25);
    expect(pace.observe(seen(60, 600, 60), 1, 2000)).toMatchObject({ fractionDone: 1, remainingMs: 0 });
  });

  it("expects as many tokens a byte to come as there were, at the present rate", () => {
    const pace = createPace(0);
    expect(pace.observe(seen(100), 0.25, 5000).remainingMs).toBeCloseTo(15_000);
  });

  it("tells no time left while loading is most of what it saw", () => {
    const pace = createPace(0);
    expect(pace.observe(seen(2), 0.03, 5000)).toMatchObject({ fractionDone: 0.03, remainingMs: undefined });
    expect(pace.observe(seen(4), 0.06, 6000).remainingMs).toBeGreaterThan(0);
    const slow = createPace(0);
    expect(slow.observe(seen(2), 0.0001, 30_000).remainingMs).toBeUndefined();
    expect(slow.observe(seen(90), 0.0045, 40_000).remainingMs).toBeGreaterThan(0);
  });

  it("knows neither share nor time left where the input's length is unknown", () => {
    const { fractionDone, remainingMs } = createPace(0).observe(seen(100), undefined, 5000);
    expect([fractionDone, remainingMs]).toEqual([undefined, undefined]);
  });
});
