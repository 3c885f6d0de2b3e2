import { describe, expect, it } from "vitest";
import {
  barText,
  countText,
  durationText,
  remainingText,
  shareText,
  shortText,
} from "../../../src/batch/progress/amounts.js";
import { cutText, fitText, packTexts, textWidth } from "../../../src/batch/progress/text-width.js";

describe("textWidth", () => {
  it.each([
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["怒っている", 10],
    ["한국", 4],
    ["ＡＢ", 4],
    ["👍🏽", 2],
    ["👨‍👩‍👧", 2],
    ["❤️", 2],
    ["…━█", 3],
    ["𠀋", 2],
    ["a\u200bb", 2],
  ])("of %s is %i", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });
});

describe("cutText and fitText", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "abcd…"],
    ["abc def", 5, "abc…"],
    ["怒っている", 6, "怒っ…"],
    ["怒っている", 1, "…"],
    ["abc", 0, ""],
    ["a\u001b[31mb\nc", 20, "a [31mb c"],
  ])("cut %j to %i columns as %j", (text, width, cut) => {
    expect(cutText(text, width)).toBe(cut);
  });

  it("fill to exactly the width, wide characters too", () => {
    expect(fitText("ab", 4)).toBe("ab  ");
    expect(fitText("ab", 4, "right")).toBe("  ab");
    expect(fitText("怒っている", 6)).toBe("怒っ… ");
  });

  it("break lines between texts only", () => {
    expect(packTexts(["aa", "bb", "cccccccc"], { width: 6, gap: ", " })).toEqual(["aa, bb", "ccccc…"]);
  });
});

describe("amounts", () => {
  it("fit their place", () => {
    expect([0, 0.44, 9.96, 99.96, 812.4, 999.6, 10_240, 99_960, 1.34e6, 2.5e9].map(shortText)).toEqual([
      "0",
      "0.4",
      "10.0",
      "100",
      "812",
      "1.0k",
      "10.2k",
      "100k",
      "1.3M",
      "2.5G",
    ]);
    expect([0, 0.001, 0.42, 0.999, 1].map(shareText)).toEqual(["  0%", " <1%", " 42%", " 99%", "100%"]);
    expect(countText(1234567)).toBe("1,234,567");
  });

  it("tell time as people do", () => {
    const times = [420, 9949, 42_000, 59_600, 72_000, 7_500_000, 273_600_000];
    expect(times.map(durationText)).toEqual(["0.4 s", "9.9 s", "42 s", "1m 00s", "1m 12s", "2h 05m", "3d 04h"]);
    expect([0, 4200, 59_000, 61_000, 599_000, 601_000, 4_000_000].map(remainingText)).toEqual([
      "0 s",
      "5 s",
      "59 s",
      "1m 05s",
      "10m 00s",
      "11m",
      "1h 07m",
    ]);
  });

  it("draw bars of one width, in which the smallest share shows and none does not", () => {
    expect([0, 0.001, 0.5, 0.53, 1].map((share) => barText(share, 4))).toEqual([
      "    ",
      "▏   ",
      "██  ",
      "██▏ ",
      "████",
    ]);
  });
});
