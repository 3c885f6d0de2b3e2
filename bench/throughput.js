/**
 * What `qa run` adds to inference: rows/s and tokens/s of a whole run (read CSV, route, tokenise, batch, answer, write)
 * beside a bare loop over the very same batches in onnxruntime-node: same graphs, same number of threads, tensors built
 * beforehand. Both are warm and take turns. Usage: node bench/throughput.js [rows=150] [rounds=3]
 */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { stringify } from "csv-stringify/sync";
import { answerOnce } from "../dist/batch/answer-once.js";
import { engineAnswerer } from "../dist/batch/answerer.js";
import { openSink } from "../dist/batch/open-sink.js";
import { createTally } from "../dist/batch/progress/tally.js";
import { loadQuestions } from "../dist/batch/questions-file.js";
import { run } from "../dist/batch/run.js";
import { resolveEngineConfig } from "../dist/config.js";
import { Engine } from "../dist/engine/engine.js";
import { WorkerPool } from "../dist/engine/worker-pool.js";
import { median, printTable, ticketStates } from "./sample.js";

const [rows = 150, rounds = 3] = process.argv.slice(2).map(Number);
const folder = await mkdtemp(join(tmpdir(), "qa-bench-"));
const input = join(folder, "tickets.csv");
await writeFile(input, stringify([["body"], ...(await ticketStates(rows)).map((state, i) => [`${i} ${state}`])]));
const questions = await loadQuestions(new URL("../fixtures/triage.yaml", import.meta.url).pathname);
const { workers } = resolveEngineConfig();

for (const role of ["english", "multilingual"]) {
  const recorded = [];
  const pool = WorkerPool.open(workers);
  const engine = await Engine.open({}, recordingInference(pool, recorded));
  const model = engine.deployment.checkpoints[role];
  const first = await wholeRun(engine, model); // warms up, and records the batches
  const batches = recorded.splice(0);
  const loops = await Promise.all(Array.from({ length: workers }, () => openBareLoop(batches)));
  const seconds = { run: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    seconds.bare.push(await bareLoop(loops, batches.length));
    seconds.run.push((await wholeRun(engine, model)).seconds);
    recorded.splice(0);
  }
  await Promise.all(loops.map((loop) => loop.terminate()));
  await engine.close();

  console.log(
    `\n${model}: ${rows} tickets, ${questions.length} questions, ${batches.length} batches, ${workers} workers, median of ${rounds}`,
  );
  const line = (name, times) => [name, (rows / median(times)).toFixed(1), Math.round(first.tokens / median(times))];
  printTable(["", "rows/s", "tokens/s"], [line("qa run", seconds.run), line("bare loop", seconds.bare)]);
  const ratios = seconds.run.map((time, i) => seconds.bare[i] / time);
  console.log(
    `qa run / bare loop: ${median(ratios).toFixed(3)} (${ratios.map((ratio) => ratio.toFixed(3)).join(", ")})`,
  );
}
await rm(folder, { recursive: true });

async function wholeRun(engine, model) {
  const tally = createTally();
  const start = performance.now();
  await run(answerOnce(engineAnswerer(engine)), {
    inputs: [input],
    read: {},
    state: {},
    questions,
    model,
    output: { format: "ndjson" },
    files: { out: join(folder, "out.ndjson") },
    sink: await openSink({ files: { out: join(folder, "out.ndjson") }, restart: true, inputs: [] }),
    tally,
    onRow: () => {},
    signal: new AbortController().signal,
  });
  if (tally.counts.answered !== rows) throw new Error(`${tally.counts.answered} of ${rows} rows were answered`);
  return { seconds: (performance.now() - start) / 1000, tokens: tally.counts.inputTokens };
}

function recordingInference(pool, recorded) {
  return {
    slots: pool.slots,
    compile: (checkpoint, set) => pool.compile(checkpoint, set),
    decide: (checkpoint, groups) => {
      recorded.push({ checkpoint, groups });
      return pool.decide(checkpoint, groups);
    },
    close: () => pool.close(),
  };
}

async function openBareLoop(batches) {
  const worker = new Worker(new URL("./bare-loop.js", import.meta.url));
  worker.postMessage({ type: "open", batches });
  await nextMessage(worker);
  return worker;
}

/** Every worker takes the next batch until none is left. */
async function bareLoop(loops, batches) {
  const next = new SharedArrayBuffer(4);
  const start = performance.now();
  for (const worker of loops) worker.postMessage({ type: "loop", next, batches });
  await Promise.all(loops.map(nextMessage));
  return (performance.now() - start) / 1000;
}

function nextMessage(worker) {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
