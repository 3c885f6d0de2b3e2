import { describe, expect, it } from "vitest";
import { parseDelimiter } from "../../../src/batch/read/delimiter.js";
import { formatOfInput, parseFrom, sniffFormat } from "../../../src/batch/read/format.js";
import { QaError } from "../../../src/errors.js";

describe("formatOfInput", () => {
  it.each([
    ["a.csv", "csv"],
    ["dir.x/A.TSV", "tsv"],
    ["a.ndjson", "ndjson"],
    ["a.jsonl.gz", "ndjson"],
    ["a.json", "json"],
    ["a.b.txt", "text"],
    ["a.log.GZ", "text"],
    ["a.csv.zst", "csv"],
    ["a.parquet", "parquet"],
  ])("knows %s as %s", (file, format) => {
    expect(formatOfInput(file)).toBe(format);
  });

  it("lets --from win over the name", () => {
    expect(formatOfInput("a.csv", "text")).toBe("text");
    expect(formatOfInput("-", "tsv")).toBe("tsv");
  });

  it("leaves stdin without --from to its text", () => {
    expect(formatOfInput("-")).toBeUndefined();
  });

  it.each(["a", "a.gz", "a.zst", "a.orc", ".csv/a", "constructor", "a.constructor"])(
    "asks for --from where the name is %s",
    (file) => {
      expect(() => formatOfInput(file)).toThrow(/pass --from csv, --from tsv, .* or --from parquet$/);
    },
  );
});

describe("sniffFormat", () => {
  it.each([
    ['\n {"a":1}', "ndjson"],
    ["\ufeff[1]", "json"],
    [" \n", undefined],
  ])("reads %j as %s", (text, format) => {
    expect(sniffFormat(text)).toBe(format);
  });

  it("asks for --from where the text could be anything", () => {
    expect(() => sniffFormat("subject,body\n")).toThrow("stdin does not tell its format");
  });
});

describe("parseFrom", () => {
  it("takes the formats by their names", () => {
    expect(["csv", "TSV", "jsonl", "ndjson", "json", "text", "txt"].map(parseFrom)).toEqual([
      "csv",
      "tsv",
      "ndjson",
      "ndjson",
      "json",
      "text",
      "text",
    ]);
  });

  it.each(["xml", "toString"])("rejects %s with the list", (value) => {
    expect(() => parseFrom(value)).toThrow(QaError);
  });
});

describe("parseDelimiter", () => {
  it("takes one character, and tab by name", () => {
    expect([";", "tab", "\\t", "\t", "|", " "].map(parseDelimiter)).toEqual([";", "\t", "\t", "\t", "|", " "]);
  });

  it.each(["", "ab", '"', "\n", "😀"])("rejects %j", (value) => {
    expect(() => parseDelimiter(value)).toThrow("--delimiter takes one character");
  });
});
