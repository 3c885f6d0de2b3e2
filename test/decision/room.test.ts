import { describe, expect, it } from "vitest";
import { costOf, fitOfPrefix, inputTokensOf, type PrefixFit, roomOf, splitCalls } from "../../src/decision/room.js";
import { createSeeded } from "../seeded.js";

const tokens = (count: number) => Array.from({ length: count }, () => 0);

describe("room and cost", () => {
  it.each([
    [512, 35, 476],
    [512, 511, 0],
    [512, 512, -1],
    [2048, 35, 2012],
  ])("a window of %i leaves beside a prefix of %i room for %i", (window, prefix, room) => {
    expect(roomOf(prefix, window)).toBe(room);
  });

  it.each([
    ["one question", [30], 100, 131, 131],
    ["questions of one length", [30, 30], 100, 262, 262],
    ["the longest decides the cost, usage is without padding", [10, 30, 20], 100, 393, 363],
    ["an empty state", [10, 30], 0, 62, 42],
  ])("%s", (_, prefixTokens, stateTokens, cost, inputTokens) => {
    expect(costOf(prefixTokens, stateTokens)).toBe(cost);
    expect(inputTokensOf(prefixTokens, stateTokens)).toBe(inputTokens);
  });
});

describe("fitOfPrefix", () => {
  /** Head and options with their special tokens; the prefix has a separator more. */
  const fitOf = (head: number, options: number[], window: number): PrefixFit => {
    const prefixTokens = head + options.reduce((sum, option) => sum + option, 0) + 1;
    return fitOfPrefix({ head: tokens(head), options: options.map(tokens), prefixTokens }, window);
  };

  it.each<[string, number, number[], PrefixFit]>([
    ["leaves one token", 40, [28, 29], "fits"],
    ["leaves none", 40, [29, 29], "question_too_long"],
    ["has a long head and one option", 200, [5], "too_many_options"],
    ["has its one marker on the window's last token", 99, [50], "question_too_long"],
    ["has its one marker just off the window", 100, [50], "too_many_options"],
    ["has its last marker on the window's last token", 39, [30, 30, 900], "question_too_long"],
    ["has its last marker just off the window", 40, [30, 30, 900], "too_many_options"],
    ["has many short options", 10, tokens(40).map(() => 3), "too_many_options"],
  ])("of a window of 100: a question that %s", (_, head, options, fit) => {
    expect(fitOf(head, options, 100)).toBe(fit);
  });
});

describe("splitCalls", () => {
  it.each<[string, number[], number, number, number, [number, number][]]>([
    ["one call where all fit", [10, 10, 10], 9, 60, 32, [[0, 3]]],
    [
      "a cap that is one token short",
      [10, 10, 10],
      9,
      59,
      32,
      [
        [0, 2],
        [2, 3],
      ],
    ],
    [
      "too many questions",
      [1, 1, 1, 1, 1],
      0,
      1000,
      2,
      [
        [0, 2],
        [2, 4],
        [4, 5],
      ],
    ],
    [
      "a long question that makes its neighbours dear",
      [10, 80, 10],
      9,
      100,
      32,
      [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    ],
    [
      "a question over the cap alone is never split",
      [10, 200, 10],
      9,
      100,
      32,
      [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    ],
    ["one question", [10], 9, 5, 1, [[0, 1]]],
  ])("%s", (_, prefixTokens, stateTokens, cap, maxQuestions, ranges) => {
    expect(splitCalls(prefixTokens, stateTokens, { cap, maxQuestions })).toEqual(ranges);
  });

  it("covers all questions in order, each call within both limits and none that could take one question more", () => {
    const draw = createSeeded(7);
    for (let round = 0; round < 300; round++) {
      const prefixTokens = Array.from({ length: draw(1, 80) }, () => draw(4, draw(5, 500)));
      const stateTokens = draw(0, 500);
      const limits = { cap: draw(100, 6000), maxQuestions: draw(1, 32) };
      const ranges = splitCalls(prefixTokens, stateTokens, limits);
      expect(ranges.flatMap(([from, to]) => prefixTokens.slice(from, to))).toEqual(prefixTokens);
      for (const [from, to] of ranges) {
        const within = (end: number) =>
          end - from <= limits.maxQuestions && costOf(prefixTokens.slice(from, end), stateTokens) <= limits.cap;
        expect(to - from === 1 || within(to)).toBe(true);
        expect(to === prefixTokens.length || !within(to + 1)).toBe(true);
      }
    }
  });
});
