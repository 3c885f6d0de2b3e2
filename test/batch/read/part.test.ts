import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isInPart, type Part, rowsInPart } from "../../../src/batch/read/part.js";
import { openRequests, type RequestSource } from "../../../src/batch/read/read-requests.js";
import { parseQuestions } from "../../../src/decision/question.js";

const folder = mkdtempSync(join(tmpdir(), "qa-part-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });

function input(rows: number): string {
  const path = join(folder, `${rows}.txt`);
  writeFileSync(path, Array.from({ length: rows }, (_, i) => `row ${i}\n`).join(""));
  return path;
}

async function read(rows: number, part: Part | undefined, options: Partial<RequestSource> = {}) {
  const { head, all, seen } = await openRequests({
    inputs: [input(rows)],
    read: {},
    state: {},
    questions,
    model: undefined,
    choiceNeedsInstructions: false,
    part,
    ...options,
  });
  const indexes: number[] = [];
  for await (const { row } of all) indexes.push(row.place.index);
  return { head: head.length, indexes, rows: seen.rows, digest: seen.value };
}

const shards = (count: number) => Array.from({ length: count }, (_, index): Part => ({ type: "shard", index, count }));
const range = (from: number, to: number): Part => ({ type: "range", from, to });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe("the parts of a run", () => {
  it.each([0, 1, 3, 99, 100, 101, 250])("hold every one of %i rows exactly once", async (rows) => {
    for (const parts of [shards(1), shards(4), shards(7), [range(0, 100), range(100, 200), range(200, 300)]]) {
      const outcomes = await Promise.all(parts.map((part) => read(rows, part)));
      expect(outcomes.flatMap(({ indexes }) => indexes).sort((a, b) => a - b)).toEqual(numbers(rows));
      expect(outcomes.map(({ indexes }) => indexes.length)).toEqual(parts.map((part) => rowsInPart(part, rows)));
    }
  });

  it("give row k to shard k mod n, so that a row keeps its shard while the input grows", async () => {
    const [, second] = shards(3);
    expect((await read(10, second)).indexes).toEqual([1, 4, 7]);
    expect((await read(14, second)).indexes).toEqual([1, 4, 7, 10, 13]);
  });

  it("look at the same first rows and see the whole input, whichever rows they take", async () => {
    const whole = await read(250, undefined);
    for (const part of [...shards(3), range(0, 1), range(240, 250)])
      expect(await read(250, part)).toMatchObject({ head: whole.head, rows: 250, digest: whole.digest });
  });

  it("divide the rows that --limit and --sample select", async () => {
    const limited = await Promise.all(shards(2).map((part) => read(250, part, { limit: 5 })));
    expect(limited.map(({ indexes }) => indexes)).toEqual([
      [0, 2, 4],
      [1, 3],
    ]);
    const sample = { size: 7, seed: 1 };
    const { indexes } = await read(250, undefined, { sample });
    const sampled = await Promise.all(shards(2).map((part) => read(250, part, { sample })));
    expect(sampled.map((part) => part.indexes)).toEqual([0, 1].map((at) => indexes.filter((_, i) => i % 2 === at)));
  });

  it("count no rows where the input ends before them", () => {
    expect(rowsInPart(range(10, 20), 5)).toBe(0);
    expect(rowsInPart(range(10, 20), 15)).toBe(5);
    expect(rowsInPart({ type: "shard", index: 3, count: 4 }, 3)).toBe(0);
    expect(isInPart(range(10, 20), 20)).toBe(false);
  });
});
