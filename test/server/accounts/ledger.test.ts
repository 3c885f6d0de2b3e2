import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Accounts } from "../../../src/server/accounts/accounts.js";
import type { Charge } from "../../../src/server/accounts/ledger.js";
import { temporaryDirectory } from "../open-app.js";

const clock = { ms: 0 };
let accounts: Accounts;
let directory: string;
const open = () => Accounts.open(directory, { now: () => clock.ms });
const charge = (tokens: number, more: Partial<Charge> = {}): Charge => ({
  account: "default",
  monthlyAllowance: undefined,
  tokens,
  ...more,
});
const used = (month?: string) => accounts.usage("default", month).used;
const retryOf = (requestId: string, body = "body") => ({ retry: { requestId, digest: Buffer.from(body) } });

beforeEach(() => {
  clock.ms = Date.parse("2026-11-21T12:00:00Z");
  directory = temporaryDirectory();
  accounts = open();
  accounts.keys.saveAccount("default");
});
afterEach(() => accounts.close());

describe("charges", () => {
  it("charges what is settled, nothing that is released, and neither twice", async () => {
    const { ledger } = accounts;
    const settled = ledger.reserve(charge(10));
    const released = ledger.reserve(charge(100));
    released.release();
    released.release();
    await settled.settle();
    settled.release();
    expect(used()).toBe(10);
  });

  it("counts what is reserved against the allowance until it is settled or released", async () => {
    const { ledger } = accounts;
    const limited = (tokens: number) => charge(tokens, { monthlyAllowance: 100 });
    const first = ledger.reserve(limited(60));
    expect(() => ledger.reserve(limited(41))).toThrow(expect.objectContaining({ code: "allowance_exhausted" }));
    first.release();
    const second = ledger.reserve(limited(100));
    await second.settle();
    expect(() => ledger.reserve(limited(1))).toThrow(
      expect.objectContaining({ details: { used: 100, allowance: 100, resets_at: "2026-12-01T00:00:00Z" } }),
    );
  });

  it("never lets concurrent calls over the allowance", async () => {
    const { ledger } = accounts;
    const outcomes = Array.from({ length: 50 }, () => {
      try {
        return ledger.reserve(charge(7, { monthlyAllowance: 100 }));
      } catch {
        return undefined;
      }
    });
    await Promise.all(outcomes.map((reservation) => reservation?.settle()));
    expect(used()).toBe(98);
  });

  it("settles many calls of a turn in one commit, and all of them", async () => {
    await Promise.all(Array.from({ length: 500 }, () => accounts.ledger.reserve(charge(3)).settle()));
    expect(used()).toBe(1500);
    expect(accounts.usage("default").by_day.at(-1)).toEqual({ day: "2026-11-21", used: 1500, calls: 500 });
  });
});

describe("a retried request id", () => {
  it("is charged once, one after the other or both at once, across a restart too", async () => {
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    const both = [1, 2].map(() => accounts.ledger.reserve(charge(5, retryOf("b"))));
    await Promise.all(both.map((reservation) => reservation.settle()));
    accounts.close();
    accounts = open();
    await accounts.ledger.reserve(charge(5, retryOf("b"))).settle();
    expect(used()).toBe(15);
    expect(accounts.usage("default").by_day.at(-1)?.calls).toBe(2);
  });

  it("is let through where the allowance is used up", async () => {
    const whole = charge(100, { monthlyAllowance: 100, ...retryOf("a") });
    await accounts.ledger.reserve(whole).settle();
    await accounts.ledger.reserve(whole).settle();
    expect(used()).toBe(100);
  });

  it("is charged where its first call failed, its body is another, or its account is", async () => {
    accounts.keys.saveAccount("other");
    accounts.ledger.reserve(charge(10, retryOf("a"))).release();
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    await accounts.ledger.reserve(charge(10, retryOf("a", "another body"))).settle();
    await accounts.ledger.reserve(charge(10, { account: "other", ...retryOf("a") })).settle();
    expect(used()).toBe(20);
    expect(accounts.usage("other").used).toBe(10);
  });

  it("is known over the month's edge, and forgotten after the month that follows", async () => {
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    clock.ms = Date.parse("2026-12-31T23:59:59Z");
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    expect([used("2026-11"), used("2026-12")]).toEqual([10, 0]);
    clock.ms = Date.parse("2027-01-01T00:00:00Z");
    await accounts.ledger.reserve(charge(1, retryOf("b"))).settle();
    await accounts.ledger.reserve(charge(10, retryOf("a"))).settle();
    expect(used("2027-01")).toBe(11);
  });
});

describe("the month's edge", () => {
  it("resets at 00:00 UTC on the first, and charges a call to the month in which it came", async () => {
    const limited = charge(100, { monthlyAllowance: 100 });
    clock.ms = Date.parse("2026-11-30T23:59:59.999Z");
    const late = accounts.ledger.reserve(limited);
    clock.ms = Date.parse("2026-12-01T00:00:00.000Z");
    await late.settle();
    expect([used("2026-11"), used("2026-12")]).toEqual([100, 0]);
    await accounts.ledger.reserve(limited).settle();
    expect(used("2026-12")).toBe(100);
    expect(() => accounts.ledger.reserve(limited)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ resets_at: "2027-01-01T00:00:00Z" }) }),
    );
  });

  it("counts a leap day to February", async () => {
    clock.ms = Date.parse("2028-02-29T23:59:59.999Z");
    await accounts.ledger.reserve(charge(29)).settle();
    const report = accounts.usage("default");
    expect(report).toMatchObject({ month: "2028-02", used: 29, resets_at: "2028-03-01T00:00:00Z" });
    expect(report.by_day).toHaveLength(29);
    expect(report.by_day.at(-1)).toEqual({ day: "2028-02-29", used: 29, calls: 1 });
  });
});

describe("the report", () => {
  it("has the wire's keys, the allowance and what is left, never less than nothing", async () => {
    await accounts.ledger.reserve(charge(30)).settle();
    accounts.keys.saveAccount("default", { monthlyAllowance: 20 });
    expect(accounts.usage("default")).toMatchObject({ account: "default", used: 30, allowance: 20, remaining: 0 });
    accounts.keys.saveAccount("free");
    expect(accounts.usage("free")).toMatchObject({ used: 0, allowance: null, remaining: null, refusals: {} });
  });

  it("counts refusals by code, the most frequent first, and keeps them over a restart", () => {
    for (const code of ["rate_limited", "invalid_request", "rate_limited"])
      accounts.ledger.noteRefusal("default", code);
    accounts.close();
    accounts = open();
    accounts.ledger.noteRefusal("default", "rate_limited");
    expect(Object.entries(accounts.usage("default").refusals)).toEqual([
      ["rate_limited", 3],
      ["invalid_request", 1],
    ]);
  });

  it("records when a key was last used", () => {
    const { id } = accounts.keys.createKey("default");
    expect(accounts.keys.keys()[0]?.lastUsedAtMs).toBeUndefined();
    accounts.ledger.noteUse(id);
    accounts.ledger.flush();
    expect(accounts.keys.keys()[0]?.lastUsedAtMs).toBe(clock.ms);
  });
});
