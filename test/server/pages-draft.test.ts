import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { PACKAGE_DIR } from "../../src/config.js";
import { type JsonValue, parseJson, stringifyJson } from "../../src/decision/json.js";
import { parseQuestions } from "../../src/decision/question.js";
import {
  draftsOf,
  newQuestion,
  placeOf,
  type QuestionDraft,
  questionsOf,
} from "../../src/server/pages/browser/draft.js";
import { failureOf, failureOfIssues } from "../../src/server/pages/browser/failure.js";
import { finishedOf, readRequest } from "../../src/server/pages/browser/page-request.js";

function drafts(json: string): QuestionDraft[] {
  return draftsOf(parseJson(json)) ?? [];
}

describe("drafts", () => {
  it.each(readdirSync(`${PACKAGE_DIR}presets`))("hold the preset %s and give it back as it was", (file) => {
    const text = readFileSync(`${PACKAGE_DIR}presets/${file}`, "utf8");
    const questions = parseYaml(text, { mapAsMap: true, stringKeys: true }) as JsonValue;
    const { questions: back, issues } = questionsOf(draftsOf(questions) ?? []);
    expect(issues).toEqual([]);
    expect(stringifyJson(back)).toBe(stringifyJson(questions));
  });

  it.each([
    '{"a":{"type":"choice","instructions":["x",{"10":1,"2":2}],"criteria":{"10":null,"2":{"z":1,"1":2},"__proto__":"p"}}}',
    '{"2":{"type":"noul","criteria":{"true":"yes"}},"1":{"type":"score","criteria":["a",null,["b"]]}}',
    "{}",
  ])("give back %s", (json) => {
    expect(stringifyJson(questionsOf(drafts(json)).questions)).toBe(json);
  });

  it.each([
    ["no object", "[]"],
    ["a question that is no object", '{"a": "b"}'],
    ["an unknown type", '{"a": {"type": "text"}}'],
    ["a number for a description", '{"a": {"type": "choice", "criteria": {"x": 1}}}'],
    ["a key besides true and false", '{"a": {"type": "noul", "criteria": {"maybe": "x"}}}'],
    ["a list of labels", '{"a": {"type": "choice", "criteria": ["x"]}}'],
  ])("do not hold %s", (_what, json) => {
    expect(draftsOf(parseJson(json))).toBeUndefined();
  });

  it("lose nothing when a type is changed and changed back", () => {
    const [draft] = drafts('{"a": {"type": "choice", "criteria": {"x": "1", "y": null}}}');
    if (draft === undefined) throw new Error("there is no draft");
    draft.type = "score";
    draft.type = "choice";
    expect(stringifyJson(questionsOf([draft]).questions)).toBe('{"a":{"type":"choice","criteria":{"x":"1","y":null}}}');
  });

  it("report what an object cannot hold: equal ids, equal labels, and JSON that no longer is", () => {
    const twice = [
      ...drafts('{"a": {"type": "choice", "instructions": {"b": 1}, "criteria": {"x": null, "y": null}}}'),
      newQuestion([]),
    ];
    const [first, second] = twice;
    if (first === undefined || second === undefined) throw new Error("there are no drafts");
    second.id = "a";
    first.instructions.text = "{";
    for (const row of first.labels) row.label = "x";
    expect(questionsOf(twice).issues.map(({ place }) => place)).toEqual([
      { question: 0, field: "instructions" },
      { question: 0, field: "criteria", row: 1 },
      { question: 1, field: "id" },
    ]);
  });

  it("name a new question by the first id that is free", () => {
    const taken = drafts('{"question_2": {"type": "noul"}}');
    expect(newQuestion(taken).id).toBe("question_3");
  });
});

describe("places of issues", () => {
  const form = drafts(
    '{"a": {"type": "choice", "criteria": {"x.y": null, "z": null}}, "a.criteria": {"type": "score", "criteria": [null]}, "b": {"type": "noul"}}',
  );

  it.each([
    ["questions.a", { question: 0, field: "question" }],
    ["questions.a.type", { question: 0, field: "type" }],
    ["questions.b.instructions", { question: 2, field: "instructions" }],
    ["questions.a.criteria.x.y", { question: 0, field: "criteria", row: 0 }],
    ["questions.a.criteria.z", { question: 0, field: "criteria", row: 1 }],
    ["questions.a.criteria.criteria.0", { question: 1, field: "criteria", row: 0 }],
    ["questions.b.criteria.false", { question: 2, field: "criteria", row: 1 }],
  ])("finds %s", (path, place) => {
    expect(placeOf(path, form)).toEqual(place);
  });

  it.each(["state", "questions", "questions.c", "questions.ab.type"])("has none for %s", (path) => {
    expect(placeOf(path, form)).toBeUndefined();
  });

  it("do not depend on the order of questions whose ids begin alike", () => {
    const other = [...form].reverse();
    for (const path of ["questions.a.criteria.x.y", "questions.a.criteria.criteria.0", "questions.a.type"]) {
      const [one, two] = [placeOf(path, form), placeOf(path, other)];
      expect(two).toEqual({ ...one, question: form.length - 1 - (one?.question ?? 0) });
    }
  });

  it("is found for every issue of the parser about a question of the form", () => {
    const broken = drafts(
      '{"q": {"type": "noul"}, "c": {"type": "choice", "criteria": {}}, "s": {"type": "score", "criteria": []}}',
    );
    const { issues } = parseQuestions(questionsOf(broken).questions);
    expect(failureOfIssues(issues, broken).placed.map(({ place }) => place.question)).toEqual([0, 1, 2]);
  });
});

describe("the request of the fields", () => {
  const fields = {
    model: "",
    state: { text: "hello", isJson: false },
    questions: form(),
    choiceNeedsInstructions: false,
  };
  function form(): QuestionDraft[] {
    return drafts(
      '{"a": {"type": "noul", "instructions": "b"}, "2": {"type": "choice", "criteria": {"10": null, "9": null}}}',
    );
  }

  it("is the wire's body, keys in the order of the form", () => {
    const { body, failure } = readRequest({ ...fields, model: "core-latest" });
    expect(failure).toBeUndefined();
    expect(stringifyJson(body)).toBe(
      '{"model":"core-latest","state":"hello","questions":{"a":{"type":"noul","instructions":"b"},"2":{"type":"choice","criteria":{"10":null,"9":null}}}}',
    );
  });

  it("reads a JSON state with the order of its keys, and refuses a scalar", () => {
    const read = (text: string) => readRequest({ ...fields, state: { text, isJson: true } });
    expect(stringifyJson(read('{"2": 1, "1": 2}').state)).toBe('{"2":1,"1":2}');
    expect(read("12").failure?.state).toBe("must be a string, an object or an array, not a number");
    expect(read("{").failure?.state).toMatch(/^not JSON/);
  });

  it("holds every issue at once, of form, state and questions", () => {
    const twice = [...form(), ...drafts('{"a": {"type": "noul"}}')];
    const { failure } = readRequest({ ...fields, state: { text: "1", isJson: true }, questions: twice });
    expect(failure?.state).not.toBe("");
    expect(failure?.placed).toContainEqual({
      place: { question: 2, field: "id" },
      message: "another question has this id",
    });
  });

  it("sets a choice without instructions beside its field where the deployment wants them", () => {
    const { failure } = readRequest({ ...fields, choiceNeedsInstructions: true });
    expect(failure?.placed.map(({ place }) => place)).toEqual([{ question: 1, field: "instructions" }]);
  });

  it("tells finished questions from those that are not", () => {
    const questions = parseJson('{"a": {"type": "noul"}, "2": {"type": "noul", "instructions": "x"}, "1": 3}');
    const { count, finished } = finishedOf(questions);
    expect(count).toBe(3);
    expect(stringifyJson(finished)).toBe('{"2":{"type":"noul","instructions":"x"}}');
    expect(finishedOf(null).count).toBe(0);
  });
});

describe("a refused call", () => {
  const form = drafts('{"team": {"type": "noul", "instructions": "x"}}');
  const failure = (code: string, details: Record<string, JsonValue> = {}) =>
    failureOf({ code, message: "said so", details: { code, ...details } }, form);

  it.each([
    ["state_too_long", {}, { state: "said so" }],
    ["unknown_model", {}, { model: "said so" }],
    ["too_many_questions", {}, { questions: ["said so"] }],
    ["processed_tokens_exceeded", {}, { questions: ["said so"] }],
    ["unauthorized", {}, { key: true }],
    [
      "question_too_long",
      { question: "team" },
      { placed: [{ place: { question: 0, field: "question" }, message: "said so" }] },
    ],
    ["worker_busy", {}, { message: "Said so. (worker_busy)" }],
    [
      "allowance_exhausted",
      { resets_at: "2026-12-01T00:00:00Z" },
      { message: "Said so. The allowance starts anew 2026-12-01 00:00 UTC. (allowance_exhausted)" },
    ],
  ])("with %s is shown where it belongs", (code, details, shown) => {
    expect(failure(code, details)).toMatchObject(shown);
  });

  it("with issues is sorted by their paths", () => {
    const issues = [
      { path: "state", message: "a" },
      { path: "questions.team.instructions", message: "b" },
      { path: "questions", message: "c" },
    ];
    expect(failure("invalid_request", { issues })).toMatchObject({
      state: "a",
      placed: [{ place: { question: 0, field: "instructions" }, message: "b" }],
      questions: ["questions: c"],
    });
  });
});
