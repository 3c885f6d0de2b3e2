import { describe, expect, it } from "vitest";
import { isSidecarName, sidecarOf } from "../../../src/batch/journal/sidecar.js";

describe("isSidecarName", () => {
  const sidecar = sidecarOf("parts/part-1.csv");

  it.each([
    [sidecar, true],
    [`${sidecar}.new`, true],
    [`${sidecar}.lock`, true],
    ["parts/part-1.csv", false],
    ["parts/part.qa.csv", false],
  ])("tells what qa keeps beside an output from an output: %s", (name, expected) => {
    expect(isSidecarName(name)).toBe(expected);
  });
});
