import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { stringify } from "csv-stringify/sync";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { mergeParts } from "../../../src/batch/merge/merge-parts.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import { isInPart, type Part } from "../../../src/batch/read/part.js";

const folder = mkdtempSync(join(tmpdir(), "qa-merge-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

const ROWS = 23;
const HEADER = "text,team\n";
const csvRows = Array.from({ length: ROWS }, (_, i) => stringify([[`line ${i}\n"quoted"\r\n`, "é,"]]));
const jsonRows = Array.from({ length: ROWS }, (_, i) => `${JSON.stringify({ text: `row ${i}` })}\n`);
const shards = (count: number) => Array.from({ length: count }, (_, index): Part => ({ type: "shard", index, count }));

interface PartFile {
  readonly text?: string;
  readonly bytes?: number;
}

/** A part as a run leaves it, with its sidecar; `change` tells what is wrong with it. */
function writePart(name: string, part: Part, change: PartFile = {}): string {
  const [header, all] = name.includes(".csv") ? [HEADER, csvRows] : ["", jsonRows];
  const rows = all.filter((_, row) => isInPart(part, row));
  const text = change.text ?? header + rows.join("");
  const bytes = name.endsWith(".gz") ? gzipSync(text) : Buffer.from(text);
  const file = join(folder, name);
  const sidecar = {
    version: 1,
    fingerprint: { model: "core-1" },
    part,
    rows: rows.length,
    input: { rows: ROWS, digest: "abc" },
    finished: true,
    files: { out: { bytes: change.bytes ?? bytes.length, tail: "" } },
    tally: createTally().snapshot(),
  };
  writeFileSync(file, bytes);
  writeFileSync(`${file}.qa`, JSON.stringify(sidecar));
  return file;
}

const out = (name: string) => join(folder, name);
const merge = (files: readonly string[], name: string) => mergeParts(files, { out: out(name), force: false });

describe("a merge", () => {
  it.each([1, 2, 5, 23, 30])("of %i shards gives the rows in the order of the input", async (count) => {
    const csv = shards(count).map((part, at) => writePart(`${at}.csv`, part));
    expect(await merge(csv.toReversed(), "out.csv")).toEqual({ rows: ROWS });
    expect(readFileSync(out("out.csv"), "utf8")).toBe(HEADER + csvRows.join(""));
    const ndjson = shards(count).map((part, at) => writePart(`${at}.ndjson`, part));
    await merge(ndjson, "out.ndjson");
    expect(readFileSync(out("out.ndjson"), "utf8")).toBe(jsonRows.join(""));
  });

  it("of ranges gives the rows in the order of the input", async () => {
    const ranges = [0, 10, 20].map((from) =>
      writePart(`${from}.csv`, { type: "range", from, to: Math.min(from + 10, ROWS) }),
    );
    await merge(ranges.toReversed(), "out.csv");
    expect(readFileSync(out("out.csv"), "utf8")).toBe(HEADER + csvRows.join(""));
  });

  it("reads and writes gzip", async () => {
    const parts = shards(3).map((part, at) => writePart(`${at}.csv${at === 1 ? "" : ".gz"}`, part));
    await merge(parts, "out.csv.gz");
    expect(gunzipSync(readFileSync(out("out.csv.gz"))).toString()).toBe(HEADER + csvRows.join(""));
  });

  const [first, second] = shards(2) as [Part, Part];
  it.each<[string, PartFile, string]>([
    ["lost its end", { text: jsonRows[1] ?? "", bytes: 5 }, "1.ndjson has 17 bytes, and its run wrote 5"],
    ["lost rows unseen", { text: jsonRows[1] ?? "" }, "1.ndjson ends after 1 rows, and its run wrote 11"],
    ["ends within a row", { text: `${jsonRows.slice(0, 10).join("")}{` }, "1.ndjson ends after 10 rows"],
    ["has more rows", { text: jsonRows.join("") }, "1.ndjson goes on after the 11 rows"],
  ])("whose part %s fails and writes nothing", async (_, change, message) => {
    const parts = [writePart("0.ndjson", first), writePart("1.ndjson", second, change)];
    const before = readdirSync(folder);
    await expect(merge(parts, "out.ndjson")).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual(before);
  });

  it("refuses other columns, other formats, a part without its sidecar, and an output that exists or is a part", async () => {
    const parts = [writePart("0.csv", first), writePart("1.csv", second, { text: `text,mood\n${csvRows.join("")}` })];
    await expect(merge(parts, "out.csv")).rejects.toThrow("1.csv and");
    await expect(merge(parts, "out.ndjson")).rejects.toThrow("are not of one format");
    await expect(merge(parts, "1.csv")).rejects.toThrow("is also a part");
    writePart("1.csv", second);
    rmSync(out("0.csv.qa"));
    await expect(merge(parts, "out.csv")).rejects.toThrow("0.csv has no");
    writePart("0.csv", first);
    writeFileSync(out("out.csv"), "mine");
    await expect(merge(parts, "out.csv")).rejects.toMatchObject({ code: "output_exists" });
    expect(readFileSync(out("out.csv"), "utf8")).toBe("mine");
    await mergeParts(parts, { out: out("out.csv"), force: true });
    expect(readFileSync(out("out.csv"), "utf8")).toBe(HEADER + csvRows.join(""));
  });

  it("stopped by its signal leaves nothing behind", async () => {
    const parts = shards(2).map((part, at) => writePart(`${at}.csv`, part));
    const before = readdirSync(folder);
    const options = { out: out("out.csv"), force: false, signal: AbortSignal.abort() };
    await expect(mergeParts(parts, options)).rejects.toMatchObject({ code: "aborted" });
    expect(readdirSync(folder)).toEqual(before);
  });
});
