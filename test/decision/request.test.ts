import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decision/json.js";
import { type ParsedRequest, parseRequest, stateStrings } from "../../src/decision/request.js";

const QUESTIONS = { urgent: { type: "noul", instructions: "Is it urgent?" } };

function requestOf(value: unknown): ParsedRequest {
  const parsed = parseRequest(value);
  if (parsed.type !== "request") throw new Error(`is not a request: ${JSON.stringify(parsed.issues)}`);
  return parsed.request;
}

function pathsOf(value: unknown): string[] {
  const parsed = parseRequest(value);
  return parsed.type === "issues" ? parsed.issues.map(({ path }) => path) : [];
}

describe("parseRequest", () => {
  it.each<[string, JsonValue]>([
    ["a string", "x"],
    ["an empty string", ""],
    ["an object", { subject: "x" }],
    ["an object in its Map form", new Map([["1", "x"]])],
    ["an empty object", {}],
    ["an array", [{ role: "user" }, 1, null]],
    ["an empty array", []],
  ])("takes %s for a state, as it is", (_, state) => {
    expect(requestOf({ state, questions: QUESTIONS }).state).toBe(state);
  });

  it.each([
    ["null", null],
    ["a number", 0],
    ["a boolean", false],
    ["nothing", undefined],
  ])("rejects %s as a state", (kind, state) => {
    expect(parseRequest({ state, questions: QUESTIONS })).toEqual({
      type: "issues",
      issues: [{ path: "state", message: `must be a string, an object or an array, not ${kind}` }],
    });
  });

  it.each([
    ["null", null],
    ["an array", []],
    ["a string", "{}"],
    ["a number", 1],
    ["nothing", undefined],
  ])("rejects %s in place of the request", (kind, value) => {
    expect(parseRequest(value)).toEqual({
      type: "issues",
      issues: [{ path: "", message: `must be an object with state and questions, not ${kind}` }],
    });
  });

  it.each([
    ["a name", "core-latest", "core-latest"],
    ["null", null, undefined],
    ["nothing", undefined, undefined],
  ])("takes %s for a model", (_, model, parsed) => {
    expect(requestOf({ model, state: "x", questions: QUESTIONS }).model).toBe(parsed);
  });

  it.each([[1], [true], [["core-latest"]], [{ name: "core-latest" }]])("rejects the model %j", (model) => {
    expect(pathsOf({ model, state: "x", questions: QUESTIONS })).toEqual(["model"]);
  });

  it("ignores keys that the contract does not name", () => {
    const request = requestOf({ state: "x", questions: QUESTIONS, temperature: 1, id: null, stream: { a: 1 } });
    expect(Object.keys(request).sort()).toEqual(["model", "questions", "state"]);
  });

  it("takes nothing from the prototype of a request", () => {
    expect(pathsOf(Object.create({ state: "x", questions: QUESTIONS }))).toEqual(["state", "questions"]);
  });

  it("collects the issues of model, state and every question together", () => {
    const paths = pathsOf({
      model: 7,
      state: 8,
      questions: { a: { type: "maybe" }, b: { type: "choice" }, c: { type: "score", criteria: [1, "x", true] }, d: 3 },
    });
    expect(paths).toEqual([
      "model",
      "state",
      "questions.a.type",
      "questions.b.criteria",
      "questions.c.criteria.0",
      "questions.c.criteria.2",
      "questions.d",
    ]);
  });

  it("has the questions in the order given, integer-like ids too", () => {
    const noul = { type: "noul", instructions: "?" };
    const questions = new Map(["b", "10", "2", "a"].map((id) => [id, noul]));
    expect(requestOf({ state: "x", questions }).questions.map(({ id }) => id)).toEqual(["b", "10", "2", "a"]);
  });
});

describe("stateStrings", () => {
  it.each<[string, JsonValue, string[]]>([
    ["a string", "x", ["x"]],
    ["an object, without its keys", { a: "x", b: "y" }, ["x", "y"]],
    ["what is nested, in order", { a: ["x", { b: "y" }], c: "z" }, ["x", "y", "z"]],
    [
      "a Map in its order",
      new Map([
        ["b", "x"],
        ["1", "y"],
      ]),
      ["x", "y"],
    ],
    ["nothing of numbers, booleans and null", [1, true, null, {}], []],
  ])("reads %s", (_, state, strings) => {
    expect(stateStrings(state)).toEqual(strings);
  });
});

describe("a request that is nested too deep", () => {
  const nested = (levels: number): JsonValue =>
    Array.from({ length: levels }).reduce<JsonValue>((inner) => [inner], []);
  const questions = { a: { type: "noul", instructions: "A?" } };

  it.each([
    [198, "request"],
    [199, "issues"],
    [100_000, "issues"],
  ])("by %d levels in its state ends as %s", (levels, type) => {
    expect(parseRequest({ state: nested(levels), questions }).type).toBe(type);
  });
});
