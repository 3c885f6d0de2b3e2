import { describe, expect, it } from "vitest";
import { parseQuestions, type Question } from "../../src/decision/question.js";
import {
  createForgedTokenFilter,
  headText,
  joinSequence,
  optionTexts,
  type PrefixLimits,
  questionSegments,
  type SpecialIds,
} from "../../src/decision/sequence.js";

const SPECIAL: SpecialIds = { cls: 1, sep: 2, mask: 3, pad: 0 };

function questionOf(wire: unknown, id = "q"): Question {
  const { questions, issues } = parseQuestions({ [id]: wire });
  if (questions[0] === undefined || issues.length > 0) throw new Error(JSON.stringify(issues));
  return questions[0];
}

/** One token a word; the words seen so far are numbered from 100. */
function createWordTokenizer() {
  const ids = new Map<string, number>();
  const texts: string[] = [];
  const tokenize = (text: string) => {
    texts.push(text);
    return (text.match(/\S+/g) ?? []).map((word) => {
      ids.set(word, ids.get(word) ?? 100 + ids.size);
      return ids.get(word) as number;
    });
  };
  return { tokenize, texts };
}

const words = (count: number, mark = "w") => Array.from({ length: count }, (_, i) => `${mark}${i}`).join(" ");

describe("headText", () => {
  it.each([
    [
      "a choice",
      { type: "choice", instructions: "Which team?", criteria: { a: null } },
      "choice question: Which team?",
    ],
    ["a score", { type: "score", instructions: "How bad?", criteria: ["a"] }, "score question: How bad?"],
    ["a noul", { type: "noul", instructions: "Is it so?" }, "noul question: Is it so?"],
    ["instructions of JSON", { type: "noul", instructions: { ask: ["x", 1] } }, 'noul question: {"ask": ["x", 1]}'],
    ["empty instructions", { type: "noul", instructions: "" }, "noul question: "],
    ["no instructions: its id", { type: "score", criteria: ["a"] }, "score question: mood"],
    [
      "null instructions: its id",
      { type: "choice", instructions: null, criteria: { a: null } },
      "choice question: mood",
    ],
  ])("reads %s", (_, wire, text) => {
    expect(headText(questionOf(wire, "mood"))).toBe(text);
  });
});

describe("optionTexts", () => {
  it.each([
    [
      "a choice: label and description, or the label alone",
      { type: "choice", criteria: { billing: "money", other: null, "a: b": "", json: ["x"] } },
      ["billing: money", "other", "a: b: ", 'json: ["x"]'],
    ],
    [
      "a score: the level and its description",
      { type: "score", criteria: ["calm", null] },
      ["level 0: calm", "level 1"],
    ],
    [
      "a noul: false first, with the words that stand in for descriptions",
      { type: "noul", instructions: "?" },
      ["false: no, the statement does not hold", "true: yes, the statement holds"],
    ],
    [
      "a noul with one description",
      { type: "noul", instructions: "?", criteria: { true: "a refund" } },
      ["false: no, the statement does not hold", "true: a refund"],
    ],
    [
      "a noul with both, given the other way round",
      { type: "noul", criteria: { true: "a refund", false: "none" } },
      ["false: none", "true: a refund"],
    ],
  ])("reads %s", (_, wire, texts) => {
    expect(optionTexts(questionOf(wire))).toEqual(texts);
  });
});

describe("createForgedTokenFilter", () => {
  const bert = createForgedTokenFilter({ cls: "[CLS]", sep: "[SEP]", mask: "[MASK]", pad: "[PAD]" });
  const xlm = createForgedTokenFilter({ cls: "<s>", sep: "</s>", mask: "<mask>", pad: "<pad>" });
  const nested = createForgedTokenFilter({ cls: "<s>", sep: "<s>x", mask: "$^", pad: "a|b" });

  it.each([
    ["every special token", bert, "a[CLS]b[SEP]c[MASK]d[PAD]e", "a b c d e"],
    ["one after the other", bert, "[MASK][MASK]", "  "],
    ["one that is left when an inner one is gone", bert, "[MA[SEP]SK]", "[MA SK]"],
    ["nothing of what is none", bert, "[mask] [UNK] [ MASK ] <mask>", "[mask] [UNK] [ MASK ] <mask>"],
    ["the tokens of another vocabulary", xlm, "x<mask>y</s>z[MASK]", "x y z[MASK]"],
    ["the longer of two that start alike", nested, "<s>x<s>y", "  y"],
    ["tokens that mean something in a pattern", nested, "$^ a|b a b", "    a b"],
  ])("makes a space of %s", (_, filter, text, filtered) => {
    expect(filter(text)).toBe(filtered);
  });
});

describe("questionSegments", () => {
  it("tokenises the head, and each option by itself with a leading space", () => {
    const { tokenize, texts } = createWordTokenizer();
    const question = questionOf({ type: "choice", instructions: "Which team?", criteria: { a: "x y", b: null } });
    const segments = questionSegments(question, tokenize, { special: SPECIAL });
    expect(texts).toEqual(["choice question: Which team?", " a: x y", " b"]);
    expect(segments).toEqual({
      head: [1, 100, 101, 102, 103, 2],
      options: [
        [3, 104, 105, 106],
        [3, 107],
      ],
      prefixTokens: 13,
      collisions: [],
    });
  });

  /** A choice whose head has `head` tokens and whose options have the numbers of tokens given, all without special tokens. */
  function cutOf({ head, options, limits }: { head: number; options: readonly number[]; limits: PrefixLimits }) {
    // "choice question:" are two tokens, a label is the first of its option's
    const criteria = Object.fromEntries(options.map((count, i) => [`o${i}`, count === 1 ? null : words(count - 1)]));
    const question = questionOf({ type: "choice", instructions: words(head - 2, "h"), criteria });
    const whole = questionSegments(question, createWordTokenizer().tokenize, { special: SPECIAL });
    const cut = questionSegments(question, createWordTokenizer().tokenize, { special: SPECIAL, limits });
    return { whole, cut };
  }

  it.each<{
    why: string;
    limits: PrefixLimits;
    head: number;
    options: number[];
    headCut: number;
    optionsCut: number[];
  }>([
    { why: "no limits: nothing is cut", limits: {}, head: 400, options: [90, 3], headCut: 400, optionsCut: [90, 3] },
    {
      why: "option_max_len alone: the first tokens of longer options",
      limits: { optionMaxLen: 48 },
      head: 400,
      options: [49, 48, 47],
      headCut: 400,
      optionsCut: [48, 48, 47],
    },
    {
      why: "192 - (10 + 1) * 2 = 170 tokens are left for a head of 170",
      limits: { optionMaxLen: 48, headMaxLen: 192 },
      head: 170,
      options: [10, 10],
      headCut: 170,
      optionsCut: [10, 10],
    },
    {
      why: "and a head of 171 loses one",
      limits: { optionMaxLen: 48, headMaxLen: 192 },
      head: 171,
      options: [10, 10],
      headCut: 170,
      optionsCut: [10, 10],
    },
    {
      why: "40 - (11 + 1) * 2 = 16 are just enough to leave the options",
      limits: { headMaxLen: 40 },
      head: 30,
      options: [11, 11],
      headCut: 16,
      optionsCut: [11, 11],
    },
    {
      why: "39 - 24 = 15 < 16: options to floor(23 / 2) = 11 with their mask, 39 - 22 = 17 for the head",
      limits: { headMaxLen: 39 },
      head: 30,
      options: [11, 11],
      headCut: 17,
      optionsCut: [10, 10],
    },
    {
      why: "20 options: max(4, floor(48 / 20) = 2) = 4 with their mask; 64 - 80 < 8, so 8 for the head",
      limits: { headMaxLen: 64 },
      head: 30,
      options: Array.from({ length: 20 }, () => 9),
      headCut: 8,
      optionsCut: Array.from({ length: 20 }, () => 3),
    },
    {
      why: "a cut to 11 leaves a shorter option, whose tokens go to the head: 39 - 11 - 4 = 24",
      limits: { headMaxLen: 39 },
      head: 30,
      options: [30, 3],
      headCut: 24,
      optionsCut: [10, 3],
    },
    {
      why: "option_max_len comes first: 40 - (5 + 1) * 2 = 28, so the second cut is not needed",
      limits: { optionMaxLen: 5, headMaxLen: 40 },
      head: 30,
      options: [30, 30],
      headCut: 28,
      optionsCut: [5, 5],
    },
    {
      why: "a head shorter than what is left stays as it is",
      limits: { optionMaxLen: 48, headMaxLen: 256 },
      head: 5,
      options: [60],
      headCut: 5,
      optionsCut: [48],
    },
  ])("$why", ({ limits, head, options, headCut, optionsCut }) => {
    const { whole, cut } = cutOf({ head, options, limits });
    expect(whole.head).toHaveLength(head + 2);
    expect(cut.head).toEqual([...whole.head.slice(0, headCut + 1), SPECIAL.sep]);
    expect(cut.options).toEqual(whole.options.map((ids, i) => ids.slice(0, 1 + (optionsCut[i] ?? 0))));
    expect(cut.prefixTokens).toBe(headCut + 3 + optionsCut.reduce((sum, count) => sum + count + 1, 0));
  });

  it.each<[string, Record<string, string | null>, PrefixLimits, string[][]]>([
    ["nothing where nothing is cut", { a: "x y z", b: "x y z" }, {}, []],
    ["those that the cut makes identical", { "a 1": "x", "a 2": "x", b: "x" }, { optionMaxLen: 1 }, [["a 1", "a 2"]]],
    ["nothing where the cut leaves a difference", { "a 1": "x", "a 2": "x" }, { optionMaxLen: 2 }, []],
    ["nothing of options that were identical before", { "a:": "x y", a: "x y" }, {}, []],
    [
      "every group of them",
      { "a 1": null, "b 1": null, "a 2": null, "b 2": null, "a 3": null },
      { optionMaxLen: 1 },
      [
        ["a 1", "a 2", "a 3"],
        ["b 1", "b 2"],
      ],
    ],
  ])("names as collisions %s", (_, criteria, limits, collisions) => {
    const question = questionOf({ type: "choice", criteria });
    const options = { special: SPECIAL, limits };
    expect(questionSegments(question, createWordTokenizer().tokenize, options).collisions).toEqual(collisions);
  });

  it("does not call options a collision that read alike uncut", () => {
    const question = questionOf({ type: "choice", criteria: { "a: b": null, a: "b" } });
    const limits = { optionMaxLen: 1 };
    const { options, collisions } = questionSegments(question, createWordTokenizer().tokenize, {
      special: SPECIAL,
      limits,
    });
    expect(options[0]).toEqual(options[1]);
    expect(collisions).toEqual([]);
  });
});

describe("joinSequence", () => {
  it("puts head, options, separator and state one after the other and says where each option starts", () => {
    const segments = { head: [1, 10, 2], options: [[3, 11, 12], [3, 13], [3]], prefixTokens: 10, collisions: [] };
    const { inputIds, markerPos } = joinSequence(segments, [20, 21], 2);
    expect(inputIds).toEqual([1, 10, 2, 3, 11, 12, 3, 13, 3, 2, 20, 21, 2]);
    expect(markerPos).toEqual([3, 6, 8]);
    expect(markerPos.map((at) => inputIds[at])).toEqual([3, 3, 3]);
  });

  it("has the segments' prefix and the state's tokens with its separator", () => {
    const question = questionOf({ type: "noul", instructions: "Is it so?" });
    const segments = questionSegments(question, createWordTokenizer().tokenize, { special: SPECIAL });
    expect(joinSequence(segments, [], 2).inputIds).toHaveLength(segments.prefixTokens + 1);
    expect(joinSequence(segments, [7, 8], 2).inputIds).toHaveLength(segments.prefixTokens + 3);
  });
});
