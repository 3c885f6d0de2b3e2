import { stringify } from "csv-stringify/sync";
import { describe, expect, it } from "vitest";
import { splitRecords } from "../../../src/batch/read/split-records.js";
import { createSeeded } from "../../seeded.js";

async function split(text: string, format: "csv" | "ndjson", size: number): Promise<string[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const records: string[] = [];
  for await (const record of splitRecords(chunks(), format)) records.push(record.toString());
  return records;
}

describe("splitting an output into records", () => {
  it("gives back every CSV record as it was, wherever chunks end and whatever its cells hold", async () => {
    const draw = createSeeded(7);
    const pieces = ["", "a", '"', '""', ",", "\n", "\r\n", "\r", "é", "漢", "\ufeff", " "];
    for (let round = 0; round < 40; round++) {
      const cell = () => Array.from({ length: draw(0, 5) }, () => pieces[draw(0, pieces.length - 1)]).join("");
      const records = Array.from({ length: draw(1, 8) }, () =>
        stringify([["x", cell(), cell(), cell()]], { record_delimiter: "\n" }),
      );
      for (const size of [1, 2, 3, 7, 64, 4096]) expect(await split(records.join(""), "csv", size)).toEqual(records);
    }
  });

  it("takes a quote in NDJSON for a character, and a line for a record", async () => {
    const lines = ['{"a":"one \\" quote"}\n', '{"a":1}\n'];
    for (const size of [1, 5, 100]) expect(await split(lines.join(""), "ndjson", size)).toEqual(lines);
  });

  it("hands on what was cut off without its line end, and nothing of nothing", async () => {
    expect(await split('a,b\n"cut\n', "csv", 3)).toEqual(["a,b\n", '"cut\n']);
    expect(await split("{}\n{", "ndjson", 2)).toEqual(["{}\n", "{"]);
    expect(await split("", "csv", 1)).toEqual([]);
  });
});
