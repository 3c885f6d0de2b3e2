import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { drawDryRun } from "../../../src/batch/dry-run/draw-dry-run.js";
import { type DryRun, type DryRunOptions, dryRun } from "../../../src/batch/dry-run/dry-run.js";
import { dryRunToJson } from "../../../src/batch/dry-run/dry-run-json.js";
import { textWidth } from "../../../src/batch/progress/text-width.js";
import { DEFAULT_COMBINE_RULES } from "../../../src/decision/combine.js";
import { stringifyJson } from "../../../src/decision/json.js";
import { parseQuestions } from "../../../src/decision/question.js";
import { Engine } from "../../../src/engine/engine.js";
import { createFakeInference } from "../../fake-inference.js";

const folder = mkdtempSync(join(tmpdir(), "qa-dry-run-"));
afterAll(() => rmSync(folder, { recursive: true }));
const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });
const CHUNK = { overlap: 0, combine: DEFAULT_COMBINE_RULES };

/** 40 short texts, 20 of them twice; two that are too long, one that is no JSON. */
const input = join(folder, "rows.ndjson");
const texts = Array.from({ length: 60 }, (_, i) => `row number ${i % 40} of a file`);
const lines = [...texts, "word ".repeat(700), "other ".repeat(1300)].map((text) => JSON.stringify({ text }));
writeFileSync(input, [...lines, "{broken"].join("\n"));

async function dry(options: Partial<DryRunOptions> = {}, inference = createFakeInference()): Promise<DryRun> {
  const engine = await Engine.open({}, inference);
  try {
    return await dryRun(engine, {
      inputs: [input],
      read: {},
      state: {},
      questions,
      model: "core-0.3.20",
      chunk: undefined,
      output: { format: "ndjson" },
      files: { out: "-" },
      signal: new AbortController().signal,
      measureMs: 20_000,
      ...options,
    });
  } finally {
    await engine.close();
  }
}

describe("a dry run", () => {
  it("counts what a run would answer, what would be an error, and equal rows", async () => {
    const found = await dry();
    expect(found.survey).toMatchObject({ rows: 63, unfit: { count: 2 }, unreadable: { count: 1 } });
    expect(found).toMatchObject({ answered: 60, duplicates: { rows: 20, isExact: true } });
  });

  it("counts rows over the room as answered with chunk options, and their chunks", async () => {
    const found = await dry({ chunk: CHUNK });
    expect(found.answered).toBe(62);
    expect(found.survey.chunked.chunks).toBeGreaterThanOrEqual(5);
  });

  it("answers equal rows once in its sample, and expects a time from it", async () => {
    const inference = createFakeInference();
    const { time, measured } = await dry({}, inference);
    const states = inference.batches.flatMap(({ groups }) => groups.flatMap((group) => group.states));
    expect(states).toHaveLength(40);
    expect(measured.rows).toBe(40);
    expect(time.fromMs).toBeGreaterThan(0);
    expect(time.toMs).toBeGreaterThan(time.fromMs);
  });

  it("expects the output to be as large as its real rows are, failed ones among them", async () => {
    const { outputBytes } = await dry();
    const answered = 60 * JSON.stringify({ text: texts[20], model: "core-0.3.20" }).length;
    expect(outputBytes).toBeGreaterThan(answered + 700 * 5 + 1300 * 6);
    expect(outputBytes).toBeLessThan(answered + 60 * 120 + 700 * 5 + 1300 * 6 + 3 * 600);
    const packed = await dry({ files: { out: "out.ndjson.gz" } });
    expect(packed.outputBytes).toBeLessThan(outputBytes / 4);
  });

  it("measures a file without a row that can be answered", async () => {
    const empty = join(folder, "bad.ndjson");
    writeFileSync(empty, "{broken\n");
    const found = await dry({ inputs: [empty] });
    expect(found).toMatchObject({ answered: 0, measured: { rows: 0 }, time: { toMs: expect.any(Number) } });
    expect(drawDryRun(found, { columns: 80, out: "-", isChunked: false })).toContain("nothing to answer");
  });

  it("ends with `aborted` when its signal comes, while it reads and while it measures", async () => {
    const early = new AbortController();
    await expect(dry({ signal: early.signal, onRow: () => early.abort() })).rejects.toMatchObject({ code: "aborted" });
    const late = new AbortController();
    const inference = createFakeInference({ hold: true });
    const measuring = dry({ signal: late.signal }, inference);
    while (inference.batches.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    late.abort();
    for (const batch of inference.batches) batch.settle();
    await expect(measuring).rejects.toMatchObject({ code: "aborted" });
  });

  it("finds what is wrong with a run before it measures", async () => {
    await expect(dry({ output: { format: "csv", idColumn: "nope" } })).rejects.toMatchObject({ code: "invalid_usage" });
  });

  it("is drawn within the width, and printed as one JSON object", async () => {
    const found = await dry({ chunk: CHUNK });
    const text = drawDryRun(found, { columns: 70, out: "out.csv", isChunked: true });
    expect(Math.max(...text.split("\n").map(textWidth))).toBeLessThanOrEqual(70);
    expect(text).toMatch(/^To answer +62 rows, 1 other would be an error$/m);
    expect(text).toMatch(/^Too long +2 rows, answered in some \d+ chunks$/m);
    expect(text).toMatch(/^Duplicates +20 rows equal to an earlier one, answered once$/m);
    expect(JSON.parse(stringifyJson(dryRunToJson(found)))).toMatchObject({
      rows: { rows: 63, fit: { rows: 60 }, unreadable: { rows: 1, first: [{ row: 63, code: "malformed_row" }] } },
      answered: 62,
      duplicates: { rows: 20, exact: true },
      measured: { rows: 42 },
    });
  });
});
