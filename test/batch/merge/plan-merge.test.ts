import { describe, expect, it } from "vitest";
import type { Sidecar } from "../../../src/batch/journal/sidecar.js";
import { planMerge } from "../../../src/batch/merge/plan-merge.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import { type Part, rowsInPart } from "../../../src/batch/read/part.js";
import { QaError } from "../../../src/errors.js";

const shard = (index: number, count: number): Part => ({ type: "shard", index, count });
const range = (from: number, to: number): Part => ({ type: "range", from, to });

function input(part: Part | null, changes: Partial<Sidecar> = {}, file = "") {
  const rows = changes.input?.rows ?? 10;
  const name =
    part === null ? "whole" : part.type === "shard" ? `s${part.index}of${part.count}` : `r${part.from}-${part.to}`;
  const sidecar: Sidecar = {
    version: 1,
    fingerprint: { model: "core-1", output: { format: "csv" } },
    part,
    rows: part === null ? rows : rowsInPart(part, rows),
    input: { rows, digest: "abc" },
    finished: true,
    files: {},
    tally: createTally().snapshot(),
    sittings: 1,
    elapsedMs: 0,
    ...changes,
  };
  return { file: file || name, sidecar };
}

describe("the plan of a merge", () => {
  it("takes shards by turns in their order, whatever the order of the files", () => {
    expect(planMerge([input(shard(2, 3)), input(shard(0, 3)), input(shard(1, 3))])).toEqual({
      type: "round_robin",
      parts: [
        { file: "s0of3", rows: 4 },
        { file: "s1of3", rows: 3 },
        { file: "s2of3", rows: 3 },
      ],
      rows: 10,
    });
  });

  it("takes ranges one after the other, the last of which may reach over the end", () => {
    const plan = planMerge([input(range(8, 12)), input(range(0, 4)), input(range(4, 8))]);
    expect(plan).toMatchObject({ type: "concatenate", rows: 10 });
    expect(plan.parts.map(({ file, rows }) => [file, rows])).toEqual([
      ["r0-4", 4],
      ["r4-8", 4],
      ["r8-12", 2],
    ]);
  });

  it("takes shards of an input with fewer rows than shards, and of one with none", () => {
    const three = [0, 1, 2, 3].map((at) => input(shard(at, 4), { input: { rows: 3, digest: "d" } }));
    expect(planMerge(three).parts.map(({ rows }) => rows)).toEqual([1, 1, 1, 0]);
    const none = [0, 1].map((at) => input(shard(at, 2), { input: { rows: 0, digest: "" } }));
    expect(planMerge(none)).toMatchObject({ rows: 0 });
  });

  const other = { input: { rows: 10, digest: "other" } };
  const unlike = { fingerprint: { model: "core-2", output: { format: "csv" }, long: true } };
  it.each([
    ["no parts", [], "no parts"],
    ["a whole run", [input(null)], "whole is no part"],
    ["a missing shard", [input(shard(0, 3)), input(shard(2, 3))], "1 of 3 shards are missing: 2/3"],
    ["many missing shards", [input(shard(0, 9))], "2/9, 3/9, 4/9, 5/9, 6/9 and 3 more"],
    ["a shard twice", [input(shard(0, 2)), input(shard(0, 2), {}, "again")], "s0of2 and again are both shard 1/2"],
    ["shards of different divisions", [input(shard(0, 2)), input(shard(1, 3))], "shard 1/2 and shard 2/3"],
    ["shards and ranges", [input(shard(0, 2)), input(range(0, 5))], "parts of different divisions"],
    [
      "parts made differently",
      [input(shard(0, 2)), input(shard(1, 2), unlike)],
      "s0of2 and s1of2 were not made alike, these differ: model, long",
    ],
    ["other rows", [input(shard(0, 2)), input(shard(1, 2), other)], "as many rows, but not the same"],
    [
      "an input that grew",
      [input(shard(0, 2)), input(shard(1, 2), { input: { rows: 12, digest: "e" } })],
      "of 10 and 12 rows",
    ],
    [
      "an unfinished part",
      [input(shard(0, 2)), input(shard(1, 2), { finished: false, rows: 3 })],
      "s1of2 (shard 2/2) is not finished, 3 rows are written",
    ],
    ["too few rows", [input(shard(0, 2)), input(shard(1, 2), { rows: 4 })], "s1of2 has 4 rows, and shard 2/2 has 5"],
    ["ranges that do not begin at the start", [input(range(2, 10))], "rows 1 to 2 are missing before r2-10"],
    ["ranges with a gap", [input(range(0, 4)), input(range(6, 10))], "rows 5 to 6 are missing before r6-10"],
    ["ranges that overlap", [input(range(0, 6)), input(range(4, 10))], "r0-6 and r4-10 both hold row 5"],
    ["a range twice", [input(range(0, 10)), input(range(0, 10), {}, "again")], "both hold row 1"],
    ["ranges that end early", [input(range(0, 4)), input(range(4, 8))], "rows 9 to 10 are missing behind r4-8"],
  ])("refuses %s and says where", (_, inputs, message) => {
    const plan = () => planMerge(inputs);
    expect(plan).toThrow(QaError);
    expect(plan).toThrow(message);
  });
});
