import { describe, expect, it } from "vitest";
import { type DecideSize, planDecideCalls, planPrefixGroups } from "../../src/engine/core-plan.js";
import { createSeeded } from "../seeded.js";

const MAX_GROUP_PADDING = 48;
const MAX_ATTENTION_CELLS = 1_000_000;

describe("planPrefixGroups", () => {
  it.each<[string, number[], number[][]]>([
    ["one question", [30], [[0]]],
    ["questions of like length together, longest first", [30, 34, 32], [[1, 2, 0]]],
    ["48 padded tokens are worth it", [100, 52], [[0, 1]]],
    ["49 are not", [100, 51], [[0], [1]]],
    ["the padding of a group adds up: 20 + 28, then one too many", [100, 80, 72, 71], [[0, 1, 2], [3]]],
    ["a long question among short ones stands alone", [20, 400, 22, 21], [[1], [2, 3, 0]]],
  ])("%s", (_, lengths, groups) => {
    expect(planPrefixGroups(lengths)).toEqual(groups);
  });

  it("puts every question into one group and pads none beyond the bound", () => {
    const draw = createSeeded(21);
    for (let round = 0; round < 300; round++) {
      const lengths = Array.from({ length: draw(1, 60) }, () => draw(4, draw(5, 500)));
      const groups = planPrefixGroups(lengths);
      expect(groups.flat().sort((a, b) => a - b)).toEqual(lengths.map((_, i) => i));
      for (const group of groups) {
        const own = group.map((i) => lengths[i] as number);
        expect(own.reduce((sum, length) => sum + Math.max(...own) - length, 0)).toBeLessThanOrEqual(MAX_GROUP_PADDING);
      }
    }
  });
});

describe("planDecideCalls", () => {
  const cellsOf = ({ prefixLength, stateLength }: DecideSize) => prefixLength * (prefixLength + stateLength);

  it.each<[string, DecideSize, [number, number][], [number, number][]]>([
    [
      "all at once where it is little",
      { rows: 4, questions: 3, prefixLength: 30, stateLength: 100 },
      [[0, 4]],
      [[0, 3]],
    ],
    // 100 * 400 = 40,000 cells a question: 25 a call, so 5 rows of 5 questions
    [
      "fewer rows of all questions",
      { rows: 12, questions: 5, prefixLength: 100, stateLength: 300 },
      [
        [0, 5],
        [5, 10],
        [10, 12],
      ],
      [[0, 5]],
    ],
    // 400 * 1,000 = 400,000 cells a question: 2 of one row
    [
      "fewer questions of one row",
      { rows: 2, questions: 3, prefixLength: 400, stateLength: 600 },
      [
        [0, 1],
        [1, 2],
      ],
      [
        [0, 2],
        [2, 3],
      ],
    ],
    [
      "one question of one row where it is over the bound by itself",
      { rows: 1, questions: 2, prefixLength: 900, stateLength: 1100 },
      [[0, 1]],
      [
        [0, 1],
        [1, 2],
      ],
    ],
  ])("%s", (_, size, rows, questions) => {
    expect(planDecideCalls(size)).toEqual(rows.flatMap((r) => questions.map((q) => ({ rows: r, questions: q }))));
  });

  it("asks every question of every row once, within the bound", () => {
    const draw = createSeeded(22);
    for (let round = 0; round < 300; round++) {
      const size = {
        rows: draw(1, 60),
        questions: draw(1, 40),
        prefixLength: draw(4, 600),
        stateLength: draw(1, 2048),
      };
      const asked = new Uint8Array(size.rows * size.questions);
      for (const { rows, questions } of planDecideCalls(size)) {
        const cells = (rows[1] - rows[0]) * (questions[1] - questions[0]) * cellsOf(size);
        expect(cells <= MAX_ATTENTION_CELLS || cells === cellsOf(size)).toBe(true);
        for (let r = rows[0]; r < rows[1]; r++)
          for (let q = questions[0]; q < questions[1]; q++)
            asked[r * size.questions + q] = (asked[r * size.questions + q] ?? 0) + 1;
      }
      expect(asked.every((times) => times === 1)).toBe(true);
    }
  });
});
