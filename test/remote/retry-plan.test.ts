import { describe, expect, it } from "vitest";
import { isWorthRetry, planRetry, toldWaitMs } from "../../src/remote/retry-plan.js";

const DATE_MS = Date.UTC(2026, 0, 1, 12);
const standing = { attempt: 0, elapsedMs: 0, deadlineMs: 60_000, dateMs: DATE_MS, random: 0 };
const told = (headers: Record<string, string>) => ({ status: 429, headers: new Headers(headers) });

describe("what is worth a retry", () => {
  it.each([408, 429, 500, 502, 503, 504, 529, 599])("%d is", (status) => expect(isWorthRetry(status)).toBe(true));
  it.each([200, 204, 302, 400, 401, 402, 403, 404, 413, 422])("%d is not", (status) => {
    expect(isWorthRetry(status)).toBe(false);
    expect(planRetry({ status }, standing)).toMatchObject({ type: "give_up", reason: "refused" });
  });
});

describe("the wait", () => {
  it.each([
    [0, 500],
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [4, 8000],
    [9, 8000],
  ])("after failure %d is at most %d ms and at least half of it", (attempt, ms) => {
    expect(planRetry({}, { ...standing, attempt })).toMatchObject({ type: "wait", waitMs: ms });
    expect(planRetry({ status: 500 }, { ...standing, attempt, random: 0.999999 })).toMatchObject({
      waitMs: expect.closeTo(ms / 2, 1),
    });
  });

  it.each([
    ["retry-after-ms before all", { "retry-after-ms": "120", "retry-after": "9" }, 120],
    ["seconds", { "retry-after": "2" }, 2000],
    ["a date", { "retry-after": "Thu, 01 Jan 2026 12:00:03 GMT" }, 3000],
    ["a date in the past", { "retry-after": "Thu, 01 Jan 2026 11:00:00 GMT" }, 0],
    ["broken milliseconds, then seconds", { "retry-after-ms": "soon", "retry-after": "1" }, 1000],
    ["nothing", {}, undefined],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["words", { "retry-after": "in a while" }, undefined],
  ])("is read from %s", (_, headers, ms) => {
    expect(toldWaitMs(new Headers(headers as Record<string, string>), DATE_MS)).toBe(ms);
  });

  it("that a host asks for is that host's; the row is at another after the usual one", () => {
    expect(planRetry(told({ "retry-after": "5" }), standing)).toEqual({ type: "wait", waitMs: 500, hostRestMs: 5000 });
    expect(planRetry(told({ "retry-after-ms": "80" }), standing)).toEqual({ type: "wait", waitMs: 80, hostRestMs: 80 });
  });

  it("that a host asks for is not believed where it is none, or over a minute", () => {
    expect(planRetry(told({ "retry-after": "0" }), standing)).toMatchObject({ waitMs: 50, hostRestMs: 50 });
    expect(planRetry(told({ "retry-after": "61" }), standing)).toMatchObject({ waitMs: 500, hostRestMs: undefined });
  });

  it("never ends behind the deadline", () => {
    expect(planRetry({}, { ...standing, elapsedMs: 59_499 })).toMatchObject({ type: "wait" });
    expect(planRetry({}, { ...standing, elapsedMs: 59_500 })).toMatchObject({ type: "give_up", reason: "deadline" });
  });
});
