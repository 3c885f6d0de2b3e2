import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../../", import.meta.url).pathname;

function qa(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [`${ROOT}bin/qa.js`, "room", ...args], { cwd: ROOT }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

describe("qa room", () => {
  it("draws a file's room on stdout, nothing on stderr, and exits with 0 though a row does not fit", async () => {
    const { code, stdout, stderr } = await qa(
      "fixtures/tickets.csv",
      "-q",
      "fixtures/triage.yaml",
      "--state-column",
      "body",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("1 too long");
  });

  it("prints one line of JSON with --json", async () => {
    const { code, stdout } = await qa("--preset", "guard", "--state", "Hello", "--json");
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout).state.fits).toBe(true);
  });

  it.each<[claim: string, args: string[], message: RegExp]>([
    ["no questions", [], /pass --questions FILE or --preset NAME/],
    ["a state and a file", ["fixtures/mails.txt", "--state", "x", "-p", "guard"], /exclude each other/],
    ["a file that is not there", ["nowhere.csv", "-p", "guard"], /no file nowhere\.csv/],
    ["an unknown model", ["-p", "guard", "--model", "nobody"], /no such model/],
    ["an unknown column", ["fixtures/tickets.csv", "-p", "guard", "--state-column", "nope"], /has no column nope/],
  ])("ends with a message and exit code 2 for %s", async (_, args, message) => {
    const { code, stdout, stderr } = await qa(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});
