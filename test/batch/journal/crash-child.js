/**
 * A run in a process of its own, to be killed: the built engine and journal with inference stood in for, so that it starts
 * fast and takes its time for rows. Arguments: a JSON object of its options.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { engineAnswerer } from "../../../dist/batch/answerer.js";
import { Journal } from "../../../dist/batch/journal/journal.js";
import { createTally } from "../../../dist/batch/progress/tally.js";
import { run } from "../../../dist/batch/run.js";
import { DEFAULT_COMBINE_RULES } from "../../../dist/decision/combine.js";
import { parseQuestions } from "../../../dist/decision/question.js";
import { Engine } from "../../../dist/engine/engine.js";
import { failWrites } from "./fail-writes.js";

const { input, out, rejects, format, batchMs, intervalMs, failAfterBytes, failCode } = JSON.parse(process.argv[2]);
if (failCode !== undefined) await failWrites(failCode, failAfterBytes);

const { questions } = parseQuestions({
  urgent: { type: "noul", instructions: "Is it urgent?" },
  team: { type: "choice", instructions: "Which team?", criteria: { "billing, refunds": null, 'the "rest"': null } },
});

/** Logits that follow from the tokens alone. */
const inference = {
  slots: 2,
  compile: async (_checkpoint, asked) => ({ options: asked.flatMap(({ options }) => options).length }),
  async decide(_checkpoint, groups) {
    await sleep(batchMs);
    return groups.flatMap(({ prefix, states }) =>
      states.map((ids) => {
        const sum = ids.reduce((total, id, at) => total + id * (at + 1), 0);
        return Float32Array.from({ length: prefix.options }, (_, option) => Math.sin(sum + option));
      }),
    );
  },
  close: async () => {},
};

const engine = await Engine.open({ maxBatchTokens: 1024 }, inference);
const files = { out, rejects };
const sink = await Journal.open({ files, restart: false, intervalMs });
try {
  await run(engineAnswerer(engine), {
    inputs: [input],
    read: {},
    state: { stateColumn: "body" },
    questions,
    model: "core-0.3.20",
    chunk: { overlap: 1, combine: DEFAULT_COMBINE_RULES },
    output: { format, chunks: true },
    files,
    sink,
    tally: createTally(sink.before?.tally),
    onRow: () => process.stdout.write("."), // so that it can be killed at a row
    signal: new AbortController().signal,
  });
} catch (error) {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await engine.close();
}
