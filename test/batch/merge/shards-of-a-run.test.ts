import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { engineAnswerer } from "../../../src/batch/answerer.js";
import { mergeParts } from "../../../src/batch/merge/merge-parts.js";
import { openSink } from "../../../src/batch/open-sink.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import type { Part } from "../../../src/batch/read/part.js";
import { type RunOptions, run } from "../../../src/batch/run.js";
import { formatOfOutput } from "../../../src/batch/write/output-format.js";
import { parseQuestions } from "../../../src/decision/question.js";
import { Engine } from "../../../src/engine/engine.js";
import { createFakeInference } from "../../fake-inference.js";

const folder = mkdtempSync(join(tmpdir(), "qa-shards-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });

// the fields of later rows differ from those of the first 100, and some rows fail
const input = join(folder, "in.ndjson");
const rowOf = (i: number) => {
  if (i % 50 === 7) return "{broken";
  return JSON.stringify({ text: `row ${i}\n"quoted", é`, ...(i > 150 ? { [`more${i}`]: i } : {}) });
};
writeFileSync(input, Array.from({ length: 203 }, (_, i) => `${rowOf(i)}\n`).join(""));

async function runTo(name: string, options: Partial<RunOptions> = {}): Promise<string> {
  const out = join(folder, name);
  const engine = await Engine.open({}, createFakeInference());
  await run(engineAnswerer(engine), {
    inputs: [input],
    read: {},
    state: {},
    questions,
    model: "core-0.3.20",
    output: { format: formatOfOutput(name) },
    files: { out },
    sink: await openSink({ files: { out }, restart: true, inputs: [input], part: options.part }),
    tally: createTally(),
    onRow: () => {},
    signal: new AbortController().signal,
    ...options,
  });
  await engine.close();
  return out;
}

const shards = (count: number) => Array.from({ length: count }, (_, index): Part => ({ type: "shard", index, count }));
const ranges = [0, 60, 120].map((from): Part => ({ type: "range", from, to: from === 120 ? 203 : from + 60 }));

describe("the merged parts of a run", () => {
  it.each<[string, readonly Part[]]>([
    ["three.ndjson", shards(3)],
    ["three.csv", shards(3)],
    ["seven.csv.gz", shards(7)],
    ["ranges.csv", ranges],
    ["eleven.ndjson", shards(11)],
  ])("%s are the file that one run writes, byte for byte", async (name, parts) => {
    const files = await Promise.all(parts.map((part, at) => runTo(`part-${at}-${name}`, { part })));
    const plain = await runTo(`plain-${name}`);
    const out = join(folder, name);
    await mergeParts(files.toReversed(), { out, force: false });
    const unpack = (file: string) => (name.endsWith(".gz") ? gunzipSync(readFileSync(file)) : readFileSync(file));
    expect(unpack(out).toString()).toBe(unpack(plain).toString());
  });

  it("are refused where they were asked otherwise, or over an input that has grown since", async () => {
    const [first, second] = shards(2) as [Part, Part];
    const one = await runTo("one.csv", { part: first });
    const { questions: others } = parseQuestions({ urgent: { type: "noul", instructions: "Is it really urgent?" } });
    const other = await runTo("other.csv", { part: second, questions: others });
    const out = join(folder, "out.csv");
    await expect(mergeParts([one, other], { out, force: false })).rejects.toThrow("these differ: questions.urgent;");
    const limited = await runTo("limited.csv", { part: second, limit: 100 });
    await expect(mergeParts([one, limited], { out, force: false })).rejects.toThrow("of 203 and 100 rows");
  });
});
