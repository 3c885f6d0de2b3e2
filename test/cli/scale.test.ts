import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { BIN, FIXTURES, readFile, readNdjson, runShell } from "./packed.js";

const folder = mkdtempSync(join(tmpdir(), "qa-scale-"));
const qa = join(folder, "bin", "qa");
const doc = readFile(new URL("../../docs/scale.md", import.meta.url).pathname);
const blocks = [...doc.matchAll(/^```(\w*)\n(.*?)^```/gms)].map(([, language, text = ""]) => ({ language, text }));
const blockOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? "";
const shell = (line: string) => runShell(qa, line, folder);
beforeAll(() => {
  mkdirSync(join(folder, "bin"));
  writeFileSync(qa, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(qa, 0o755);
  symlinkSync(FIXTURES, join(folder, "fixtures"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("docs/scale.md", () => {
  it("shows shards that work as they stand and give back the order of the input", async () => {
    const [first = "", second = "", merge = ""] = blockOf("sh").trim().split("\n");
    // the shards at once, as they are meant to run
    const shards = await Promise.all([shell(`${first} --quiet --workers 1`), shell(`${second} --quiet --workers 1`)]);
    expect(shards).toEqual([1, 2].map(() => ({ code: 0, stdout: "", stderr: "" })));
    const merged = await shell(merge);
    expect(merged).toMatchObject({ code: 0, stderr: "20 rows of 2 parts are in answers.ndjson\n" });
    const ids = (text: string) => readNdjson(text).map(({ id }) => id);
    expect(ids(readFile(join(folder, "answers.ndjson")))).toEqual(ids(readFile(`${FIXTURES}reviews.ndjson`)));
  }, 150_000); // two shards at once, some 10 s where nothing else runs

  it("shows a manifest whose variable tells its completions, and a job definition that is JSON", () => {
    const { spec } = parse(blockOf("yaml"));
    const [{ env, args }] = spec.template.spec.containers;
    expect(env).toEqual([{ name: "JOB_COMPLETIONS", value: String(spec.completions) }]);
    expect(args[0]).toContain("--shard auto");
    expect(JSON.parse(blockOf("json")).containerProperties.command[2]).toContain("--shard auto");
  });
});

describe("the parts of a run", () => {
  it.each([
    ["a shard that is none", "qa run fixtures/mails.txt --preset guard --shard 0/4", "i/n with i from 1 to n"],
    ["auto outside an array", "qa run fixtures/mails.txt --preset guard --shard auto", "finds none of these"],
    ["a merge of too few", "qa merge part-1.ndjson -o few.ndjson", "1 of 2 shards are missing: 2/2"],
    ["a merge of what qa run did not write", "qa merge fixtures/reviews.ndjson -o few.ndjson", "has no"],
    ["a queue without a name", "qa queue status", "pass --out DIR"],
    ["a Redis that is no URL", "qa queue status --out parts --redis here", "no URL such as redis://host:6379"],
  ])("%s ends with code 2 and advice", async (_, line, advice) => {
    const { code, stderr } = await shell(line);
    expect(stderr).toContain(advice);
    expect(code).toBe(2);
    expect(readdirSync(folder)).not.toContain("few.ndjson");
  });
});
