import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "csv-stringify/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSeeded } from "../../seeded.js";

const KILLS = 25; // for each of four outputs: a hundred
const ROWS = 1600;
const folder = mkdtempSync(join(tmpdir(), "qa-crash-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const input = at("input.csv");

/** Rows of all kinds: cells with quotes and line ends, duplicates, long ones that are chunked, broken ones that fail. */
function inputRows(rows: number): string {
  const draw = createSeeded(7);
  const note = "x".repeat(1500); // for many packed blocks
  const lines = Array.from({ length: rows }, (_, i) => {
    if (i % 97 === 50) return `${i},"broken" quote\n`;
    const words = i % 211 === 5 ? 700 : draw(1, 30);
    const body = i % 5 === 0 ? "the same text" : `row ${i}, "so he said"\n${"word ".repeat(words)}`;
    return stringify([[String(i), body, note]]);
  });
  return `id,body,note\n${lines.join("")}`;
}

interface Child {
  readonly out: string;
  readonly rejects?: string;
  readonly format: "csv" | "ndjson";
  readonly batchMs?: number;
  readonly failCode?: string;
  readonly failAfterBytes?: number;
}

function start(options: Child): ChildProcess {
  const all = { input, batchMs: 20, intervalMs: 10, ...options };
  const script = new URL("./crash-child.js", import.meta.url).pathname;
  return spawn(process.execPath, [script, JSON.stringify(all)], { stdio: ["ignore", "pipe", "pipe"] });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  let stderr = "";
  child.stdout?.resume();
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, stderr };
}

/** Waits until a child has told of some rows. */
async function rowsOf(child: ChildProcess, rows: number): Promise<void> {
  let told = 0;
  while (told < rows) {
    const [dots] = (await once(child.stdout as Readable, "data")) as [Buffer];
    told += dots.length;
  }
}

/** A sitting that is killed once it has told of some rows, or while it starts. */
async function killed(options: Child, rows: number): ReturnType<typeof ended> {
  const child = start(options);
  const end = ended(child);
  await Promise.race([rowsOf(child, rows), end]);
  await Promise.race([sleep(rows % 50), end]);
  child.kill("SIGKILL");
  expect((await end).stderr).toBe("");
  return end;
}

function assertSame(ours: Child, theirs: Child): void {
  expect(readFileSync(ours.out).equals(readFileSync(theirs.out))).toBe(true);
  expect(readFileSync(ours.rejects ?? "").equals(readFileSync(theirs.rejects ?? ""))).toBe(true);
}

async function whole(options: Child): Promise<void> {
  expect(await ended(start({ batchMs: 0, ...options }))).toEqual({ code: 0, signal: null, stderr: "" });
}

beforeAll(() => writeFileSync(input, inputRows(ROWS)));

describe.concurrent("a disk that goes wrong", () => {
  it.each([
    ["ENOSPC", "csv", "no space is left"],
    ["EDQUOT", "ndjson.gz", "no space is left"],
    ["EIO", "ndjson", "could not be written (EIO)"],
  ])(
    "ends a run with %s, and once there is room the same command goes on: %s",
    async (failCode, ending, told) => {
      const format = ending === "csv" ? "csv" : "ndjson";
      const options = { format, out: at(`full.${ending}`), rejects: at(`full.${ending}.rejects`) } as const;
      const expected = { format, out: at(`roomy.${ending}`), rejects: at(`roomy.${ending}.rejects`) } as const;
      await whole(expected);
      for (const failAfterBytes of [0, 700, 3_000]) {
        const { code, stderr } = await ended(start({ ...options, batchMs: 0, failCode, failAfterBytes }));
        expect(code).toBe(1);
        expect(stderr).toContain("output_failed");
        expect(stderr).toContain(told);
      }
      await whole(options);
      assertSame(options, expected);
    },
    120_000,
  );
});

describe("a run that is killed at any moment", () => {
  it.concurrent.each([
    ["csv", "killed.csv"],
    ["ndjson", "killed.ndjson"],
    ["csv", "killed.csv.gz"],
    ["ndjson", "killed.ndjson.gz"],
  ] as const)(
    "goes on with the same command and writes the same bytes: %s, %s",
    async (format, name) => {
      const expected = { format, out: at(`whole-${name}`), rejects: at(`whole-${name}.rejects`) };
      await whole(expected);
      const options = { format, out: at(name), rejects: at(`${name}.rejects`) };
      const draw = createSeeded(name.length);
      const lengths = new Set<number>();
      for (let kills = 0; kills < KILLS; ) {
        const sitting = await killed(options, draw(0, 4) === 0 ? 0 : draw(1, name.endsWith(".gz") ? 300 : 60));
        if (sitting.signal === "SIGKILL") kills++;
        if (existsSync(options.out)) lengths.add(readFileSync(options.out).length);
        if (sitting.code === 0) assertSame(options, expected);
        if (sitting.code === 0 && kills < KILLS) rmSync(options.out); // and from the beginning
      }
      await whole(options);
      assertSame(options, expected);
      expect(lengths.size).toBeGreaterThan(1); // killed in more places than one
      const sidecars = readdirSync(folder).filter((file) => file.startsWith(`${name}.qa`));
      expect(sidecars).toEqual([`${name}.qa`]);
    },
    600_000,
  );
});
