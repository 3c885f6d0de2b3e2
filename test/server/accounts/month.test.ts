import { describe, expect, it } from "vitest";
import { dayOf, daysOf, isMonth, monthBefore, monthOf, resetOf } from "../../../src/server/accounts/month.js";

describe("months of an allowance", () => {
  it.each([
    ["2026-11-30T23:59:59.999Z", "2026-11", "2026-12-01T00:00:00Z"],
    ["2026-12-01T00:00:00.000Z", "2026-12", "2027-01-01T00:00:00Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12", "2027-01-01T00:00:00Z"],
    ["2028-02-29T12:00:00.000Z", "2028-02", "2028-03-01T00:00:00Z"],
    ["2027-02-28T23:59:59.999Z", "2027-02", "2027-03-01T00:00:00Z"],
    // in local time west or east of Greenwich these are another month
    ["2026-12-01T01:00:00.000+02:00", "2026-11", "2026-12-01T00:00:00Z"],
    ["2026-11-30T20:00:00.000-08:00", "2026-12", "2027-01-01T00:00:00Z"],
  ])("%s is of %s and resets at %s", (instant, month, reset) => {
    expect(monthOf(Date.parse(instant))).toBe(month);
    expect(resetOf(month)).toBe(reset);
  });

  it.each([
    ["2026-11", 30],
    ["2026-12", 31],
    ["2027-02", 28],
    ["2028-02", 29],
    ["2100-02", 28],
  ])("%s has %i days", (month, count) => {
    const days = daysOf(month);
    expect(days).toHaveLength(count);
    expect(days.at(-1)).toBe(`${month}-${count}`);
    expect(days.every((day) => monthOf(Date.parse(day)) === month)).toBe(true);
  });

  it("lists the days of a running month up to today, and all days of a past one", () => {
    const today = dayOf(Date.parse("2028-02-29T00:00:00Z"));
    expect(daysOf("2028-02", today)).toHaveLength(29);
    expect(daysOf("2028-02", "2028-02-03")).toEqual(["2028-02-01", "2028-02-02", "2028-02-03"]);
    expect(daysOf("2028-01", today)).toHaveLength(31);
  });

  it("knows the month before, over the year's edge too", () => {
    expect(monthBefore("2026-11")).toBe("2026-10");
    expect(monthBefore("2027-01")).toBe("2026-12");
  });

  it("knows a month's name from other text", () => {
    expect(["2026-01", "2026-12"].every(isMonth)).toBe(true);
    expect(["2026-13", "2026-00", "2026-1", "november", "2026-11-01"].some(isMonth)).toBe(false);
  });
});
