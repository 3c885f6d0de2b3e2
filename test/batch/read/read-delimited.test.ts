import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { columnNames, createDelimitedReader, MAX_RECORD_LENGTH } from "../../../src/batch/read/read-delimited.js";
import { cuts, messageOf, rowsOf, shown } from "./rows-of.js";

const reader = (delimiter?: string) => createDelimitedReader({ file: "x.csv", delimiter });
const read = (...chunks: string[]) => rowsOf(reader(), ...chunks);
const cellsOf = (text: string) => read(text).map((row) => shown(row.content));

const SPECTRUM: [claim: string, text: string, cells: string[][]][] = [
  ["simple", "a,b,c\n1,2,3", [["1", "2", "3"]]],
  ["simple with CRLF", "a,b,c\r\n1,2,3\r\n", [["1", "2", "3"]]],
  ["a comma in quotes", 'a,b\n"x, y",2\n', [["x, y", "2"]]],
  [
    "empty cells",
    'a,b,c\n1,"",""\n2,,\n,,3\n',
    [
      ["1", "", ""],
      ["2", "", ""],
      ["", "", "3"],
    ],
  ],
  [
    "empty cells with CRLF",
    'a,b,c\r\n1,"",""\r\n2,,\r\n',
    [
      ["1", "", ""],
      ["2", "", ""],
    ],
  ],
  [
    "escaped quotes",
    'a,b\n1,"ha ""ha"" ha"\n3,""""\n',
    [
      ["1", 'ha "ha" ha'],
      ["3", '"'],
    ],
  ],
  [
    "JSON in a cell",
    'k,v\n1,"{""type"": ""Point"", ""at"": [1.5, 2]}"\n',
    [["1", '{"type": "Point", "at": [1.5, 2]}']],
  ],
  [
    "newlines",
    'a,b,c\n"Once upon \na time",5,6\n7,8,9\n',
    [
      ["Once upon \na time", "5", "6"],
      ["7", "8", "9"],
    ],
  ],
  [
    "newlines with CRLF",
    'a,b,c\r\n"Once\r\nupon",5,6\r\n7,8,9\r\n',
    [
      ["Once\r\nupon", "5", "6"],
      ["7", "8", "9"],
    ],
  ],
  [
    "quotes and newlines",
    'a,b\n1,"ha \n""ha"" \nha"\n3,4\n',
    [
      ["1", 'ha \n"ha" \nha'],
      ["3", "4"],
    ],
  ],
  [
    "UTF-8",
    "a,b\n1,ʤ\n漢字,😀\n",
    [
      ["1", "ʤ"],
      ["漢字", "😀"],
    ],
  ],
  ["semicolons", "a;b\n1,5;2\n", [["1,5", "2"]]],
  ["tabs", "a\tb\n1, x\t2\n", [["1, x", "2"]]],
  ["pipes", "a|b\n1|2\n", [["1", "2"]]],
  ["a delimiter inside a quoted column name", '"a;b;c",d\n1,2\n', [["1", "2"]]],
  ["spaces kept", "a,b\n 1 , 2 \n", [[" 1 ", " 2 "]]],
  ["a quote inside a bare cell", 'a,b\n5" pipe,a "b" c\n', [['5" pipe', 'a "b" c']]],
  [
    "mixed line ends",
    "a,b\r\n1,2\n3,4\r\n",
    [
      ["1", "2"],
      ["3", "4"],
    ],
  ],
  ["U+2028 in a cell", "a,b\n1,x\u2028y\n", [["1", "x\u2028y"]]],
];

describe("createDelimitedReader", () => {
  it.each(SPECTRUM)("reads %s, wherever the text is cut", (_, text, cells) => {
    expect(cellsOf(text)).toEqual(cells);
    const whole = read(text);
    for (const chunks of cuts(text)) expect(read(...chunks)).toEqual(whole);
  });

  it("takes a comma for the delimiter of a single column, so that commas in it need quotes", () => {
    expect(cellsOf('text\n"hello, you"\nbye\n')).toEqual([["hello, you"], ["bye"]]);
    expect(messageOf(read("text\nhello, you\n")[0])).toContain("line 2 of x.csv has 2 cells, the header 1");
  });

  it("reads as csv-parse does whatever is well-formed", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const pieces = ["a", "é", " ", ",", '""', "\n", "\r\n", ";", "漢", "😀"];
    const quoted = () => `"${Array.from({ length: random(5) }, () => pieces[random(pieces.length)]).join("")}"`;
    const bare = () => ["", "x", "7.5", " y ", "naïve"][random(5)];
    for (let round = 0; round < 300; round++) {
      const rows = Array.from(
        { length: 1 + random(6) },
        () => `${quoted()},${random(2) ? quoted() : bare()},${bare()}`,
      );
      const text = `a,b,c${["\n", "\r\n"][random(2)]}${rows.join(["\n", "\r\n"][random(2)])}`;
      const expected = parse(text, { record_delimiter: ["\r\n", "\n"], skip_empty_lines: true }).slice(1);
      const cut = random(text.length);
      expect(rowsOf(reader(","), text.slice(0, cut), text.slice(cut)).map((row) => shown(row.content))).toEqual(
        expected,
      );
    }
  });

  it("reads broken text the same wherever it is cut, and never throws away a line", () => {
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const pieces = ["a", ",", '"', "\n", "\r\n", '""', ',"', '",', "bb"];
    for (let round = 0; round < 500; round++) {
      const text = `a,b\n${Array.from({ length: 30 }, () => pieces[random(pieces.length)]).join("")}`;
      const cut = random(text.length);
      const rows = read(text);
      expect(read(text.slice(0, cut), text.slice(cut))).toEqual(rows);
      const held = rows.map(({ content }) => (content.type === "record" ? content.cells : shown(content)));
      for (const letter of ["a", "b"]) {
        const count = (value: unknown) => JSON.stringify(value).split(letter).length;
        const raws = held.map((row) => (Array.isArray(row) ? row : (row as { raw: string }).raw));
        expect(count(raws)).toBe(count(text.slice(4)));
      }
    }
  });

  it("tells the line on which each row begins, also after quoted line ends and empty lines", () => {
    const text = '\r\na,b\r\n"x\r\ny",1\r\n\r\n"p\nq\nr",2\r\n3,4\n';
    expect(read(text).map((row) => row.line)).toEqual([3, 6, 9]);
  });

  it("skips empty lines, but reads a quoted empty cell as a row", () => {
    expect(cellsOf('text\n\n""\n\r\nx\n')).toEqual([[""], ["x"]]);
  });

  it("has no rows where the file is empty or only a header", () => {
    expect(read("")).toEqual([]);
    expect(read("a,b\n")).toEqual([]);
    expect(read("a,b")).toEqual([]);
  });

  it("keeps a row of too few or too many cells in its place, with the cells it has", () => {
    const rows = read("a,b,c\n1,2\n3,4,5\n6,7,8,9\r\n");
    expect(rows.map((row) => shown(row.content))).toEqual([
      { raw: "1,2", cells: ["1", "2"] },
      ["3", "4", "5"],
      { raw: "6,7,8,9", cells: ["6", "7", "8", "9"] },
    ]);
    expect(messageOf(rows[0])).toBe(
      "line 2 of x.csv has 2 cells, the header 3; add or quote cells so that they are as many",
    );
  });

  it.each([
    ["garbage after a closing quote", 'a,b\n"x"y,1\n2,3\n', ['"x"y,1'], [["2", "3"]]],
    ["garbage on the last line of a long cell", 'a,b\n"x\ny"z,1\n2,3\n', ['"x\ny"z,1'], [["2", "3"]]],
    ["a stray quote in a long cell", 'a,b\n"p "q" r\nmiddle\ns",1\n2,3\n', ['"p "q" r\nmiddle\ns",1'], [["2", "3"]]],
    [
      "a quote closed by the next quoted row",
      'a,b\n"x,1\n2,3\n"4",5\n',
      ['"x,1'],
      [
        ["2", "3"],
        ["4", "5"],
      ],
    ],
    [
      "a quote that swallowed a quoted row of many lines",
      'a,b\n"x,1\n"p\nq",2\n4,5\n',
      ['"x,1'],
      [
        ["p\nq", "2"],
        ["4", "5"],
      ],
    ],
    [
      "a quote never closed",
      'a,b\n0,0\n1,"x\n2,3\n4,5\n',
      ['1,"x'],
      [
        ["0", "0"],
        ["2", "3"],
        ["4", "5"],
      ],
    ],
    ["a quote never closed on the last line", 'a,b\n2,3\n1,"x', ['1,"x'], [["2", "3"]]],
    ["a last cell of many lines never closed", 'a,b\n2,3\n1,"x\ny\nz\n', ['1,"x\ny\nz'], [["2", "3"]]],
  ])("reads on after %s", (_, text, raws, cells) => {
    for (const chunks of cuts(text)) {
      const rows = read(...chunks);
      const bad = rows.flatMap(({ content }) => (content.type === "malformed" ? [content.raw] : []));
      expect(bad.slice(0, raws.length)).toEqual(raws);
      expect(rows.flatMap(({ content }) => (content.type === "record" ? [content.cells] : []))).toEqual(cells);
    }
  });

  it("names the line where a broken quote opened, and no text of the row", () => {
    const [row] = read('a,b\n"ok\nok","secret\nsecret\n');
    expect(row?.line).toBe(2);
    expect(messageOf(row)).toBe(
      'line 2 of x.csv: the quote opened on line 3 in cell 2 is never closed; close it, and write quotes inside a quoted cell twice: ""; lines 2 to 4 count as this row',
    );
    expect(messageOf(row)).not.toContain("secret");
  });

  it.each([
    ["a quote that never closes", '"x,0\n', 3],
    ["a broken cell that swallowed such a quote", '"x,0\n"y,0\n', 3],
  ])("finds %s without holding the rest of the file", (_, broken, next) => {
    const line = `1,${"2".repeat(1000)}`;
    const file = reader();
    let found = [...file.push(`a,b\n${broken}`)];
    let length = 0;
    for (; found.length === 0 && length < 3 * MAX_RECORD_LENGTH; length += 65_600)
      found = [...file.push(`${line}\n`.repeat(65))];
    expect(length).toBeLessThan(2 * MAX_RECORD_LENGTH + 131_072);
    expect(messageOf(found[0])).toContain("opened on line 2 in cell 1");
    expect(found.find(({ content }) => content.type === "record")?.line).toBeGreaterThanOrEqual(next);
  });

  it("reads a quoted cell of two million characters", () => {
    const cell = 'line, "of" a book\n'.repeat(112_000);
    const text = `a,b\n1,"${cell.replaceAll('"', '""')}"\n3,4\n`;
    const chunks = text.match(/[\s\S]{1,65536}/g) ?? [];
    const rows = read(...chunks);
    expect(rows.map((row) => row.line)).toEqual([2, 112_003]);
    expect(shown(rows[0]?.content ?? { type: "text", text: "" })).toEqual(["1", cell]);
  });

  it("makes a row that is not UTF-8 malformed, and no other", () => {
    const rows = read("a,b\n1,caf\udce9\n2,x\n");
    expect(rows.map((row) => shown(row.content))).toEqual([
      { raw: "1,caf\ufffd", cells: ["1", "caf\ufffd"] },
      ["2", "x"],
    ]);
    expect(messageOf(rows[0])).toContain("line 2 of x.csv holds bytes that are not valid UTF-8");
  });

  it.each([
    ["a header whose quote never closes", 'a,"b\n1,2\n', "the header of x.csv (line 1) cannot be read"],
    ["a header that is not UTF-8", "a,caf\udce9\n1,2\n", "not valid UTF-8"],
    ["line ends of a carriage return alone", "a,b\r1,2\r", "carriage return alone"],
  ])("refuses %s", (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe("columnNames", () => {
  it.each([
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [
      ["a", "", "a"],
      ["a", "column_2", "a_2"],
    ],
    [
      ["a", "a", "a_2", "a"],
      ["a", "a_3", "a_2", "a_4"],
    ],
    [
      ["", ""],
      ["column_1", "column_2"],
    ],
  ])("names %j %j", (cells, names) => {
    expect(columnNames(cells)).toEqual(names);
  });
});
