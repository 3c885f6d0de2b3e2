import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReadOptions, readRows } from "../../../src/batch/read/read-rows.js";
import type { Row } from "../../../src/batch/read/row.js";
import { QaError } from "../../../src/errors.js";
import { shown } from "./rows-of.js";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "qa-rows-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, bytes: Uint8Array | string): string {
  const path = join(directory, name);
  writeFileSync(path, bytes);
  return path;
}

/** The rows up to the end, or up to the error that ended them. */
async function read(inputs: string[], options?: ReadOptions): Promise<{ rows: Row[]; error: QaError | undefined }> {
  const rows: Row[] = [];
  try {
    for await (const row of readRows(inputs, options)) rows.push(row);
  } catch (error) {
    if (!(error instanceof QaError)) throw error;
    return { rows, error };
  }
  return { rows, error: undefined };
}

const stdin = (...chunks: (string | Uint8Array)[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
const contents = (rows: readonly Row[]) => rows.map((row) => shown(row.content));

describe("readRows", () => {
  it("reads files of every format in order, numbering rows over all and lines in each", async () => {
    const inputs = [
      file("a.csv", "a;b\n1;2\n"),
      file("b.tsv", "a\tb\n3\t4\n"),
      file("c.jsonl", '{"a":5}\n\n{"a":6}\n'),
      file("d.json", '[{"a":7}]'),
      file("e.txt.gz", gzipSync("eight\n")),
    ];
    const { rows } = await read([...inputs, "-"], { stdin: stdin('\n{"a":9}') });
    expect(contents(rows)).toEqual([["1", "2"], ["3", "4"], { a: 5 }, { a: 6 }, { a: 7 }, "eight", { a: 9 }]);
    expect(rows.map(({ place }) => place.index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(rows.map(({ place }) => place.line)).toEqual([2, 2, 1, 3, 1, 1, 2]);
    expect(rows.map(({ format }) => format)).toEqual(["csv", "tsv", "ndjson", "ndjson", "json", "text", "ndjson"]);
    expect(rows.at(-1)?.place.file).toBe("-");
  });

  it.each([
    ["plain", (text: string) => Buffer.from(text)],
    ["with a byte order mark", (text: string) => Buffer.from(`\ufeff${text}`)],
    ["as UTF-16LE", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
    ["as UTF-16BE", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["as gzip", (text: string) => gzipSync(text)],
    ["as two gzip members", (text: string) => Buffer.concat([gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))])],
    ["as gzip of UTF-16LE", (text: string) => gzipSync(Buffer.from(`\ufeff${text}`, "utf16le"))],
  ])("reads bytes %s, wherever they are cut", async (_, encode) => {
    const bytes = encode('té,b\r\n"x\r\n漢",😀\r\n1,2');
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { rows } = await read(["-"], { stdin: stdin(bytes.subarray(0, cut), bytes.subarray(cut)), from: "csv" });
      expect(contents(rows)).toEqual([
        ["x\r\n漢", "😀"],
        ["1", "2"],
      ]);
    }
  });

  it("knows gzip by its bytes, not by its name", async () => {
    const inputs = [file("packed.csv", gzipSync("a,b\n1,2\n")), file("plain.csv.gz", "a,b\n3,4\n")];
    expect(contents((await read(inputs)).rows)).toEqual([
      ["1", "2"],
      ["3", "4"],
    ]);
  });

  it("makes only the rows that hold invalid bytes malformed", async () => {
    const bytes = Buffer.concat([Buffer.from("a,b\n1,é\n2,caf"), Buffer.from([0xe9]), Buffer.from("\n3,\ufffd\n")]);
    const { rows } = await read([file("latin.csv", bytes)]);
    expect(rows.map(({ content }) => content.type)).toEqual(["record", "malformed", "record"]);
    expect(contents(rows)[2]).toEqual(["3", "\ufffd"]);
  });

  it("hands on the whole rows of a gzip file that was cut off, wherever, then says where it ended", async () => {
    const text = Array.from({ length: 400 }, (_, at) => `{"row":${at},"x":"${(at * 7919) % 10_007}"}\n`).join("");
    const bytes = gzipSync(text);
    let most = 0;
    for (let cut = 2; cut < bytes.length; cut += 13) {
      const { rows, error } = await read([file("cut.ndjson.gz", bytes.subarray(0, cut))]);
      expect(error?.code).toBe("input_damaged");
      expect(error?.message).toContain(
        rows.length === 0 ? "before its first row" : `after row ${rows.length} (line ${rows.length})`,
      );
      expect(contents(rows).every((row, at) => (row as { row: number }).row === at)).toBe(true);
      expect(rows.length).toBeGreaterThanOrEqual(most);
      most = rows.length;
    }
    expect(most).toBeGreaterThan(390);
  });

  it("ends at damaged gzip data with an error, not with silence", async () => {
    const bytes = gzipSync("hello there\n".repeat(100));
    bytes[bytes.length - 6] = (bytes[bytes.length - 6] ?? 0) ^ 0xff; // the checksum
    const { error } = await read([file("bad.txt.gz", bytes)]);
    expect(error).toMatchObject({ code: "input_damaged", message: expect.stringContaining("holds damaged gzip data") });
  });

  it.each([10, 40_000])("reads a gzip file with %i bytes of padding", async (length) => {
    const bytes = Buffer.concat([gzipSync("one\ntwo\n"), Buffer.alloc(length)]);
    expect(contents((await read([file("padded.txt.gz", bytes)])).rows)).toEqual(["one", "two"]);
  });

  it.each([
    [
      "a workbook",
      Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x00]),
      "Excel workbook, not text; unzip it, or save the sheet as CSV",
    ],
    ["Parquet", Buffer.from("PAR1...."), "name it *.parquet or pass --from parquet"],
    ["a gzip of a zip", gzipSync(Buffer.from([0x50, 0x4b, 0x03, 0x04])), "is a zip archive"],
    ["UTF-16 without a byte order mark", Buffer.from("a,b\n1,2\n", "utf16le"), "iconv -f utf-16le -t utf-8"],
  ])("refuses %s and says what to do", async (_, bytes, message) => {
    const { error } = await read([file("foreign.csv", bytes)]);
    expect(error).toMatchObject({ code: "input_unsupported", message: expect.stringContaining(message) });
  });

  it("refuses a file that is gone and a directory", async () => {
    expect((await read([join(directory, "gone.csv")])).error).toMatchObject({ code: "input_missing" });
    expect((await read([directory], { from: "csv" })).error).toMatchObject({ code: "input_unsupported" });
  });

  it("has no rows in an empty file, nor in blank stdin", async () => {
    const inputs = [file("empty.csv", ""), file("empty.ndjson", "\n"), "-"];
    expect(await read(inputs, { stdin: stdin(" \n") })).toEqual({ rows: [], error: undefined });
  });

  it("reads no further ahead than a few chunks while the consumer is slow", async () => {
    const chunk = Buffer.from(`${JSON.stringify({ text: "x".repeat(100) })}\n`.repeat(600));
    let pulled = 0;
    const source = Readable.from(
      (async function* () {
        for (; pulled < 500; pulled++) yield chunk; // 300,000 rows
      })(),
      { highWaterMark: 1 },
    );
    let taken = 0;
    for await (const row of readRows(["-"], { stdin: source, from: "ndjson" })) {
      taken = row.place.index + 1;
      if (taken % 5000 === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(pulled - Math.floor(taken / 600)).toBeLessThanOrEqual(4);
    }
    expect(taken).toBe(300_000);
  });

  it.runIf(process.platform === "linux")("closes the file when the consumer stops early", async () => {
    const input = file("long.csv", `a,b\n${"1,2\n".repeat(500_000)}`);
    const isOpen = () =>
      readdirSync("/proc/self/fd").some((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === input;
        } catch {
          return false; // the descriptor of this very listing
        }
      });
    for await (const row of readRows([input])) {
      expect(isOpen()).toBe(true);
      if (row.place.index === 2) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isOpen()).toBe(false);
  });

  it("stops waiting for stdin when it is aborted", async () => {
    const controller = new AbortController();
    const source = new Readable({ read() {} });
    source.push('{"a":1}\n');
    const reading = read(["-"], { stdin: source, signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    const { rows, error } = await reading;
    expect(contents(rows)).toEqual([{ a: 1 }]);
    expect(error?.code).toBe("aborted");
    expect(source.destroyed).toBe(true);
  });

  it("tells the bytes taken from the disk", async () => {
    const bytes = gzipSync("hello\n".repeat(1000));
    let taken = 0;
    await read([file("told.txt.gz", bytes)], { onBytes: (length) => (taken += length) });
    expect(taken).toBe(bytes.length);
  });
});
