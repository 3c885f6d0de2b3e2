import { describe, expect, it } from "vitest";
import { parseQuestions, type Question } from "../../src/decision/question.js";
import type { Model } from "../../src/engine/model.js";
import { assertRoom, createQuestionSet, QuestionSetCache } from "../../src/engine/question-set.js";
import { createFakeInference, fakeCheckpoint } from "../fake-inference.js";

/** One token a word. */
const tokenize = (text: string) => (text.match(/\S+/g) ?? []).map((word) => 100 + word.length);

function modelOf(name: string, window = 100): Model {
  return {
    checkpoint: {
      name,
      family: "core",
      description: "",
      releaseDate: "2026-01-01",
      languages: [],
      window,
      hiddenSize: 4,
      graphs: {},
      tokenizerPath: "",
      specialTokens: { cls: "[CLS]", sep: "[SEP]", mask: "[MASK]", pad: "[PAD]" },
      calibration: {},
      prefixLimits: {},
      fingerprint: "",
    },
    tokenizer: { tokenize, special: { cls: 1, sep: 2, mask: 3, pad: 0 } },
    limits: { window, cap: 1000, maxQuestions: 32 },
    familyCheckpoint: fakeCheckpoint(name),
  };
}

function questionsOf(wire: Record<string, unknown>): readonly Question[] {
  const { questions, issues } = parseQuestions(wire);
  if (issues.length > 0) throw new Error(JSON.stringify(issues));
  return questions;
}

const noul = (instructions: string) => ({ type: "noul", instructions, criteria: { true: "y", false: "n" } });
const MODEL = modelOf("model");

describe("createQuestionSet", () => {
  it("tells each question's prefix and room, and the tightest room", () => {
    const questions = questionsOf({ a: noul("x"), b: { type: "choice", instructions: "x y", criteria: { a: null } } });
    const set = createQuestionSet(questions, MODEL, createFakeInference());
    // [CLS] noul question: x [SEP] [MASK] false: n [MASK] true: y [SEP]; [CLS] choice question: x y [SEP] [MASK] a [SEP]
    expect(set.prefixTokens).toEqual([12, 9]);
    expect(set.totalPrefixTokens).toBe(21);
    expect(set.rooms).toEqual([87, 90]);
    expect(set.room).toBe(87);
  });

  it("encodes nothing before it is asked to, and once however often it is", async () => {
    const inference = createFakeInference();
    const set = createQuestionSet(questionsOf({ a: noul("x") }), MODEL, inference);
    expect(inference.compiled).toEqual([]);
    const prefixes = await Promise.all([set.compiled(), set.compiled(), set.compiled()]);
    expect(inference.compiled).toHaveLength(1);
    expect(new Set(prefixes).size).toBe(1);
  });

  it("hands the family type, head and options of each question", async () => {
    const inference = createFakeInference();
    const questions = questionsOf({ a: { type: "score", instructions: "x", criteria: [null, "yy"] } });
    await createQuestionSet(questions, MODEL, inference).compiled();
    const options = [
      [3, 105, 101],
      [3, 105, 102, 102],
    ];
    expect(inference.compiled).toEqual([
      { checkpoint: "model", questions: [{ type: "score", head: [1, 105, 109, 101, 2], options }] },
    ]);
  });

  it("tries again after a compile that failed", async () => {
    const inference = createFakeInference();
    inference.compileErrors.push(new Error("crashed"));
    const set = createQuestionSet(questionsOf({ a: noul("x") }), MODEL, inference);
    await expect(Promise.all([set.compiled(), set.compiled()])).rejects.toThrow("crashed");
    expect(await set.compiled()).toMatchObject({ type: "fake" });
    expect(inference.compiled).toHaveLength(2);
  });
});

describe("QuestionSetCache", () => {
  const cacheOf = (maxBytes = 1e6) => new QuestionSetCache(createFakeInference(), maxBytes);

  it("has one set for many rows, whether they share the parsed questions or not", () => {
    const cache = cacheOf();
    const questions = questionsOf({ a: noul("x") });
    const set = cache.get(questions, MODEL);
    expect(cache.get(questions, MODEL)).toBe(set);
    expect(cache.get(questionsOf({ a: noul("x") }), MODEL)).toBe(set);
  });

  it("has one set for questions that read alike, whatever their ids", () => {
    const cache = cacheOf();
    expect(cache.get(questionsOf({ b: noul("x") }), MODEL)).toBe(cache.get(questionsOf({ a: noul("x") }), MODEL));
  });

  it.each([
    ["other instructions", { a: noul("y") }],
    ["another type", { a: { type: "choice", instructions: "x", criteria: { true: "y", false: "n" } } }],
    ["another description", { a: { type: "noul", instructions: "x", criteria: { true: "y", false: "no" } } }],
    ["one question more", { a: noul("x"), b: noul("x") }],
  ])("has another set for %s", (_, wire) => {
    const cache = cacheOf();
    expect(cache.get(questionsOf(wire), MODEL)).not.toBe(cache.get(questionsOf({ a: noul("x") }), MODEL));
  });

  it("has another set for the ids of questions without instructions, which the model reads", () => {
    const cache = cacheOf();
    const bare = { type: "score", criteria: ["a"] };
    expect(cache.get(questionsOf({ mood: bare }), MODEL)).not.toBe(cache.get(questionsOf({ anger: bare }), MODEL));
  });

  it("has another set for another order of questions or options", () => {
    const cache = cacheOf();
    const choice = (...labels: string[]) => ({
      a: { type: "choice", criteria: Object.fromEntries(labels.map((l) => [l, null])) },
    });
    expect(cache.get(questionsOf(choice("x", "y")), MODEL)).not.toBe(cache.get(questionsOf(choice("y", "x")), MODEL));
    const [one, two] = [noul("x"), noul("y")];
    expect(cache.get(questionsOf({ one, two }), MODEL)).not.toBe(cache.get(questionsOf({ two, one }), MODEL));
  });

  it("compiles a set once per checkpoint", async () => {
    const inference = createFakeInference();
    const cache = new QuestionSetCache(inference, 1e6);
    const questions = questionsOf({ a: noul("x") });
    for (const model of [MODEL, modelOf("other"), MODEL, modelOf("other")])
      await cache.get(questions, model).compiled();
    expect(inference.compiled.map(({ checkpoint }) => checkpoint)).toEqual(["model", "other"]);
  });

  it("forgets the set not used for longest when the bound is reached", () => {
    // a prefix of 12 tokens x 4 floats x 4 bytes = 192
    const cache = cacheOf(2 * 192);
    const [a, b, c] = ["a", "b", "c"].map((text) => questionsOf({ q: noul(text) }));
    const sets = [a, b].map((questions) => cache.get(questions ?? [], MODEL));
    expect(cache.get(a ?? [], MODEL)).toBe(sets[0]);
    cache.get(c ?? [], MODEL);
    expect(cache.get(a ?? [], MODEL)).toBe(sets[0]);
    expect(cache.get(b ?? [], MODEL)).not.toBe(sets[1]);
  });
});

describe("assertRoom", () => {
  const check = (wire: Record<string, unknown>, window: number) => {
    const model = modelOf("model", window);
    const questions = questionsOf(wire);
    assertRoom(createQuestionSet(questions, model, createFakeInference()), questions, model);
  };

  it("accepts questions that leave one token", () => {
    expect(() => check({ a: noul("x") }, 14)).not.toThrow();
  });

  it("names the first question that leaves none, its tokens and the window", () => {
    expect(() => check({ a: { type: "score", criteria: ["x"] }, b: noul("x") }, 13)).toThrow(
      expect.objectContaining({
        code: "question_too_long",
        details: { question: "b", tokens: 12, window: 13 },
        message: expect.stringMatching(/^question "b" takes 12 of the 13 tokens of model .*; shorten its texts$/),
      }),
    );
  });

  it("says so where the markers fall off the window too", () => {
    const criteria = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`label${i}`, null]));
    expect(() => check({ a: { type: "choice", instructions: "x", criteria } }, 100)).toThrow(
      expect.objectContaining({ code: "too_many_options", details: { question: "a", tokens: 126, window: 100 } }),
    );
  });
});
