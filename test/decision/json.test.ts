import { describe, expect, it } from "vitest";
import {
  entriesOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  renderText,
  stringifyJson,
  valueAt,
} from "../../src/decision/json.js";

const same = (text: string): string => stringifyJson(parseJson(text));

describe("parseJson", () => {
  it.each([
    ["at the top", '{"b":1,"10":2,"2":3,"a":4}'],
    ["in an object in a list in an object", '{"z":[{"y":{"9":1,"x":2,"0":3}}]}'],
    ["in a sibling of an object without any", '{"z":{"b":1,"a":2},"y":{"c":1,"7":2}}'],
    ["beside keys that only look like integers", '{"b":1,"01":2,"-1":3,"1.5":4,"1e3":5,"3":6}'],
    ["beyond what an array index may be", '{"b":1,"4294967294":2,"9007199254740991":3,"123456789012345678901":4}'],
    ["where another key starts with a #", '{"#":1,"##2":2,"2":3,"#2":4}'],
    ["where a value looks like a key", '{"b":"\\"1\\":2","c":"1\\":","1":"\\\\"}'],
    ["where a key ends in a backslash", '{"b\\\\":1,"1":2}'],
    ["where a key holds a quote and a colon", '{"b\\":\\"1":1,"1":2}'],
    ["where a key is empty", '{"":1,"1":2}'],
  ])("keeps the place of integer-like keys %s", (_, text) => {
    expect(same(text)).toBe(text);
  });

  it.each([
    ["an integer-like key written with escapes", '{"b":1,"\\u0031\\u0030":2,"2":3}', '{"b":1,"10":2,"2":3}'],
    ["only such keys", '{"b":1,"\\u0032":2}', '{"b":1,"2":2}'],
    ["a # written as an escape", '{"\\u0023x":1,"1":2}', '{"#x":1,"1":2}'],
    ["whitespace before the colon", '{"b" : 1,\r\n\t"10"\n:2 ,"2" :3}', '{"b":1,"10":2,"2":3}'],
  ])("keeps their place and text with %s", (_, text, printed) => {
    expect(same(text)).toBe(printed);
  });

  it("gives a key that comes twice its last value, at its first place", () => {
    expect(same('{"b":0,"2":1,"1":2,"2":3}')).toBe('{"b":0,"2":3,"1":2}');
  });

  it.each(['{"__proto__":{"polluted":1},"a":2}', '{"__proto__":{"polluted":1},"7":2,"a":{"__proto__":3,"1":4}}'])(
    "takes __proto__ for a key like any other in %s",
    (text) => {
      const value = parseJson(text) as JsonObject;
      expect(stringifyJson(value)).toBe(text);
      expect(valueAt(value, "__proto__")).toEqual({ polluted: 1 });
      expect(valueAt(value, "polluted")).toBeUndefined();
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  it("keeps lone surrogates, in keys and values", () => {
    const value = parseJson('{"\\ud800":"\\udc00","1":"\\ud83d"}') as JsonObject;
    expect(entriesOf(value)).toEqual([
      ["\ud800", "\udc00"],
      ["1", "\ud83d"],
    ]);
    expect(stringifyJson(value)).toBe('{"\\ud800":"\\udc00","1":"\\ud83d"}');
  });

  it("reads a string of a million escaped characters beside an integer-like key", () => {
    const text = `{"b":"${"\\n".repeat(1e6)}","1":"${"x".repeat(1e6)}"}`;
    expect(same(text)).toBe(text);
  });

  it.each([
    "",
    "{",
    '{"1":}',
    '{"1":2,}',
    "{'1':2}",
    '{"1":2}}',
    '{"1":"\n"}',
    '{"1":01}',
    "{1:2}",
    '{"1":2 "#":3}',
    "nul",
  ])("throws the very SyntaxError of JSON.parse for %j", (text) => {
    expect(errorOf(() => parseJson(text))).toEqual(errorOf(() => JSON.parse(text)));
  });
});

function errorOf(parse: () => unknown): { name: string; message: string } {
  try {
    parse();
  } catch (error) {
    if (error instanceof SyntaxError) return { name: error.name, message: error.message };
    throw error;
  }
  throw new Error("did not throw");
}

describe("renderText", () => {
  it.each<[string, JsonValue, string]>([
    ["a string as it is", ' "x"\n\ud800', ' "x"\n\ud800'],
    ["an empty string as nothing", "", ""],
    ["an object with its separators", { a: 1, b: [true, null], c: {} }, '{"a": 1, "b": [true, null], "c": {}}'],
    ["an empty list", [], "[]"],
    ["nested lists", [[1, 2], [], ["x"]], '[[1, 2], [], ["x"]]'],
    ["a string inside with its quotes escaped, on one line", ['a"b\n\u2028'], '["a\\"b\\n\u2028"]'],
    ["non-ASCII kept", { größe: "日本 😀" }, '{"größe": "日本 😀"}'],
    ["a lone surrogate inside escaped", ["\ud83d"], '["\\ud83d"]'],
    [
      "a Map in its order",
      new Map<string, JsonValue>([
        ["b", 1],
        ["1", [new Map([["0", 2]])]],
      ]),
      '{"b": 1, "1": [{"0": 2}]}',
    ],
    ["a field without a value left out", { a: undefined, b: 1 } as unknown as JsonValue, '{"b": 1}'],
  ])("renders %s", (_, value, text) => {
    expect(renderText(value)).toBe(text);
  });

  it.each([
    ["1.0", "1"],
    ["-0", "0"],
    ["1e3", "1000"],
    ["1e21", "1e+21"],
    ["0.1", "0.1"],
    ["1e-7", "1e-7"],
    ["123456789012345680000", "123456789012345680000"],
    ["0.30000000000000004", "0.30000000000000004"],
  ])("prints the number %s as JavaScript does", (written, printed) => {
    expect(renderText(parseJson(`[${written}]`))).toBe(`[${printed}]`);
  });
});

describe("the two forms of a JSON object", () => {
  const plain = { a: 1, b: null };
  const map = new Map<string, JsonValue>(Object.entries(plain));

  it.each<[string, JsonObject]>([
    ["plain", plain],
    ["Map", map],
  ])("are read alike: %s", (_, object) => {
    expect(isJsonObject(object)).toBe(true);
    expect(entriesOf(object)).toEqual([
      ["a", 1],
      ["b", null],
    ]);
    expect([valueAt(object, "a"), valueAt(object, "b"), valueAt(object, "c")]).toEqual([1, null, undefined]);
    expect([valueAt(object, "size"), valueAt(object, "toString"), valueAt(object, "__proto__")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([[[]], [null], ["x"], [1], [undefined]])("are not %j", (value) => {
    expect(isJsonObject(value)).toBe(false);
  });
});
