import { describe, expect, it } from "vitest";
import { createJsonArrayReader } from "../../../src/batch/read/read-json-array.js";
import { cuts, messageOf, rowsOf, shown } from "./rows-of.js";

const read = (...chunks: string[]) => rowsOf(createJsonArrayReader({ file: "x.json" }), ...chunks);
const valuesOf = (text: string) => read(text).map((row) => shown(row.content));

describe("createJsonArrayReader", () => {
  it.each([
    ["no element", "[]", []],
    ["spaces only", " [ \n ] \n", []],
    ["scalars and strings", '[1, "a,]", null,true]', [1, "a,]", null, true]],
    ["objects", '[{"a":1},{"a":[1,{"b":"]}"}]}]', [{ a: 1 }, { a: [1, { b: "]}" }] }]],
    ["escapes", '["\\"", "\\\\", "x\\\\\\"]"]', ['"', "\\", 'x\\"]']],
    ["arrays in the array", "[[1,2],[],[[3]]]", [[1, 2], [], [[3]]]],
    ["one object", ' {"a": [1, 2]}\r\n', [{ a: [1, 2] }]],
  ])("reads %s, wherever the text is cut", (_, text, values) => {
    for (const chunks of [[text], ...cuts(text)])
      expect(read(...chunks).map((row) => shown(row.content))).toEqual(values);
  });

  it("tells each element's exact text and the line on which it begins", () => {
    const text = '[\n  {"a": 1.0},\r\n\n  {\n    "b" : 2\n  }, 3\n]\n';
    for (const chunks of [[text], ...cuts(text)]) {
      const rows = read(...chunks);
      expect(rows.map((row) => row.line)).toEqual([2, 4, 6]);
      expect(rows.map(({ content }) => (content.type === "json" ? content.raw : ""))).toEqual([
        '{"a": 1.0}',
        '{\n    "b" : 2\n  }',
        "3",
      ]);
    }
  });

  it.each([
    [
      "a bad value",
      '[{"a":1},\n{"a":nope},\n{"a":3}]',
      "line 2 of x.json is not JSON at character 6: expected a value",
    ],
    ["an empty place", '[{"a":1},\n,\n{"a":3}]', "expected a value"],
    [
      "a string that never closes",
      '[{"a":1},\n{"a":"secret},\n{"a":3}]',
      "line 2 of x.json is not JSON at character 14",
    ],
    ["a brace that never closes", '[{"a":1},\n{"a":[2},\n{"a":3}]', "expected a comma or ]"],
    ["a brace that never opens", '[{"a":1},\n{"a":2}},\n{"a":3}]', "expected the end of the value"],
    ["an object left open", '[{"a":1},\n{"a":{"b":2},\n{"a":3}]', "expected"],
    [
      "a missing colon in a pretty array",
      '[\n {"a":1},\n {\n  "x" [\n   {"a":2}]\n },\n {"a":3}\n]',
      "expected a colon",
    ],
  ])("makes %s a malformed row and reads the next ones", (_, text, message) => {
    for (const chunks of [[text], ...cuts(text)]) {
      const rows = read(...chunks);
      expect(rows.map((row) => row.content.type)).toEqual(["json", "malformed", "json"]);
      expect(shown(rows[2]?.content ?? { type: "text", text: "" })).toEqual({ a: 3 });
      expect(messageOf(rows[1])).toContain(message);
      expect(messageOf(rows[1])).not.toContain("secret");
    }
  });

  it("makes a single object that is no JSON one malformed row", () => {
    expect(messageOf(read('{"a": 1,\n "b" 2}')[0])).toBe(
      "line 2 of x.json is not JSON at character 6: expected a colon",
    );
  });

  it.each([
    ["nothing", " \n", "x.json is empty"],
    ["neither array nor object", "7", "begins neither with [ nor with {"],
    [
      "text after the array",
      "[1]\n[2]\n",
      "goes on after its JSON value, on line 2; if it holds a value a line, pass --from ndjson",
    ],
    ["objects a line", '{"a":1}\n{"a":2}\n', "pass --from ndjson"],
    ["a missing bracket", '[{"a":1},\n{"a":2}', "ends inside its JSON value (what is not closed begins on line 2)"],
    ["an array cut at a comma", '[{"a":1},', "ends inside its JSON value"],
    ["an object cut off", '{"a":', "ends inside its JSON value"],
  ])("refuses %s", (_, text, message) => {
    expect(() => valuesOf(text)).toThrow(message);
  });

  it("hands on the whole elements of a file that was cut off", () => {
    const reader = createJsonArrayReader({ file: "x.json" });
    expect([...reader.push('[{"a":1},{"a":2},{"a"')]).toHaveLength(2);
    expect(() => [...reader.end()]).toThrow("it may have been cut off");
  });

  it("holds no more than what is not yet an element", () => {
    const reader = createJsonArrayReader({ file: "x.json" });
    let rows = [...reader.push("[0")].length;
    for (let chunk = 0; chunk < 50; chunk++) rows += [...reader.push(',{"text":"xxxxxxxxxx"}'.repeat(1000))].length;
    expect(rows).toBe(50_000);
  });
});
