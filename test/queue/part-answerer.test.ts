import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { engineAnswerer } from "../../src/batch/answerer.js";
import { readSidecar } from "../../src/batch/journal/sidecar.js";
import { Engine } from "../../src/engine/engine.js";
import { PartAnswerer } from "../../src/queue/part-answerer.js";
import { type PartJob, planParts } from "../../src/queue/part-job.js";
import { readRunFacts } from "../../src/queue/run-facts.js";
import { createFakeInference } from "../fake-inference.js";

const folder = mkdtempSync(join(tmpdir(), "qa-part-answerer-"));
afterAll(() => rmSync(folder, { recursive: true }));
const input = join(folder, "in.txt");
const out = join(folder, "parts");
const asked = join(folder, "ask.yaml");
const never = new AbortController().signal;
beforeEach(() => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  writeFileSync(asked, "urgent: {type: noul, instructions: Is it urgent?}");
  writeFileSync(input, Array.from({ length: 25 }, (_, i) => `row ${i}\n`).join(""));
});

async function jobs(): Promise<readonly PartJob[]> {
  const settings = {
    questions: { type: "file", file: asked },
    read: {},
    state: {},
    model: "core-0.3.20",
    deployment: "a",
    output: { format: "ndjson" },
  } as const;
  const run = { inputs: [input], out, rowsPerPart: 10, settings };
  return planParts(run, await readRunFacts(run, never));
}

async function withAnswerer<T>(use: (answerer: PartAnswerer) => Promise<T>): Promise<T> {
  const answerer = PartAnswerer.create(async ({ deployment }) => {
    const engine = await Engine.open({ deployment }, createFakeInference());
    return { ...engineAnswerer(engine), close: () => engine.close() };
  });
  try {
    return await use(answerer);
  } finally {
    await answerer.close();
  }
}

describe("answering a part of a queue", () => {
  it("writes its rows and the facts of the whole input, and clears away what dead workers left of it", async () => {
    const [, job] = await jobs();
    if (job === undefined) throw new Error("no job");
    writeFileSync(join(out, ".0123abcd-part-00001-of-00003.ndjson"), "half a ro");
    writeFileSync(join(out, ".0123abcd-part-00002-of-00003.ndjson"), "another part's");
    expect(await withAnswerer((answerer) => answerer.answer(job, never))).toEqual({ rows: 10, failed: 0 });
    const rows = readFileSync(job.out, "utf8").trim().split("\n");
    expect(rows.map((row) => JSON.parse(row).text)).toEqual(Array.from({ length: 10 }, (_, i) => `row ${i + 10}`));
    expect(await readSidecar(job.out)).toMatchObject({
      part: job.range,
      rows: 10,
      input: { rows: 25, digest: job.facts.digest },
      finished: true,
    });
    const names = [
      ".0123abcd-part-00002-of-00003.ndjson",
      "part-00001-of-00003.ndjson",
      "part-00001-of-00003.ndjson.qa",
    ];
    expect(readdirSync(out).sort()).toEqual(names);
  });

  it("fails where the input has changed since it was pushed, and leaves nothing", async () => {
    const [job] = await jobs();
    appendFileSync(input, "one more\n");
    const answered = withAnswerer((answerer) => answerer.answer(job as PartJob, never));
    await expect(answered).rejects.toMatchObject({ code: "input_changed" });
    expect(readdirSync(out)).toEqual([]);
  });

  it("fails where the questions have changed since they were pushed, and leaves nothing", async () => {
    const [job] = await jobs();
    writeFileSync(asked, "urgent: {type: noul, instructions: Is it really urgent?}");
    const answered = withAnswerer((answerer) => answerer.answer(job as PartJob, never));
    await expect(answered).rejects.toMatchObject({ code: "run_changed" });
    expect(readdirSync(out)).toEqual([]);
  });

  it("stopped by its signal leaves nothing", async () => {
    const [job] = await jobs();
    const stopped = withAnswerer((answerer) => answerer.answer(job as PartJob, AbortSignal.abort()));
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    expect(readdirSync(out)).toEqual([]);
  });
});
