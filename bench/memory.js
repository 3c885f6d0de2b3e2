/**
 * Whether memory grows with the input: peak memory of a run over 2,000 rows beside one over 200,000, each in a process of its
 * own. Everything is real (read, route, tokenise, schedule, answer, write) but the graphs, whose place a worker-free stand-in
 * takes: 200,000 rows through the model would take hours and use the same buffers over and over.
 * Usage: node bench/memory.js
 */

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerOnce } from "../dist/batch/answer-once.js";
import { engineAnswerer } from "../dist/batch/answerer.js";
import { limitHeapGrowth } from "../dist/batch/heap.js";
import { openSink } from "../dist/batch/open-sink.js";
import { createTally } from "../dist/batch/progress/tally.js";
import { run } from "../dist/batch/run.js";
import { everydayQuestions, printTable, ticketStates } from "./sample.js";
import { openStandIn, writeRows } from "./stand-in.js";

const SIZES = [2_000, 200_000];

if (process.argv[2] === "child") await child(process.argv[3], process.argv[4]);
else await parent();

async function parent() {
  const folder = await mkdtemp(join(tmpdir(), "qa-bench-"));
  const peaks = [];
  for (const rows of SIZES) {
    const input = join(folder, `${rows}.csv`);
    await writeRows(input, rows, await ticketStates(74));
    const output = execFileSync(process.execPath, [import.meta.filename, "child", input, join(folder, "out.ndjson")]);
    peaks.push(JSON.parse(output.toString()));
  }
  printTable(
    ["rows", "peak memory (MiB)", "seconds"],
    SIZES.map((rows, i) => [rows, peaks[i].peakMiB.toFixed(0), peaks[i].seconds.toFixed(1)]),
  );
  console.log(`peak of 200,000 rows / peak of 2,000 rows: ${(peaks[1].peakMiB / peaks[0].peakMiB).toFixed(2)}`);
  await rm(folder, { recursive: true });
}

async function child(input, out) {
  limitHeapGrowth();
  const engine = await openStandIn();
  const start = performance.now();
  await run(answerOnce(engineAnswerer(engine)), {
    inputs: [input],
    read: {},
    state: {},
    questions: everydayQuestions(8),
    output: { format: "ndjson" },
    files: { out },
    sink: await openSink({ files: { out }, restart: true, inputs: [] }),
    tally: createTally(),
    onRow: () => {},
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(JSON.stringify({ peakMiB: process.resourceUsage().maxRSS / 1024, seconds }));
}
