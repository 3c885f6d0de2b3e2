import { describe, expect, it } from "vitest";
import { findJsonFault } from "../../../src/batch/read/json-fault.js";

describe("findJsonFault", () => {
  it.each([
    ["", 0, "a value, not the end"],
    ["nope", 0, "a value"],
    ["NaN", 0, "a value"],
    ["01", 0, "a value"],
    ["1.", 0, "a value"],
    ['{"a":1', 6, "a comma or }, not the end"],
    ['{"a" 1}', 5, "a colon"],
    ['{"a":1,}', 7, "a key in double quotes"],
    ["{a:1}", 1, "a key in double quotes or }"],
    ["[1 2]", 3, "a comma or ]"],
    ["[1,]", 3, "a value"],
    ["[1}", 2, "a comma or ]"],
    ['"a', 2, "the closing quote of a string, not the end"],
    ['"a\nb"', 2, "the closing quote of a string (a control character is written as an escape)"],
    ['"\\x"', 1, "an escape that JSON knows"],
    ["1 2", 2, "the end of the value"],
    ["{} {}", 3, "the end of the value"],
  ])("finds that %j breaks at %i", (text, position, expected) => {
    expect(findJsonFault(text)).toEqual({ position, expected });
  });

  it("finds a fault exactly where JSON.parse does", () => {
    const pieces = ["{", "}", "[", "]", ",", ":", '"a"', "1", "-2.5e3", "true", "null", " ", '"\\u00e9"', '"'];
    let seed = 3;
    for (let round = 0; round < 5000; round++) {
      const text = Array.from({ length: 1 + (round % 9) }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return pieces[Math.floor((seed / 2_147_483_648) * pieces.length)];
      }).join("");
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect([text, findJsonFault(text) === undefined]).toEqual([text, isJson]);
    }
  });
});
