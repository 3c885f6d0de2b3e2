import { describe, expect, it } from "vitest";
import { Limiter } from "../../../src/server/accounts/limiter.js";
import { retryAfter } from "../../../src/server/retry-after.js";

const unlimited = { name: "a", requestsPerMinute: undefined, requestsInFlight: undefined, monthlyAllowance: undefined };

function refusalOf(enter: () => unknown): { code: string; details: { retry_after_ms: number } } {
  try {
    enter();
  } catch (error) {
    return error as { code: string; details: { retry_after_ms: number } };
  }
  throw new Error("was let in");
}

describe("requests per minute", () => {
  it.each([1, 6, 7, 60, 90, 1000])("%i a minute: all at once, then one as soon as the told wait is over", (limit) => {
    const clock = { ms: 1e12 };
    const limiter = new Limiter(() => clock.ms);
    const account = { ...unlimited, requestsPerMinute: limit };
    for (let i = 0; i < limit; i++) limiter.enter(account);
    for (let i = 0; i < 20; i++) {
      const { code, details } = refusalOf(() => limiter.enter(account));
      expect(code).toBe("rate_limited");
      expect(details.retry_after_ms).toBeLessThanOrEqual(15_000);
      clock.ms += limit === 1 ? 60_000 : details.retry_after_ms; // 1 a minute: the wait is over the 15 s that may be told
      const allowedNow = Math.max(1, Math.floor(((limit === 1 ? 60_000 : details.retry_after_ms) * limit) / 60_000));
      for (let j = 0; j < allowedNow; j++) limiter.enter(account);
      while (limit > 60) {
        try {
          limiter.enter(account);
        } catch {
          break; // what fractions had added up to
        }
      }
    }
  });

  it("refills evenly and never beyond the limit", () => {
    const clock = { ms: 1e12 };
    const limiter = new Limiter(() => clock.ms);
    const account = { ...unlimited, requestsPerMinute: 4 };
    for (let i = 0; i < 4; i++) limiter.enter(account);
    clock.ms += 3_600_000;
    for (let i = 0; i < 4; i++) limiter.enter(account);
    expect(refusalOf(() => limiter.enter(account)).details.retry_after_ms).toBe(15_000);
  });

  it("is not refilled by a clock that is set back", () => {
    const clock = { ms: 1e12 };
    const limiter = new Limiter(() => clock.ms);
    const account = { ...unlimited, requestsPerMinute: 1 };
    limiter.enter(account);
    clock.ms -= 86_400_000;
    expect(refusalOf(() => limiter.enter(account)).code).toBe("rate_limited");
  });

  it("is each account's own", () => {
    const limiter = new Limiter(() => 0);
    limiter.enter({ ...unlimited, requestsPerMinute: 1 });
    limiter.enter({ ...unlimited, name: "b", requestsPerMinute: 1 });
  });
});

describe("requests in flight", () => {
  it("lets the next one in when one ends, counts an end once, and a refusal uses nothing of the minute", () => {
    const limiter = new Limiter(() => 0);
    const account = { ...unlimited, requestsInFlight: 2, requestsPerMinute: 3 };
    const leave = limiter.enter(account);
    limiter.enter(account);
    for (let i = 0; i < 5; i++) expect(refusalOf(() => limiter.enter(account)).code).toBe("in_flight_limited");
    leave();
    leave();
    limiter.enter(account);
    expect(refusalOf(() => limiter.enter(account)).code).toBe("in_flight_limited");
  });
});

describe("the wait that is told", () => {
  it.each([
    [0, 1000],
    [1, 1000],
    [1000, 1000],
    [1001, 2000],
    [14_999, 15_000],
    [60_000, 15_000],
  ])("for %i ms is %i ms: whole seconds, at most 15", (delayMs, told) => {
    expect(retryAfter(delayMs).retry_after_ms).toBe(told);
  });
});
