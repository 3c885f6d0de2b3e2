/**
 * What inference workers take of memory and time: for each checkpoint how long its sessions take to open and what they add to a
 * process; then the peak of a small run with one worker and with two, where both checkpoints of deployment `a` are asked. Each
 * in processes of its own, by turns. Reads /proc, so it runs on Linux. Usage: node bench/workers.js [turns=3] [rows=40]
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { limitHeapGrowth } from "../dist/batch/heap.js";
import { resolveEngineConfig } from "../dist/config.js";
import { Engine } from "../dist/engine/engine.js";
import { openOnnxSession } from "../dist/engine/session.js";
import { everydayQuestions, median, printTable, ticketStates } from "./sample.js";

const WORKERS = [1, 2];
const { modelsDir } = resolveEngineConfig();

if (process.argv[2] === "open") await open(process.argv[3]);
else if (process.argv[2] === "run") await run(Number(process.argv[3]), Number(process.argv[4]));
else parent(...process.argv.slice(2).map(Number));

function parent(turns = 3, rows = 40) {
  const names = readdirSync(modelsDir);
  const opened = byTurns(turns, names, (name) => measure("open", name));
  printTable(
    ["checkpoint", "open (ms)", "memory (MiB)", "peak while opening (MiB)"],
    names.map((name) => [name, ...["ms", "mib", "peakMib"].map((key) => medianOf(opened.get(name), key))]),
  );
  const runs = byTurns(turns, WORKERS, (workers) => measure("run", workers, rows));
  console.log(`\n${rows} tickets, each asked of both checkpoints; median of ${turns}`);
  printTable(
    ["workers", "peak memory (MiB)", "seconds"],
    WORKERS.map((workers) => [workers, medianOf(runs.get(workers), "peakMib"), medianOf(runs.get(workers), "seconds")]),
  );
}

/** What `measureOne` says of each, `turns` times, in turn. */
function byTurns(turns, each, measureOne) {
  const all = new Map(each.map((one) => [one, []]));
  for (let turn = 0; turn < turns; turn++) for (const one of each) all.get(one).push(measureOne(one));
  return all;
}

function medianOf(measured, key) {
  return median(measured.map((each) => each[key])).toFixed(key === "seconds" ? 1 : 0);
}

function measure(...args) {
  return JSON.parse(execFileSync(process.execPath, [import.meta.filename, ...args.map(String)]).toString());
}

async function open(name) {
  const folder = `${modelsDir}/${name}`;
  const { graphs } = JSON.parse(readFileSync(`${folder}/checkpoint.json`, "utf8"));
  const before = mibOf("VmRSS");
  const start = performance.now();
  for (const graph of Object.values(graphs)) await openOnnxSession(`${folder}/${graph}`);
  const ms = performance.now() - start;
  report({ ms, mib: mibOf("VmRSS") - before, peakMib: mibOf("VmHWM") - before });
}

async function run(workers, rows) {
  limitHeapGrowth();
  const start = performance.now();
  const engine = await Engine.open({ workers });
  const { english, multilingual } = engine.deployment.checkpoints;
  const questions = everydayQuestions(8);
  const requests = (await ticketStates(rows)).flatMap((state, i) =>
    [english, multilingual].map((model) => ({ request: { model, state: `${i} ${state}`, questions } })),
  );
  for await (const { outcome } of engine.decideAll(requests)) if (outcome instanceof Error) throw outcome;
  await engine.close();
  report({ peakMib: mibOf("VmHWM"), seconds: (performance.now() - start) / 1000 });
}

function mibOf(key) {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
}

function report(measured) {
  process.stdout.write(JSON.stringify(measured));
}
