import { describe, expect, it } from "vitest";
import {
  answerOf,
  answersToJson,
  choiceConfidence,
  round4,
  scoreConfidence,
  stringifyAnswers,
} from "../../src/decision/answer.js";
import { type JsonValue, stringifyJson } from "../../src/decision/json.js";
import { parseQuestions, type Question } from "../../src/decision/question.js";

function questionOf(wire: JsonValue): Question {
  const { questions, issues } = parseQuestions({ q: wire });
  if (questions[0] === undefined || issues.length > 0) throw new Error(JSON.stringify(issues));
  return questions[0];
}

const choice = (...labels: string[]) =>
  questionOf(
    new Map<string, JsonValue>([
      ["type", "choice"],
      ["criteria", new Map(labels.map((label) => [label, null]))],
    ]),
  );

describe("choiceConfidence", () => {
  it.each<[number[], number]>([
    [[1], 1],
    [[0.3], 1],
    [[0.5, 0.5], 0],
    [[0.75, 0.25], 0.5],
    [[0, 1], 1],
    [[0.875, 0.125, 0], 0.8125],
    [[0.25, 0.25, 0.25, 0.25], 0],
  ])("of %j is %d", (probabilities, confidence) => {
    expect(choiceConfidence(probabilities)).toBeCloseTo(confidence, 12);
  });
});

describe("scoreConfidence", () => {
  it.each<[number[], number]>([
    [[1], 1],
    [[0, 1, 0], 1],
    // m = 1, spread 0.02 + 0.07 = 0.09, MAD = (1 + 0 + 1) / 3
    [[0.02, 0.91, 0.07], 1 - 0.09 / (2 / 3)],
    // m = 0 (the first of equals), spread 0.5, MAD = 0.5
    [[0.5, 0.5], 0],
    // m = 0, spread 0.2, MAD = 0.5
    [[0.8, 0.2], 0.6],
    // m = 0, spread 0.4 * 3 = 1.2 over MAD = (1.5 + 0.5 + 0.5 + 1.5) / 4 = 1: below 0 is 0
    [[0.6, 0, 0, 0.4], 0],
    // m = 2, spread 0.1 * 2 + 0.2 * 1 + 0.1 * 1, MAD = 1
    [[0.1, 0.2, 0.6, 0.1], 0.5],
  ])("of %j is %d", (probabilities, confidence) => {
    expect(scoreConfidence(probabilities)).toBeCloseTo(confidence, 12);
  });
});

describe("answerOf", () => {
  it("answers a noul with P(yes) alone", () => {
    const answer = answerOf(questionOf({ type: "noul", instructions: "?" }), [0.04884, 0.95116]);
    expect(answer).toEqual({ type: "noul", noul: 0.9512 });
  });

  it("answers a choice with the most probable label", () => {
    expect(answerOf(choice("billing", "technical", "sales"), [0.875, 0.125, 0])).toEqual({
      type: "choice",
      choice: "billing",
      confidence: 0.8125,
      probabilities: new Map([
        ["billing", 0.875],
        ["technical", 0.125],
        ["sales", 0],
      ]),
    });
  });

  it("takes the first of equally probable labels", () => {
    expect(answerOf(choice("b", "a", "c"), [0.4, 0.4, 0.2])).toMatchObject({ choice: "b" });
  });

  it("is certain of a choice of one label and of a score of one level", () => {
    expect(answerOf(choice("only"), [1])).toMatchObject({ choice: "only", confidence: 1 });
    expect(answerOf(questionOf({ type: "score", criteria: ["only"] }), [1])).toMatchObject({ score: 0, confidence: 1 });
  });

  it("answers a score with the expected level and echoes the criteria as given", () => {
    const question = questionOf({ type: "score", criteria: ["calm", null, { mood: ["furious"] }] });
    expect(answerOf(question, [0.02, 0.91, 0.07])).toEqual({
      type: "score",
      score: 1.05,
      confidence: 0.865,
      legend: new Map<string, JsonValue>([
        ["0", "calm"],
        ["1", null],
        ["2", { mood: ["furious"] }],
      ]),
      probabilities: new Map([
        ["0", 0.02],
        ["1", 0.91],
        ["2", 0.07],
      ]),
    });
  });

  it("rounds after everything is computed", () => {
    // rounded first, the score would be 0.3333 + 2 * 0.3333 = 0.9999
    const third = 1 / 3;
    expect(answerOf(questionOf({ type: "score", criteria: ["a", "b", "c"] }), [third, third, third])).toMatchObject({
      score: 1,
      probabilities: new Map([
        ["0", 0.3333],
        ["1", 0.3333],
        ["2", 0.3333],
      ]),
    });
    // rounded first, the confidence would be 2 * 0.5001 - 1 = 0.0002
    expect(answerOf(choice("a", "b"), [0.50005, 0.49995])).toMatchObject({ confidence: 0.0001 });
  });
});

describe("round4", () => {
  it.each([
    [0.12344999, 0.1234],
    [0.12345001, 0.1235],
    [0.99996, 1],
    [1e-9, 0],
    [-1e-17, 0],
    [-0, 0],
  ])("rounds %d to %d", (value, rounded) => {
    expect(round4(value)).toBe(rounded);
  });
});

describe("the JSON of answers", () => {
  const labels = ["b", "10", "2", "a"];
  const answers = new Map([
    ["z", answerOf(choice(...labels), [0.1, 0.2, 0.3, 0.4])],
    ["7", answerOf(questionOf({ type: "score", criteria: ["low", null] }), [0.25, 0.75])],
    ["1", answerOf(questionOf({ type: "noul", instructions: "?" }), [0.5, 0.5])],
  ]);
  const text =
    '{"z":{"type":"choice","choice":"a","confidence":0.2,"probabilities":{"b":0.1,"10":0.2,"2":0.3,"a":0.4}},' +
    '"7":{"type":"score","score":0.75,"confidence":0.5,"legend":{"0":"low","1":null},"probabilities":{"0":0.25,"1":0.75}},' +
    '"1":{"type":"noul","noul":0.5}}';

  it("has exactly the wire's keys, questions and labels in the order given, integer-like ones too", () => {
    expect(stringifyAnswers(answers)).toBe(text);
    expect(stringifyJson(answersToJson(answers))).toBe(text);
  });

  it("holds a label __proto__", () => {
    const proto = new Map([["q", answerOf(choice("__proto__", "b"), [0.75, 0.25])]]);
    expect(stringifyAnswers(proto)).toBe(
      '{"q":{"type":"choice","choice":"__proto__","confidence":0.5,"probabilities":{"__proto__":0.75,"b":0.25}}}',
    );
  });
});
