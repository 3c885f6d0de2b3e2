import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { reportOf } from "../../../src/batch/report/report.js";
import { prepareReport } from "../../../src/batch/report/report-file.js";
import { factsOf, tallyOf } from "./report-facts.js";

const folder = mkdtempSync(join(tmpdir(), "qa-report-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
const report = reportOf(tallyOf(1).counts, factsOf());

describe("prepareReport", () => {
  it("leaves the file as it is until the report is written, whole, in the form of its name", async () => {
    const file = join(folder, "a.html");
    const prepared = await prepareReport({ file, others: [] });
    expect(existsSync(file)).toBe(false);
    await prepared.write(report);
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>.*<\/html>\n$/s);
    const json = join(folder, "a.JSON");
    await (await prepareReport({ file: json, others: ["-"] })).write(report);
    expect(JSON.parse(readFileSync(json, "utf8"))).toMatchObject({ report_version: 1 });
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it("takes the place of an older report, and of nothing else", async () => {
    for (const [file, other] of [
      [join(folder, "b.json"), join(folder, "b.html")],
      [join(folder, "b.html"), join(folder, "b.json")],
    ] as const) {
      writeFileSync(file, '{"mine": "report_version"}');
      await expect(prepareReport({ file, others: [] })).rejects.toMatchObject({ code: "output_exists" });
      rmSync(file);
      await (await prepareReport({ file, others: [other] })).write(report);
      await (await prepareReport({ file, others: [] })).write({ ...report, version: "9.9.9" });
      expect(readFileSync(file, "utf8")).toContain("9.9.9");
      rmSync(file);
    }
  });

  it.each([
    ["report.pdf", "name it .html or .json"],
    ["-", "name it .html or .json"],
    [join(folder, "none", "r.html"), "mkdir -p"],
    [join(folder, "in.json"), "also an input or an output"],
  ])("refuses %s before anything is run", async (file, why) => {
    const preparing = prepareReport({ file, others: [join(folder, ".", "in.json")] });
    await expect(preparing).rejects.toMatchObject({ code: "invalid_usage" });
    await expect(preparing).rejects.toThrowError(why);
  });

  it("says that a report could not be written, and leaves nothing half", async () => {
    const file = join(folder, "c.json");
    const prepared = await prepareReport({ file, others: [] });
    mkdirSync(file);
    await expect(prepared.write(report)).rejects.toMatchObject({ code: "output_failed" });
    expect(existsSync(`${file}.part`)).toBe(false);
  });
});
