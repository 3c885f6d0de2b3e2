import { describe, expect, it } from "vitest";
import { parseBand, uncertainIds } from "../../../src/batch/review/band.js";
import { resolveReview } from "../../../src/batch/review/resolve-review.js";
import type { Answer } from "../../../src/decision/answer.js";
import { choice, noul, score } from "../write/output-rows.js";

describe("parseBand", () => {
  it.each([
    ["0.4..0.6", 0.4, 0.6],
    [".4..0.6", 0.4, 0.6],
    ["0..1", 0, 1],
    [" 0.5..0.5 ", 0.5, 0.5],
    ["0.25...75", 0.25, 0.75],
  ])("takes %s", (text, low, high) => {
    expect(parseBand(text)).toEqual({ low, high });
  });

  it.each([
    ["", "two numbers from 0 to 1"],
    ["0.4", "two numbers from 0 to 1"],
    ["0.4-0.6", "two numbers from 0 to 1"],
    ["0.4..", "two numbers from 0 to 1"],
    ["0.4..0.6..0.8", "two numbers from 0 to 1"],
    ["-0.4..0.6", "two numbers from 0 to 1"],
    ["4e-1..0.6", "two numbers from 0 to 1"],
    ["0,4..0,6", "two numbers from 0 to 1"],
    ["40..60", "go from 0 to 1"],
    ["0.4..1.2", "go from 0 to 1"],
    ["0.6..0.4", "pass 0.4..0.6"],
  ])("refuses %j and says why", (text, why) => {
    expect(() => parseBand(text)).toThrowError(expect.objectContaining({ code: "invalid_usage" }));
    expect(() => parseBand(text)).toThrowError(why);
  });
});

describe("uncertainIds", () => {
  const band = { low: 0.4, high: 0.6 };
  const sure = (answer: Answer, confidence: number) => ({ ...answer, confidence }) as Answer;

  it("goes by P(yes) of a yes/no and by the confidence of the others, both ends included, in the order of the questions", () => {
    const answers = new Map<string, Answer>([
      ["z", noul(0.4)],
      ["sure_no", noul(0.05)],
      ["b", sure(choice([["x", 0.9]]), 0.6)],
      ["sure_choice", sure(choice([["x", 0.5]]), 0.6001)],
      ["a", sure(score([1, 0]), 0.5)],
      ["sure_score", sure(score([1, 0]), 0.3999)],
    ]);
    expect(uncertainIds(answers, band)).toEqual(["z", "b", "a"]);
  });
});

describe("resolveReview", () => {
  it("tells the form of the file by its name", () => {
    expect(resolveReview({ uncertain: "0.4..0.6", review: "a/Review.CSV" }).review).toMatchObject({ format: "csv" });
    expect(resolveReview({ uncertain: "0.4..0.6", review: "r.jsonl" }).review).toMatchObject({ format: "ndjson" });
    expect(resolveReview({ uncertain: "0.4..0.6" })).toEqual({ band: { low: 0.4, high: 0.6 }, review: undefined });
    expect(resolveReview({})).toEqual({ band: undefined, review: undefined });
  });

  it.each([
    [{ review: "r.csv" }, "--uncertain 0.4..0.6"],
    [{ uncertain: "0.4..0.6", review: "r.xlsx" }, ".csv or .ndjson"],
    [{ uncertain: "0.4..0.6", review: "r.csv.gz" }, ".csv or .ndjson"],
    [{ uncertain: "0.4..0.6", review: "-" }, "name of a file"],
  ])("refuses %j", (flags, why) => {
    expect(() => resolveReview(flags)).toThrowError(why);
  });
});
