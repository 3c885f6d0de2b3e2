import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decision/json.js";
import { type Issue, kindOf, parseQuestions, type Question } from "../../src/decision/question.js";

function parsed(question: unknown): Question {
  const { questions, issues } = parseQuestions({ q: question });
  if (issues.length > 0 || questions[0] === undefined) throw new Error(`has issues: ${JSON.stringify(issues)}`);
  return questions[0];
}

const issuesOf = (questions: unknown): readonly Issue[] => parseQuestions(questions).issues;
const pathsOf = (question: unknown): string[] => issuesOf({ q: question }).map(({ path }) => path);
const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`label ${i}`, null]));
const levels = (count: number) => Array.from({ length: count }, () => null);

describe("parseQuestions", () => {
  it("parses a choice", () => {
    const criteria = { billing: "money", other: null, tech: { covers: ["bugs", 1] }, sales: ["new", "more"] };
    expect(parsed({ type: "choice", instructions: "Which team?", criteria })).toEqual({
      id: "q",
      type: "choice",
      instructions: "Which team?",
      options: [
        { label: "billing", description: "money" },
        { label: "other", description: undefined },
        { label: "tech", description: '{"covers": ["bugs", 1]}' },
        { label: "sales", description: '["new", "more"]' },
      ],
      legend: [],
    });
  });

  it("parses a score and keeps its criteria as given for the legend", () => {
    const criteria = ["calm", null, { mood: "furious" }];
    expect(parsed({ type: "score", criteria })).toEqual({
      id: "q",
      type: "score",
      instructions: undefined,
      options: [
        { label: "0", description: "calm" },
        { label: "1", description: undefined },
        { label: "2", description: '{"mood": "furious"}' },
      ],
      legend: criteria,
    });
  });

  it.each<[string, unknown, (string | undefined)[]]>([
    ["none", undefined, [undefined, undefined]],
    ["null", null, [undefined, undefined]],
    ["an empty object", {}, [undefined, undefined]],
    ["true alone", { true: "yes" }, [undefined, "yes"]],
    ["false alone", { false: ["no"] }, ['["no"]', undefined]],
    ["both, true first", { true: "yes", false: "no" }, ["no", "yes"]],
    ["one of them null", { true: null, false: "no" }, ["no", undefined]],
    ["a Map", new Map([["true", "yes"]]), [undefined, "yes"]],
  ])("parses a noul whose criteria are %s: always false, then true", (_, criteria, descriptions) => {
    const { options } = parsed({ type: "noul", instructions: "?", criteria });
    expect(options.map(({ label }) => label)).toEqual(["false", "true"]);
    expect(options.map(({ description }) => description)).toEqual(descriptions);
  });

  it.each<[string, JsonValue | undefined, string | undefined]>([
    ["a string", "Which?", "Which?"],
    ["an empty string", "", ""],
    ["an object, as one line", { ask: "Which?", hints: [1] }, '{"ask": "Which?", "hints": [1]}'],
    ["an array, as one line", ["a", "b"], '["a", "b"]'],
    ["null", null, undefined],
    ["nothing", undefined, undefined],
  ])("takes %s for the instructions of every type", (_, instructions, rendered) => {
    expect(parsed({ type: "choice", instructions, criteria: { a: null } }).instructions).toBe(rendered);
    expect(parsed({ type: "score", instructions, criteria: ["a"] }).instructions).toBe(rendered);
    expect(parsed({ type: "noul", instructions, criteria: { true: "a" } }).instructions).toBe(rendered);
  });

  it.each([
    ["null", null],
    ["an array", []],
    ["a string", "x"],
    ["nothing", undefined],
  ])("rejects %s in place of the questions", (kind, questions) => {
    const message = `must be an object of question id -> question, not ${kind}`;
    expect(issuesOf(questions)).toEqual([{ path: "questions", message }]);
  });

  it("wants at least one question", () => {
    expect(issuesOf({})).toEqual([{ path: "questions", message: "must hold at least one question" }]);
  });

  it.each<[string, unknown, string[]]>([
    ["a question that is no object", "Is it urgent?", ["questions.q"]],
    ["a question that is an array", [], ["questions.q"]],
    ["no type", { instructions: "?" }, ["questions.q.type"]],
    ["an unknown type", { type: "boolean", instructions: "?" }, ["questions.q.type"]],
    ["a type inherited from Object", { type: "toString" }, ["questions.q.type"]],
    ["a type that is no string", { type: ["noul"] }, ["questions.q.type"]],
    ["instructions that are a number", { type: "noul", instructions: 1 }, ["questions.q.instructions"]],
    ["instructions that are a boolean", { type: "noul", instructions: false }, ["questions.q.instructions"]],
    ["a choice without criteria", { type: "choice", instructions: "?" }, ["questions.q.criteria"]],
    ["a choice whose criteria are null", { type: "choice", criteria: null }, ["questions.q.criteria"]],
    ["a choice whose criteria are an array", { type: "choice", criteria: ["a"] }, ["questions.q.criteria"]],
    ["a choice without labels", { type: "choice", criteria: {} }, ["questions.q.criteria"]],
    [
      "descriptions that are numbers or booleans",
      { type: "choice", criteria: { a: 1, b: "x", c: true } },
      ["questions.q.criteria.a", "questions.q.criteria.c"],
    ],
    ["256 labels", { type: "choice", criteria: labels(256) }, ["questions.q.criteria"]],
    ["a score without criteria", { type: "score", instructions: "?" }, ["questions.q.criteria"]],
    ["a score whose criteria are null", { type: "score", criteria: null }, ["questions.q.criteria"]],
    ["a score whose criteria are an object", { type: "score", criteria: { 0: "a" } }, ["questions.q.criteria"]],
    ["a score without levels", { type: "score", criteria: [] }, ["questions.q.criteria"]],
    ["11 levels", { type: "score", criteria: levels(11) }, ["questions.q.criteria"]],
    ["a level that is a number", { type: "score", criteria: ["a", 1] }, ["questions.q.criteria.1"]],
    ["a noul with neither instructions nor criteria", { type: "noul" }, ["questions.q"]],
    ["a noul with nulls only", { type: "noul", instructions: null, criteria: { true: null } }, ["questions.q"]],
    ["a noul with empty criteria only", { type: "noul", criteria: {} }, ["questions.q"]],
    ["a noul whose criteria are an array", { type: "noul", instructions: "?", criteria: [] }, ["questions.q.criteria"]],
    [
      "a noul with a key that is neither true nor false",
      { type: "noul", instructions: "?", criteria: { true: "a", True: "b" } },
      ["questions.q.criteria.True"],
    ],
    [
      "a noul described by a number",
      { type: "noul", instructions: "?", criteria: { false: 0 } },
      ["questions.q.criteria.false"],
    ],
    [
      "several things at once",
      { type: "choice", instructions: 5, criteria: { a: 1 } },
      ["questions.q.instructions", "questions.q.criteria.a"],
    ],
  ])("reports %s at its path", (_, question, paths) => {
    expect(pathsOf(question)).toEqual(paths);
  });

  it.each([
    ["1 label", { type: "choice", criteria: labels(1) }, 1],
    ["255 labels", { type: "choice", criteria: labels(255) }, 255],
    ["1 level", { type: "score", criteria: levels(1) }, 1],
    ["10 levels", { type: "score", criteria: levels(10) }, 10],
  ])("allows %s", (_, question, options) => {
    expect(parsed(question).options).toHaveLength(options);
  });

  it("asks for a choice's instructions only where the deployment does", () => {
    const questions = { q: { type: "choice", criteria: { a: null } }, n: { type: "score", criteria: ["a"] } };
    expect(parseQuestions(questions, { choiceNeedsInstructions: false }).issues).toEqual([]);
    expect(parseQuestions(questions, { choiceNeedsInstructions: true }).issues.map(({ path }) => path)).toEqual([
      "questions.q.instructions",
    ]);
  });

  it("keeps the order of integer-like labels", () => {
    const criteria = new Map([
      ["b", null],
      ["10", null],
      ["2", null],
    ]);
    expect(parsed({ type: "choice", criteria }).options.map(({ label }) => label)).toEqual(["b", "10", "2"]);
  });

  it("knows a label __proto__", () => {
    const criteria = JSON.parse('{"__proto__": "a", "b": null}');
    expect(parsed({ type: "choice", criteria }).options).toEqual([
      { label: "__proto__", description: "a" },
      { label: "b", description: undefined },
    ]);
  });

  it("never echoes the user's text in a message", () => {
    const questions = {
      a: "SECRET",
      b: { type: "SECRET" },
      c: { type: "choice", instructions: 4711, criteria: "SECRET" },
      d: { type: "score", criteria: { SECRET: "SECRET" } },
      e: { type: "noul", criteria: { SECRET: "SECRET", true: 4711 } },
      f: { type: "choice", criteria: { SECRET: 4711 } },
    };
    const issues = issuesOf(questions);
    expect(issues.map(({ path }) => path.split(".")[1])).toEqual(["a", "b", "c", "c", "d", "e", "e", "e", "f"]);
    expect(issues.filter(({ message }) => /SECRET|4711/.test(message))).toEqual([]);
  });
});

describe("kindOf", () => {
  it.each([
    [undefined, "nothing"],
    [null, "null"],
    [[], "an array"],
    [new Map(), "an object"],
    ["x", "a string"],
    [1, "a number"],
    [true, "a boolean"],
  ])("says of %j what it is", (value, kind) => {
    expect(kindOf(value)).toBe(kind);
  });
});
