import { describe, expect, it } from "vitest";
import {
  afterFailure,
  afterPauseAsked,
  chooseHost,
  HEALTHY,
  type HostHealth,
  isResting,
  whenAsked,
} from "../../src/remote/host-health.js";

/** Health after failures one after the other, a call each as soon as it may be asked; and the time then. */
function failing(times: number): { health: HostHealth; nowMs: number } {
  let health = HEALTHY;
  let nowMs = 0;
  for (let i = 0; i < times; i++) {
    nowMs = Math.max(nowMs, health.restUntilMs) + 1;
    const sentMs = nowMs;
    health = afterFailure(whenAsked(health, sentMs), { sentMs, nowMs: ++nowMs });
  }
  return { health, nowMs };
}

describe("a host that fails", () => {
  it.each([
    [1, 0],
    [2, 0],
    [3, 1000],
    [4, 2000],
    [5, 4000],
    [6, 5000],
    [20, 5000],
  ])("%d times in a row rests for %d ms", (times, restMs) => {
    const { health, nowMs } = failing(times);
    expect(Math.max(0, health.restUntilMs - nowMs)).toBe(restMs);
  });

  it("is not blamed further by calls that were under way when it began to rest", () => {
    const { health } = failing(3);
    expect(afterFailure(health, { sentMs: 0, nowMs: 500 })).toBe(health);
  });

  it("lets one call try it after its rest, and rests on for the others", () => {
    const { health, nowMs } = failing(3);
    const laterMs = nowMs + 1000;
    expect(isResting(health, laterMs)).toBe(false);
    expect(isResting(whenAsked(health, laterMs), laterMs)).toBe(true);
    expect(isResting(whenAsked(HEALTHY, laterMs), laterMs)).toBe(false);
  });

  it("rests as long as it asked to", () => {
    expect(afterPauseAsked(700, 100)).toMatchObject({ failures: 0, restUntilMs: 800 });
  });
});

describe("the choice of a host", () => {
  const resting = { ...HEALTHY, restUntilMs: 900 };
  const soon = { ...HEALTHY, restUntilMs: 600 };
  it.each([
    ["the less busy", [{ load: 3 }, { load: 1 }], 1, 0],
    ["of two alike the one asked less", [{ sent: 9 }, { sent: 8 }], 1, 0],
    ["one that the row has not failed at, however busy", [{ host: "bad" }, { load: 50 }], 1, 0],
    ["one that may be asked, though the row has failed at it", [{ health: resting }, { host: "bad" }], 1, 0],
    ["one that may be asked, however busy", [{ health: resting }, { load: 50 }], 1, 0],
    ["where all rest the one that is up first, and waits for it", [{ health: resting }, { health: soon }], 1, 100],
  ])("takes %s", (_, hosts, chosen, waitMs) => {
    const all = hosts.map((host, name) => ({ host: "", health: HEALTHY, load: 0, sent: 0, name, ...host }));
    const { host, waitMs: wait } = chooseHost(all, { nowMs: 500, failed: new Map([["bad", 1]]) });
    expect({ chosen: host.name, wait }).toEqual({ chosen, wait: waitMs });
  });
});
