import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BIN, FIXTURES, readFile, readNdjson, runCommand } from "./packed.js";

const folder = mkdtempSync(join(tmpdir(), "qa-report-"));
afterAll(() => rmSync(folder, { recursive: true }));
const qa = (args: readonly string[]) => runCommand(BIN, args);
const temp = (name: string) => join(folder, name);
const mails = `${FIXTURES}mails.txt`;
const ENGLISH = ["--deployment", "b", "--model", "core-0.3.5", "--quiet"]; // the fast one

interface Json {
  readonly end: string;
  readonly rows: { readonly total: number; readonly uncertain: number };
  readonly options: Readonly<Record<string, unknown>>;
}

describe("qa run --report and --uncertain", () => {
  it("reports what is in the output, and marks the answers in the band there", async () => {
    const [out, report] = [temp("marked.ndjson"), temp("marked.json")];
    const args = ["run", `${FIXTURES}tickets.csv`, "--preset", "triage", "--limit", "8", "--uncertain", "0.3...6"];
    const { code, stderr } = await qa([...args, ...ENGLISH, "--out", out, "--report", report]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const json = JSON.parse(readFile(report)) as Json;
    const rows = readNdjson(readFile(out));
    expect(json).toMatchObject({ end: "finished", rows: { total: 8 }, options: { preset: "triage", limit: 8 } });
    expect(json.rows.uncertain).toBe(rows.filter((row) => row.uncertain !== undefined).length);
    expect(json.rows.uncertain).toBeGreaterThan(0);
  });

  it("tells of a run that was interrupted up to where it came, and of all of it once it has gone on", async () => {
    const [input, out, report] = [temp("many.txt"), temp("many.ndjson"), temp("many.html")];
    writeFileSync(input, readFile(mails).repeat(8));
    const args = ["run", input, "--preset", "guard", ...ENGLISH, "--out", out, "--report", report];
    const child = spawn(BIN, args);
    while (!existsSync(out) || readFile(out) === "") await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGINT");
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(130);
    const page = readFile(report);
    expect(page).toContain("The run was interrupted.");
    const rows = new Intl.NumberFormat("en-US").format(readNdjson(readFile(out)).length);
    expect(page).toContain(`${rows} rows to`);
    expect(page).toContain("--bar: #2b59c3");
    expect(await qa(args)).toMatchObject({ code: 0, stderr: "" });
    const whole = readFile(report);
    expect(whole).not.toContain("The run was interrupted.");
    expect(whole).toContain("96 rows to");
    expect(whole).toMatch(/<dt>Sittings<\/dt><dd>2; /);
  });

  it.each([
    ["a band that is none", ["--uncertain", "0.6-0.8"], "0.4..0.6"],
    ["a review without a band", ["--review", "review.csv"], "--uncertain 0.4..0.6"],
    ["a report of another form", ["--report", "report.pdf"], ".html or .json"],
    ["a report that would overwrite a file", ["--report", `${FIXTURES}labels.json`], "is no report of qa"],
  ])("refuses %s before anything is run", async (_, flags, advice) => {
    const { code, stdout, stderr } = await qa(["run", mails, "--preset", "guard", ...ENGLISH, ...flags]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(advice);
  });
});
