/**
 * What `qa run` itself costs over a million short rows: rows a second, peak memory, and the journal beside none, by turns, each
 * in a process of its own. The graphs are stood in for (bench/stand-in.js), so every row is all overhead.
 * Usage: node bench/batch.js [rows of the large run, default 1000000] [rows of the compared runs, default 100000]
 */

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineAnswerer } from "../dist/batch/answerer.js";
import { limitHeapGrowth } from "../dist/batch/heap.js";
import { openSink } from "../dist/batch/open-sink.js";
import { createTally } from "../dist/batch/progress/tally.js";
import { run } from "../dist/batch/run.js";
import { createRunStream } from "../dist/batch/write/run-sink.js";
import { everydayQuestions, median, printTable } from "./sample.js";
import { openStandIn, writeRows } from "./stand-in.js";

const TURNS = 5;
const SHORT_STATES = [
  "Where is my order?",
  "I was charged twice this month.",
  "Thank you, all is well now.",
  "The app closes as soon as I open it.",
  "Can I change the address of my delivery?",
];

if (process.argv[2] === "child") await child(process.argv[3], process.argv[4]);
else await parent(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 100_000));

async function parent(large, small) {
  const folder = await mkdtemp(join(tmpdir(), "qa-bench-"));
  const input = join(folder, "small.csv");
  await writeRows(input, small, SHORT_STATES);
  const arms = { none: [], journal: [] };
  for (let turn = 0; turn < TURNS; turn++)
    for (const arm of turn % 2 === 0 ? ["none", "journal"] : ["journal", "none"]) arms[arm].push(measure(arm, input));
  printTable(
    ["journal", "rows", "rows/s, median", "rows/s of each turn", "peak memory (MiB)"],
    Object.entries(arms).map(([arm, all]) => [
      arm === "none" ? "no" : "yes",
      small,
      Math.round(median(all.map((each) => small / each.seconds))),
      all.map((each) => Math.round(small / each.seconds)).join(" "),
      median(all.map((each) => each.peakMiB)).toFixed(0),
    ]),
  );
  const ratios = arms.journal.map((each, turn) => each.seconds / arms.none[turn].seconds);
  console.log(`time with the journal / without, median of ${TURNS} turns: ${median(ratios).toFixed(2)}`);
  const whole = join(folder, "large.csv");
  await writeRows(whole, large, SHORT_STATES);
  const { seconds, peakMiB } = measure("journal", whole);
  console.log(`${large} rows: ${Math.round(large / seconds)} rows/s, peak memory ${peakMiB.toFixed(0)} MiB`);
  await rm(folder, { recursive: true });
}

function measure(arm, input) {
  return JSON.parse(execFileSync(process.execPath, [import.meta.filename, "child", arm, input]).toString());
}

async function child(arm, input) {
  limitHeapGrowth();
  const engine = await openStandIn();
  const files = { out: `${input}.out.csv` };
  const start = performance.now();
  await run(engineAnswerer(engine), {
    inputs: [input],
    read: {},
    state: { stateColumn: "body" },
    questions: everydayQuestions(2),
    output: { format: "csv" },
    files,
    sink:
      arm === "none" ? createRunStream({ files, restart: true }) : await openSink({ files, restart: true, inputs: [] }),
    tally: createTally(),
    onRow: () => {},
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(JSON.stringify({ peakMiB: process.resourceUsage().maxRSS / 1024, seconds }));
}
