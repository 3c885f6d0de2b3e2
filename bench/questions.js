/**
 * What a further question costs: rows/s at 1 to 32 questions a row, one state of some 200 tokens, all sizes in turn in one
 * run. Usage: node bench/questions.js [rows=24] [rounds=3]
 */

import { Engine } from "../dist/engine/engine.js";
import { everydayQuestions, median, printTable, stateOfWords } from "./sample.js";

const [rows = 24, rounds = 3] = process.argv.slice(2).map(Number);
const COUNTS = [1, 2, 4, 8, 16, 32];

const engine = await Engine.open();
for (const model of [engine.deployment.checkpoints.english, engine.deployment.checkpoints.multilingual]) {
  const requests = (count) => {
    const questions = everydayQuestions(count);
    return Array.from({ length: rows }, (_, i) => ({
      request: { model, state: `${i} ${stateOfWords(180)}`, questions },
    }));
  };
  const bySize = new Map(COUNTS.map((count) => [count, requests(count)]));
  for (const items of bySize.values()) await measure(items.slice(0, 2)); // compiles the sets, opens the sessions
  const seconds = new Map(COUNTS.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++)
    for (const [count, items] of bySize) seconds.get(count).push((await measure(items)) / rows);

  const cost = new Map([...seconds].map(([count, times]) => [count, median(times)]));
  const first = cost.get(1);
  console.log(`\n${model}: ${rows} rows, median of ${rounds} rounds, ${engine.config.workers} workers`);
  printTable(
    ["questions", "rows/s", "answers/s", "time of a row, 1 question = 1"],
    COUNTS.map((count) => [
      count,
      (1 / cost.get(count)).toFixed(1),
      (count / cost.get(count)).toFixed(1),
      (cost.get(count) / first).toFixed(2),
    ]),
  );
  const marginal = (from, to) => (cost.get(to) - cost.get(from)) / (to - from) / first;
  console.log(
    `the 8th question costs ${marginal(4, 8).toFixed(2)} of a row with one, the 32nd ${marginal(16, 32).toFixed(2)}`,
  );
}
await engine.close();

async function measure(items) {
  const start = performance.now();
  for await (const { outcome } of engine.decideAll(items, { limits: "split" }))
    if (outcome instanceof Error) throw outcome;
  return (performance.now() - start) / 1000;
}
