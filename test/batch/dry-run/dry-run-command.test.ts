import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../../", import.meta.url).pathname;

function qaRun(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [`${ROOT}bin/qa.js`, "run", ...args], { cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

describe("qa run --dry-run", () => {
  it("prints what it found as one line of JSON, writes no output, and exits with 0 though rows would fail", async () => {
    const out = join(tmpdir(), `qa-dry-${process.pid}.csv`);
    const asked = ["-q", "fixtures/triage.yaml", "--state-column", "body", "--out", out];
    const { code, stdout, stderr } = await qaRun("fixtures/tickets.csv", ...asked, "--dry-run", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ rows: { rows: 74, unfit: { rows: 1 } }, answered: 72 });
    expect(existsSync(out)).toBe(false);
  });

  it("keeps --json to itself", async () => {
    const { code, stderr } = await qaRun("fixtures/mails.txt", "-p", "guard", "--json");
    expect(code).toBe(2);
    expect(stderr).toContain("--dry-run");
  });
});
