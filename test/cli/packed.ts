/** The packed tarball, installed in a folder of its own: what a person gets. Slow to make: one test file does. */

import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;
export const FIXTURES = `${ROOT}fixtures/`;
/** The same program as it stands in the repository. */
export const BIN = `${ROOT}bin/qa.js`;

export interface Installed {
  readonly folder: string;
  /** Path of the installed `qa`. */
  readonly bin: string;
  remove(): void;
}

/** Packs the project and installs the tarball without running install scripts, as the README says. */
export function installPacked(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "qa-packed-"));
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(packed.toString()) as [{ filename: string }];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "elsewhere", private: true }));
  const install = [
    "install",
    "--ignore-scripts",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    join(folder, filename),
  ];
  execFileSync("npm", install, { cwd: folder, stdio: "ignore" });
  return {
    folder,
    bin: join(folder, "node_modules", ".bin", "qa"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
export function runCommand(bin: string, args: readonly string[], { input = "", cwd = ROOT } = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(bin, args, { cwd, maxBuffer: 2 ** 28 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (child.exitCode ?? null), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

/** Runs a line in bash with `qa` on the PATH and `pipefail` set. */
export function runShell(bin: string, line: string, cwd = ROOT): Promise<Ended> {
  const path = `${join(bin, "..")}:${process.env.PATH}`;
  return new Promise((resolve) => {
    const child = spawn("bash", ["-o", "pipefail", "-c", line], { cwd, env: { ...process.env, PATH: path } });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function readNdjson(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function readFile(path: string): string {
  return readFileSync(path, "utf8");
}
