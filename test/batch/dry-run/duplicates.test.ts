import { describe, expect, it } from "vitest";
import { createDuplicates } from "../../../src/batch/dry-run/duplicates.js";

const requestOf = (state: string) => ({ state, questions: [], model: undefined });

describe("createDuplicates", () => {
  it("counts the requests that were there before", () => {
    const duplicates = createDuplicates(undefined);
    expect(["a", "b", "a", "a"].map((state) => duplicates.add(requestOf(state)))).toEqual([false, false, true, true]);
    expect(duplicates).toMatchObject({ rows: 2, isExact: true });
  });

  it("is no longer exact once more different requests came than it tells apart", () => {
    const duplicates = createDuplicates(undefined, 2);
    for (const state of ["a", "b", "c", "c", "a"]) duplicates.add(requestOf(state));
    expect(duplicates).toMatchObject({ rows: 1, isExact: false });
  });
});
