import { describe, expect, it } from "vitest";
import { parseAnswered, printAnswered } from "../../src/batch/answer-text.js";
import type { Answered } from "../../src/batch/answerer.js";
import type { ScoreAnswer } from "../../src/decision/answer.js";
import { parseJson, stringifyJson } from "../../src/decision/json.js";
import { parseQuestions } from "../../src/decision/question.js";
import { answersFrom } from "../../src/engine/chunked-reading.js";
import { chunkedToJson, decisionToJson } from "../../src/engine/decision.js";

const { questions } = parseQuestions(
  parseJson(`{"yes":{"type":"noul","instructions":"?"},"10":{"type":"choice","criteria":{"10":"ten","2":null,"é":"x"}},
    "level":{"type":"score","criteria":["low",{"7":"a","1":"b"},null]}}`),
);
const answers = answersFrom(questions, [
  [0.1, 0.9],
  [0.25, 0.7, 0.05],
  [0.3, 0.333_333_333, 0.366_666_667],
]);
const plain: Answered = {
  model: "core-0.3.20",
  usage: { inputTokens: 318 },
  route: { role: "multilingual", reason: { type: "few_letters", letters: 12, needed: 160 } },
  answers,
};
const chunked: Answered = {
  ...plain,
  chunked: {
    combine: { noul: "max", choice: "mean", score: "confidence" },
    from: new Map([
      ["yes", [1]],
      ["10", [0, 1]],
      ["level", [0]],
    ]),
    chunks: [
      { path: ["body", 3], from: 0, to: 12, stateTokens: 5, answers },
      { path: [], from: 10, to: 20, stateTokens: 4, answers },
    ],
  },
};

const { type, score, confidence, probabilities } = answers.get("level") as ScoreAnswer;
const otherLegend: ScoreAnswer = { type, score, confidence, probabilities, legend: new Map([["0", "low"]]) };

function shown(answered: Answered): string {
  const chunks = answered.chunked === undefined ? null : chunkedToJson(answered.chunked, { explain: true });
  return stringifyJson([decisionToJson(answered), chunks]);
}

describe("an answer as text", () => {
  it.each<[string, Answered]>([
    ["plain", plain],
    ["chunked", chunked],
  ])("comes back without loss: %s", (_, answered) => {
    const text = printAnswered(answered, questions) ?? "";
    const back = parseAnswered(text, questions);
    expect(back).toEqual(answered);
    expect(back && shown(back)).toBe(shown(answered));
    expect(text).not.toContain("ten"); // what the questions say is not repeated
  });

  it.each<[string, Partial<Answered>]>([
    ["an answer is missing", { answers: new Map([...answers].slice(1)) }],
    ["answers stand in another order", { answers: new Map([...answers].toReversed()) }],
    ["an answer has another type", { answers: new Map([...answers, ["level", { type: "noul", noul: 1 }]]) }],
    ["a number is none", { answers: new Map([...answers, ["yes", { type: "noul", noul: Number.NaN }]]) }],
    ["a legend is another one", { answers: new Map([...answers, ["level", otherLegend]]) }],
  ])("is none where %s", (_, change) => {
    expect(printAnswered({ ...plain, ...change }, questions)).toBeUndefined();
  });

  it.each([
    "",
    "{}",
    "[]",
    '["m",1,{},[]]',
    '["m",1,{},[[1],[9,1,0,0,1],[1,1,0,0,1]]]',
    '["m",1,{},[[1],[0,1],[1,1]]]',
  ])("is not taken for one: %s", (text) => {
    expect(parseAnswered(text, questions)).toBeUndefined();
  });
});
