import { describe, expect, it } from "vitest";
import { createLineReader } from "../../../src/batch/read/read-lines.js";
import { cuts, messageOf, rowsOf, shown } from "./rows-of.js";

const ndjson = (...chunks: string[]) => rowsOf(createLineReader({ file: "x.ndjson", format: "ndjson" }), ...chunks);
const lines = (...chunks: string[]) => rowsOf(createLineReader({ file: "x.txt", format: "text" }), ...chunks);

describe("createLineReader of NDJSON", () => {
  it.each([
    ["LF", '{"a":1}\n{"a":2}\n'],
    ["CRLF", '{"a":1}\r\n{"a":2}\r\n'],
    ["no last line end", '{"a":1}\n{"a":2}'],
    ["spaces around", ' {"a":1}\t\n  {"a":2} \r\n'],
  ])("reads lines with %s, wherever the text is cut", (_, text) => {
    for (const chunks of [[text], ...cuts(text)]) {
      const rows = ndjson(...chunks);
      expect(rows.map((row) => shown(row.content))).toEqual([{ a: 1 }, { a: 2 }]);
      expect(rows.map(({ content }) => (content.type === "json" ? content.raw : ""))).toEqual(['{"a":1}', '{"a":2}']);
    }
  });

  it("reads any JSON value as a row", () => {
    expect(ndjson('"x"\n[1]\nnull\n7\ntrue\n').map((row) => shown(row.content))).toEqual(["x", [1], null, 7, true]);
  });

  it("skips blank lines, but counts them", () => {
    expect(ndjson('\n{"a":1}\n\r\n  \n{"a":2}\n').map((row) => row.line)).toEqual([2, 5]);
  });

  it("never ends a line at U+2028, U+2029 or U+0085", () => {
    expect(ndjson('"a\u2028b\u2029c\u0085d"\n').map((row) => shown(row.content))).toEqual(["a\u2028b\u2029c\u0085d"]);
  });

  it("makes a line that is no JSON malformed, says where it breaks, and reads on", () => {
    const rows = ndjson('{"a":1}\n  {"secret" 1}\n{"a":2}\n');
    expect(rows.map((row) => shown(row.content))).toEqual([{ a: 1 }, { raw: '{"secret" 1}', cells: [] }, { a: 2 }]);
    expect(messageOf(rows[1])).toBe("line 2 of x.ndjson is not JSON at character 13: expected a colon");
  });

  it("says so where the file looks like one JSON value over many lines", () => {
    const [first, second] = ndjson('[\n {"a":\n1}]\n');
    expect(messageOf(first)).toMatch(/; if the file is one JSON value, pass --from json$/);
    expect(messageOf(second)).toMatch(/not the end$/);
  });

  it("keeps the order of integer-like keys", () => {
    const [row] = ndjson('{"b":1,"2":2,"1":3}\n');
    expect(row?.content.type === "json" && [...(row.content.value as Map<string, number>).keys()]).toEqual([
      "b",
      "2",
      "1",
    ]);
  });

  it("reads on over the byte order mark of a file that was joined on", () => {
    expect(ndjson('{"a":1}\n\ufeff{"a":2}\n').map((row) => shown(row.content))).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it("makes a line that is not UTF-8 malformed", () => {
    expect(messageOf(ndjson('"caf\udce9"\n')[0])).toContain("line 1 of x.ndjson holds bytes that are not valid UTF-8");
  });

  it("reads a line of eight million characters in linear time", () => {
    const text = `"${"x".repeat(8_000_000)}"\n7\n`;
    const rows = ndjson(...(text.match(/[\s\S]{1,65536}/g) ?? []));
    expect(rows.map((row) => row.line)).toEqual([1, 2]);
  });
});

describe("createLineReader of text", () => {
  it("hands on lines as they are, without their line ends", () => {
    const text = "  one \r\n\n\ttwo\u2028three\r\r\nfour";
    for (const chunks of [[text], ...cuts(text)])
      expect(lines(...chunks).map((row) => [row.line, shown(row.content)])).toEqual([
        [1, "  one "],
        [3, "\ttwo\u2028three\r"],
        [4, "four"],
      ]);
  });
});
