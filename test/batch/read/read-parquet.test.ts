import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type ReadOptions, readRows } from "../../../src/batch/read/read-rows.js";
import type { Row } from "../../../src/batch/read/row.js";
import { QaError } from "../../../src/errors.js";

const FOLDER = new URL("./parquet/", import.meta.url).pathname;
/** Written by DuckDB 2.0: a row group of three rows, zstd. */
const DUCKDB = `${FOLDER}duckdb-zstd.parquet`;
/** Written by PyArrow 26: five rows in groups of two, snappy. */
const ARROW = `${FOLDER}arrow-groups.parquet`;

const folder = mkdtempSync(join(tmpdir(), "qa-parquet-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(file: string, options?: ReadOptions): Promise<{ rows: Row[]; error: QaError | undefined }> {
  const rows: Row[] = [];
  try {
    for await (const row of readRows([file], options)) rows.push(row);
  } catch (error) {
    if (!(error instanceof QaError)) throw error;
    return { rows, error };
  }
  return { rows, error: undefined };
}

const rawOf = ({ content }: Row | { content: Row["content"] }) =>
  content.type === "json" ? content.raw : content.type;

describe("a Parquet file", () => {
  it("is rows of JSON: whole numbers with all their digits, decimals as written, dates, lists, structs, maps, JSON", async () => {
    const { rows } = await read(DUCKDB);
    expect(rows.map(rawOf)[1]).toBe(
      `{"id":1,"text":"text number 1 für äöü","big":9007199254740993,"price":1.01,"day":"2024-02-01",${[
        '"at":"2024-01-31T12:00:00.123456Z","list":[1,null,2],"struct":{"a":1,"b":{"c":"x","d":[1.1]}},"map":{"k":0.1}',
        '"maybe":"odd","nan":null,"flag":false,"json":{"10":1,"2":[]}}',
      ].join(",")}`,
    );
    expect(rows[0]?.content).toMatchObject({ type: "json", value: { id: 0, maybe: null, flag: true } });
  });

  it("keeps the order of columns, digits of nanoseconds and large numbers, bytes as base64, row group after row group", async () => {
    const { rows } = await read(ARROW);
    expect(rows.map(rawOf).slice(0, 3)).toEqual([
      '{"10":"row 0","2":0,"ns":"1970-01-01T00:00:00.000000001Z","dec":-1.25,"u64":18446744073709551615,"bytes":"/wA=","old":"1815-06-18"}',
      '{"10":"row 1","2":1,"ns":"2024-01-31T12:00:00.123456789Z","dec":12345678901234.1,"u64":0,"bytes":null,"old":"1815-06-18"}',
      '{"10":"row 2","2":2,"ns":"1969-12-31T23:59:59.999999999Z","dec":null,"u64":1,"bytes":"YWI=","old":"1815-06-18"}',
    ]);
    expect(rows.map(({ place }) => [place.index, place.line])).toEqual([0, 1, 2, 3, 4].map((i) => [i, i + 1]));
  });

  it("tells the bytes of the whole file as it is read", async () => {
    let bytes = 0;
    await read(ARROW, { onBytes: (count) => (bytes += count) });
    expect(bytes).toBe(readFileSync(ARROW).length);
  });

  it("is known by its name, or by --from", async () => {
    const other = join(folder, "table.data");
    copyFileSync(ARROW, other);
    expect((await read(other, { from: "parquet" })).rows).toHaveLength(5);
  });

  it("ends at damaged data with an error behind the rows before it", async () => {
    const bytes = readFileSync(ARROW);
    const second = bytes.indexOf("row 2");
    bytes.fill(0, second - 16, second + 20);
    const broken = join(folder, "broken.parquet");
    writeFileSync(broken, bytes);
    const { rows, error } = await read(broken);
    expect(rows).toHaveLength(2);
    expect(error?.message).toContain("holds damaged Parquet data; fetch or write it again; it ends after row 2");
  });

  it.each<[claim: string, bytes: Uint8Array, code: string, message: string]>([
    ["cut off", readFileSync(ARROW).subarray(0, 900), "input_damaged", "holds damaged Parquet data"],
    ["another format", Buffer.from("id,text\n1,a\n"), "input_unsupported", "is no Parquet file"],
    ["empty", Buffer.alloc(0), "input_unsupported", "is no Parquet file"],
    [
      "all of it damaged",
      Buffer.concat([Buffer.from("PAR1"), Buffer.alloc(90, 7), Buffer.from("PAR1")]),
      "input_damaged",
      "",
    ],
  ])("that is %s is refused", async (_, bytes, code, message) => {
    const file = join(folder, "bad.parquet");
    writeFileSync(file, bytes);
    expect((await read(file)).error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it("is refused on stdin, with what to do", async () => {
    const { error } = await read("-", { from: "parquet" });
    expect(error?.message).toBe("Parquet is read from its end, which stdin does not have; name the file");
  });

  it("stops when it is aborted, and when its reader stops", async () => {
    expect((await read(ARROW, { signal: AbortSignal.abort() })).error?.code).toBe("aborted");
    for await (const row of readRows([ARROW])) {
      expect(row.place.index).toBe(0);
      break;
    }
  });
});
