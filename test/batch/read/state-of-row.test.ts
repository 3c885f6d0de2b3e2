import { describe, expect, it } from "vitest";
import type { Row, RowContent } from "../../../src/batch/read/row.js";
import {
  requestOfRow,
  resolveStateSource,
  type StateOptions,
  stateOfRow,
} from "../../../src/batch/read/state-of-row.js";
import { type JsonValue, parseJson, renderText } from "../../../src/decision/json.js";
import { QaError } from "../../../src/errors.js";

const rowOf = (content: RowContent): Row => ({ place: { file: "x", line: 7, index: 4 }, format: "csv", content });
const record = (columns: string[], cells: string[]) => rowOf({ type: "record", columns, cells });
const json = (value: JsonValue) => rowOf({ type: "json", raw: JSON.stringify(value), value });
const text = (line: string) => rowOf({ type: "text", text: line });

function stateOf(row: Row, options: StateOptions = {}): unknown {
  const state = stateOfRow(row, resolveStateSource(options));
  return state instanceof QaError ? state.code : state;
}

describe("stateOfRow", () => {
  it.each<[claim: string, row: Row, state: unknown]>([
    ["the only column", record(["Beschwerde"], ["x"]), "x"],
    ["a column named as states are", record(["id", "Text"], ["1", "x"]), "x"],
    ["the first name of the order, not of the file", record(["description", "BODY", "id"], ["d", "b", "1"]), "b"],
    ["an empty cell as an empty text", record(["id", "text"], ["1", ""]), ""],
    ["a text line", text("hello"), "hello"],
    ["a JSON string", json("hello"), "hello"],
    ["a JSON array", json(["hello", "you"]), ["hello", "you"]],
    ["a key named as states are", json({ id: 1, message: "x" }), "x"],
    ["an object under such a key", json({ id: 1, state: { a: 1 } }), { a: 1 }],
    ["the only key", json({ anything: "x" }), "x"],
  ])("takes %s by default", (_, row, state) => {
    expect(stateOf(row)).toEqual(state);
  });

  it.each<[claim: string, row: Row]>([
    ["null", json({ text: null })],
    ["a number", json({ text: 5 })],
    ["a row that is a number", json(5)],
    ["a row that is null", json(null)],
    ["a missing key", json({ id: 1, name: "x" })],
    ["an empty object", json({})],
  ])("has no state in %s", (_, row) => {
    expect(stateOf(row)).toBe("state_missing");
  });

  it("takes the column that --state-column names, in JSON also along dots", () => {
    expect(stateOf(record(["a", "b"], ["1", "2"]), { stateColumn: "b" })).toBe("2");
    expect(stateOf(json({ a: { b: ["x", "y"] } }), { stateColumn: "a.b.1" })).toBe("y");
    expect(stateOf(json({ "a.b": "own", a: { b: "deep" } }), { stateColumn: "a.b" })).toBe("own");
    expect(stateOf(json({ a: 1 }), { stateColumn: "toString" })).toBe("state_missing");
  });

  it("fills a template from columns and from paths", () => {
    const template = "Subject: {{subject}}\\n{{ mail.body }}";
    const row = json({ subject: null, mail: { body: { n: [1, "x"] } } });
    expect(stateOf(row, { template })).toBe('Subject: \n{"n": [1, "x"]}');
    expect(stateOf(record(["subject", "mail.body"], ["$& hi", ""]), { template })).toBe("Subject: $& hi\n");
    expect(stateOf(json({ subject: "x" }), { template })).toBe("state_missing");
  });

  it("understands the escapes of a template", () => {
    expect(stateOf(text("x"), { template: "a\\tb\\\\n\\{{{text}}\\q" })).toBe("a\tb\\n{x\\q");
  });

  it("takes the whole row as an object, integer-like columns in their place", () => {
    const state = stateOf(record(["b", "10", "2"], ["x", "y", "z"]), { stateJson: true }) as JsonValue;
    expect(renderText(state)).toBe('{"b": "x", "10": "y", "2": "z"}');
    expect(stateOf(record(["b", "__proto__"], ["x", "y"]), { stateJson: true })).toEqual(
      Object.fromEntries([
        ["b", "x"],
        ["__proto__", "y"],
      ]),
    );
    expect(stateOf(json({ a: 1 }), { stateJson: true })).toEqual({ a: 1 });
    expect(stateOf(text("x"), { stateJson: true })).toEqual({ text: "x" });
    expect(stateOf(json(7), { stateJson: true })).toBe("state_missing");
  });

  it("gives a malformed row its complaint and its place", () => {
    const row = rowOf({ type: "malformed", raw: "x", columns: [], cells: [], message: "line 7 of x is bad" });
    expect(stateOfRow(row, { type: "default" })).toMatchObject({
      code: "malformed_row",
      message: "line 7 of x is bad",
      details: { file: "x", line: 7 },
    });
  });
});

describe("resolveStateSource", () => {
  const usage = (message: string) =>
    expect.objectContaining({ code: "invalid_usage", message: expect.stringContaining(message) });

  it.each<[claim: string, options: StateOptions, sample: Row[], message: string]>([
    ["two flags", { stateColumn: "a", stateJson: true }, [], "pass one of them"],
    ["a template that is never closed", { template: "x {{a" }, [], "{{ at character 3"],
    ["a template with an empty field", { template: "{{ }}" }, [], "{{ at character 1"],
    ["a template without a field", { template: "x" }, [], "names no column"],
    [
      "an unknown column",
      { stateColumn: "c" },
      [record(["a", "b"], ["", ""])],
      "has no column c, which --state-column names; its columns are a, b",
    ],
    [
      "an unknown field",
      { template: "{{a}}{{c}}" },
      [record(["a", "b"], ["", ""])],
      "has no column c, which --template names; its columns are a, b",
    ],
    [
      "columns of which none is the state",
      {},
      [record(["a", "b"], ["", ""])],
      "its columns are a, b; name it with --state-column, build it with --template, or pass --state-json",
    ],
    ["JSON rows of which none has the state", {}, [json({ a: 1, b: 2 }), json({ c: 1, d: 2 })], "its columns are a, b"],
  ])("rejects %s", (_, options, sample, message) => {
    let error: unknown;
    try {
      resolveStateSource(options, sample);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toEqual(usage(message));
  });

  it("lets pass JSON rows of which one has the state, requests, malformed rows, and an empty sample", () => {
    const malformed = rowOf({ type: "malformed", raw: "", columns: [], cells: [], message: "" });
    const request = json({ state: "x", questions: {}, id: 1 });
    const sample = [malformed, request, json({ a: 1, b: 2 }), json({ body: null, b: 2 })];
    expect(resolveStateSource({}, sample)).toEqual({ type: "default" });
    expect(resolveStateSource({ stateColumn: "q" }, [malformed, request])).toEqual({ type: "column", column: "q" });
  });
});

describe("requestOfRow", () => {
  it("finds the parts of a request, also of one whose keys are in a Map", () => {
    expect(requestOfRow(json({ state: "x", questions: { a: {} }, id: 1 }))).toEqual({
      state: "x",
      questions: { a: {} },
    });
    const value = parseJson('{"1":2,"state":null,"questions":[],"model":"m"}');
    expect(requestOfRow(json(value))).toEqual({ state: null, questions: [], model: "m" });
  });

  it.each<[claim: string, row: Row]>([
    ["a record", record(["state", "questions"], ["x", "{}"])],
    ["a row without questions", json({ state: "x" })],
    ["a row with a column called questions", json({ state: "x", questions: 3 })],
    ["a row that is no object", json(["state", "questions"])],
  ])("does not take %s for a request", (_, row) => {
    expect(requestOfRow(row)).toBeUndefined();
  });
});
