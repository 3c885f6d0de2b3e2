import { describe, expect, it } from "vitest";
import {
  compacted,
  onOneLine,
  rawAtPath,
  spansOf,
  withEntries,
  withoutKeys,
} from "../../../src/batch/write/json-spans.js";

const LONG = `{ "a" : ${JSON.stringify('x y\\"\n'.repeat(1_000_000))} , "b": [ 1 ] }`;

describe("spansOf", () => {
  it.each([
    ['{"a":1,"b":[1,{"c":2}],"d":"}"}', ["1", '[1,{"c":2}]', '"}"']],
    ['  [ 1.0 , "a,\\"]" , [] , {} ] ', ["1.0", '"a,\\"]"', "[]", "{}"]],
    ["{}", []],
    ['"{}"', []],
    ["12", []],
  ])("finds the values of %s", (text, values) => {
    expect(spansOf(text).map(({ valueStart, end }) => text.slice(valueStart, end))).toEqual(values);
  });

  it("knows keys by what they mean", () => {
    expect(spansOf('{"\\u0061\\"":1,"":2}').map(({ key }) => key)).toEqual(['a"', ""]);
  });

  it("takes a string of millions of characters", () => {
    expect(spansOf(LONG).map(({ key }) => key)).toEqual(["a", "b"]);
    expect(compacted(LONG)).toBe(JSON.stringify(JSON.parse(LONG)));
  });
});

describe("the text of an object", () => {
  it("loses entries without losing the spelling of the others", () => {
    const isDropped = (key: string) => key === "x";
    expect(withoutKeys('{"x":1, "a" : 1.0 ,"x":2}', isDropped)).toBe('{"a" : 1.0}');
    expect(withoutKeys('{ "x":1 }', isDropped)).toBe("{  }");
    expect(withoutKeys('{"a":1,"x":{"a":[1,2]}, "b":2 }', isDropped)).toBe('{"a":1, "b":2 }');
  });

  it("takes entries behind its own", () => {
    expect(withEntries('{ "a": "}" }', ['"b":1', '"c":2'])).toBe('{ "a": "}","b":1,"c":2 }');
    expect(withEntries("{}", ['"b":1'])).toBe('{"b":1}');
  });

  it("goes on one line without touching its strings", () => {
    expect(onOneLine('{\n\t"a  b": [1,\r\n  2], "c":  3\n}')).toBe('{ "a  b": [1, 2], "c":  3 }');
    expect(compacted(' { "a  b\\"": [ 1.0 ] } ')).toBe('{"a  b\\"":[1.0]}');
  });
});

describe("rawAtPath", () => {
  it.each([
    ["a", '{"a": 1.0}', "1.0"],
    ["a.b", '{"a":{"b": [1] }}', "[1]"],
    ["a.b", '{"a.b":1,"a":{"b":2}}', "1"],
    ["a", '{"a":1,"a":2}', "2"],
    ["1.x", '[0,{"x":"y"}]', '"y"'],
    ["a.b", '{"a":1}', undefined],
    ["toString", "{}", undefined],
  ])("finds %s in %s", (path, text, value) => {
    expect(rawAtPath(text, path)).toBe(value);
  });
});
