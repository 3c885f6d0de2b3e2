import { describe, expect, it } from "vitest";
import { defaultWorkers, resolveEngineConfig } from "../src/config.js";

const GIB = 2 ** 30;

describe("the default number of workers", () => {
  it.each([
    ["one a core where memory is plenty", { cores: 4, totalBytes: 16 * GIB, allowedBytes: undefined }, 4],
    ["what three quarters of the memory hold", { cores: 16, totalBytes: 8 * GIB, allowedBytes: 0 }, 6],
    ["what a control group allows", { cores: 16, totalBytes: 64 * GIB, allowedBytes: 4 * GIB }, 3],
    ["all that the machine has where no group limits it", { cores: 16, totalBytes: 8 * GIB, allowedBytes: 2 ** 64 }, 6],
    ["one on a small machine", { cores: 8, totalBytes: GIB / 2, allowedBytes: undefined }, 1],
  ])("is %s", (_, machine, workers) => {
    expect(defaultWorkers(machine)).toBe(workers);
  });

  it("gives way to a number that is given, however large", () => {
    expect(resolveEngineConfig({ workers: 4096 }, {}).workers).toBe(4096);
  });
});
