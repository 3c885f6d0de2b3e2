import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "libsql";
import { afterAll, describe, expect, it } from "vitest";
import { AnswerCache } from "../../src/batch/answer-cache.js";
import { answerOnce, storeIdentityOf } from "../../src/batch/answer-once.js";
import { engineAnswerer } from "../../src/batch/answerer.js";
import { openSink } from "../../src/batch/open-sink.js";
import { createTally } from "../../src/batch/progress/tally.js";
import { run } from "../../src/batch/run.js";
import { DEFAULT_COMBINE_RULES } from "../../src/decision/combine.js";
import { parseQuestions } from "../../src/decision/question.js";
import { Engine } from "../../src/engine/engine.js";
import { createFakeInference } from "../fake-inference.js";

const root = mkdtempSync(join(tmpdir(), "qa-cache-"));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = () => join(root, String(++folders), "cache");
const BUILT = new URL("../../dist/batch/answer-cache.js", import.meta.url).href;
const execute = promisify(execFile);

function filled(rows = 1): { folder: string; file: string } {
  const folder = newFolder();
  const cache = AnswerCache.open(folder);
  for (let i = 0; i < rows; i++) cache.put(`key ${i}`, `answer ${i} ${"x".repeat(200)}`);
  expect(cache.close()).toBeUndefined();
  return { folder, file: join(folder, "answers.db") };
}

function executeIn(file: string, sql: string): void {
  const database = new Database(file);
  database.exec(sql);
  database.close();
}

/** A process that opens the cache of a folder as `cache` and runs a script. */
function scriptOver(folder: string, script: string): string[] {
  const opened = `const { AnswerCache } = await import(${JSON.stringify(BUILT)});
    const cache = AnswerCache.open(${JSON.stringify(folder)});`;
  return ["--input-type=module", "-e", opened + script];
}

describe("AnswerCache", () => {
  it("keeps answers for whoever opens the folder later, in a file for its owner alone", () => {
    const { folder, file } = filled(1200);
    const again = AnswerCache.open(folder);
    expect(again.get("key 1199")).toMatch(/^answer 1199 x/);
    expect(again.get("key 1200")).toBeUndefined();
    again.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("gives answers that are not written yet", () => {
    const cache = AnswerCache.open(newFolder());
    cache.put("a", "one");
    expect(cache.get("a")).toBe("one");
    cache.close();
  });

  it.each<[claim: string, spoil: (file: string) => void, message: RegExp]>([
    ["no database", (file) => writeFileSync(file, "some text\n".repeat(500)), /damaged or no cache of qa; delete it/],
    ["cut off", (file) => truncateSync(file, 20_000), /damaged or no cache of qa; delete it/],
    [
      "overwritten in the middle",
      (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0xff, 8192, 12_288);
        writeFileSync(file, bytes);
      },
      /damaged or no cache of qa; delete it/,
    ],
    [
      "of another program",
      (file) => {
        rmSync(file);
        executeIn(file, "CREATE TABLE other (x)");
      },
      /a database of something else/,
    ],
    ["newer", (file) => executeIn(file, "PRAGMA user_version = 2"), /written by a newer qa/],
  ])("refuses a file that is %s, and leaves it as it is", (_, spoil, message) => {
    const { folder, file } = filled(400);
    spoil(file);
    const before = statSync(file).size;
    expect(() => AnswerCache.open(folder)).toThrow(message);
    expect(statSync(file).size).toBe(before);
  });

  it("refuses a name that is no folder", () => {
    mkdirSync(join(root, "plain"));
    writeFileSync(join(root, "plain", "file"), "");
    expect(() => AnswerCache.open(join(root, "plain", "file"))).toThrow(/--cache .*file is no folder; name one/);
  });

  it("goes on without the file where it fails later, and says so in the end", () => {
    const { folder, file } = filled();
    const cache = AnswerCache.open(folder);
    executeIn(file, "DROP TABLE answers");
    expect(cache.get("key 0")).toBeUndefined();
    cache.put("b", "two");
    expect(cache.close()).toMatchObject({ code: "cache_unavailable" });
  });

  it("is shared by processes that open, read and write it at once", async () => {
    const folder = newFolder();
    const script = (from: number) => `for (let i = ${from}; i < ${from} + 3000; i++) cache.put("key " + i, "answer");
      if (cache.close() !== undefined) process.exit(1);`;
    await Promise.all([0, 2000, 4000].map((from) => execute(process.execPath, scriptOver(folder, script(from)))));
    const cache = AnswerCache.open(folder);
    const missing = Array.from({ length: 7000 }, (_, i) => `key ${i}`).filter((key) => cache.get(key) !== "answer");
    expect(missing).toEqual([]);
    cache.close();
  });

  it("is made by processes that open new ones at the same moments", async () => {
    const folder = newFolder();
    const start = Date.now() + 1_000;
    const script = `cache.close();
      for (let i = 0; i < 80; i++) {
        while (Date.now() < ${start} + i * 20);
        AnswerCache.open(${JSON.stringify(folder)} + i).close();
      }`;
    const opened = [0, 1, 2, 3].map(() => execute(process.execPath, scriptOver(folder, script)));
    await expect(Promise.all(opened)).resolves.toHaveLength(4);
  });

  it("is whole after its process was killed while it wrote", async () => {
    const folder = newFolder();
    const script = `for (let i = 0; ; i++) {
      cache.put("key " + i, "answer".repeat(50));
      if (i === 20000) process.stdout.write("on its way");
    }`;
    const child = spawn(process.execPath, scriptOver(folder, script));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const cache = AnswerCache.open(folder);
    expect(cache.get("key 19000")).toMatch(/^answer/);
    cache.put("key x", "more");
    expect(cache.close()).toBeUndefined();
  });
});

describe("a run over a cache", () => {
  const input = join(root, "rows.ndjson");
  const texts = ["short", "ein deutscher Text über Rechnungen", "word ".repeat(900), "short"];
  writeFileSync(input, texts.map((text) => JSON.stringify({ text })).join("\n"));
  const { questions } = parseQuestions({
    urgent: { type: "noul", instructions: "Is it urgent?" },
    team: { type: "choice", instructions: "Which?", criteria: { "10": null, "2": "two", b: null } },
    mood: { type: "score", criteria: ["calm", { "1": "x", a: "y" }] },
  });

  async function runOver(folder: string | undefined, deployment = "a") {
    const inference = createFakeInference();
    const engine = await Engine.open({ deployment }, inference);
    const store = folder === undefined ? undefined : AnswerCache.open(folder);
    const out = join(root, `out-${++folders}.ndjson`);
    const tally = createTally();
    const answerer = engineAnswerer(engine);
    await run(answerOnce(answerer, { store, identity: await storeIdentityOf(answerer) }), {
      inputs: [input],
      read: {},
      state: {},
      questions,
      model: undefined,
      chunk: { overlap: 1, combine: DEFAULT_COMBINE_RULES },
      output: { format: "ndjson", explain: true },
      files: { out },
      sink: await openSink({ files: { out }, restart: true, inputs: [input] }),
      tally,
      onRow: () => {},
      signal: new AbortController().signal,
    });
    expect(store?.close()).toBeUndefined();
    await engine.close();
    return { text: readFileSync(out, "utf8"), batches: inference.batches.length, counts: tally.counts };
  }

  it("writes the same bytes without and with a cache, empty or full, and answers nothing anew from a full one", async () => {
    const folder = newFolder();
    const [without, empty, full] = [await runOver(undefined), await runOver(folder), await runOver(folder)];
    expect(empty.text).toBe(without.text);
    expect(full.text).toBe(without.text);
    expect(full.text).toContain('"10"');
    expect(empty.counts).toMatchObject({ answered: 4, duplicates: 1, cached: 0 });
    expect(full.counts).toMatchObject({ answered: 4, duplicates: 1, cached: 3 });
    expect(full.batches).toBe(0);
  });

  it("takes no answers of another deployment", async () => {
    const folder = newFolder();
    await runOver(folder);
    expect((await runOver(folder, "b")).counts.cached).toBe(0);
  });
});
