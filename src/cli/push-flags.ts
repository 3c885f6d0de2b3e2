/** The flags of `qa queue push`, and the run that they put on the queue. */

import { resolve } from "node:path";
import { Flags, type Interfaces } from "@oclif/core";
import { resolveInputs } from "../batch/read/inputs.js";
import { parseBand } from "../batch/review/band.js";
import { resolveEngineConfig } from "../config.js";
import { QaError } from "../errors.js";
import type { PushedRun, QuestionsSource } from "../queue/part-job.js";
import {
  chunkOptionsOf,
  engineFlags,
  inGroup,
  longFlags,
  questionFlags,
  queueFlags,
  readOptionsOf,
  rowFlags,
  stateOptionsOf,
} from "./flags.js";
import { runFlags } from "./run-flags.js";

export const pushFlags = {
  ...questionFlags,
  out: Flags.string({ char: "o", summary: "folder for the parts", helpValue: "DIR", required: true }),
  "chunk-rows": Flags.integer({ summary: "rows of a part", helpValue: "N", default: 1000, min: 1 }),
  attempts: Flags.integer({ summary: "tries before a part counts as failed", helpValue: "N", default: 3, min: 1 }),
  backoff: Flags.integer({
    summary: "seconds before the second try, doubled for each further one",
    helpValue: "SECONDS",
    default: 5,
    min: 0,
  }),
  ...queueFlags,
  from: runFlags.from,
  ...rowFlags,
  limit: runFlags.limit,
  ...inGroup("output", {
    to: Flags.option({ options: ["ndjson", "csv"] as const, default: "ndjson" })({ summary: "format of the parts" }),
  }),
  "only-answers": runFlags["only-answers"],
  "id-column": runFlags["id-column"],
  probabilities: runFlags.probabilities,
  uncertain: runFlags.uncertain,
  ...longFlags,
  model: engineFlags.model,
  deployment: engineFlags.deployment,
  quiet: Flags.boolean({ summary: "no summary" }),
};

export type PushFlags = Interfaces.InferredFlags<typeof pushFlags>;

/**
 * The run that the flags describe, all its paths absolute.
 * @param patterns of its inputs
 * @throws QaError `invalid_usage`, `input_missing`, `input_unsupported`
 */
export async function pushedRunOf(flags: PushFlags, patterns: readonly string[]): Promise<PushedRun> {
  const inputs = await resolveInputs(patterns);
  if (inputs.includes("-")) throw new QaError("invalid_usage", "stdin cannot be shared by workers; write it to a file");
  const { limit, model, uncertain } = flags;
  const { deployment } = resolveEngineConfig(flags);
  return {
    inputs: inputs.map((file) => resolve(file)),
    out: resolve(flags.out),
    rowsPerPart: flags["chunk-rows"],
    settings: {
      questions: questionsSourceOf(flags),
      read: readOptionsOf(flags),
      state: stateOptionsOf(flags),
      limit,
      model,
      deployment: deployment.endsWith(".json") ? resolve(deployment) : deployment,
      chunk: chunkOptionsOf(flags),
      output: {
        format: flags.to,
        onlyAnswers: flags["only-answers"],
        idColumn: flags["id-column"],
        probabilities: flags.probabilities,
        explain: flags.explain,
        chunks: flags.long === "chunk",
        band: uncertain === undefined ? undefined : parseBand(uncertain),
      },
    },
  };
}

function questionsSourceOf({ questions, preset }: PushFlags): QuestionsSource | undefined {
  if (questions !== undefined && preset !== undefined)
    throw new QaError("invalid_usage", "--questions and --preset exclude each other; pass one of them");
  if (questions !== undefined) return { type: "file", file: resolve(questions) };
  return preset === undefined ? undefined : { type: "preset", name: preset };
}
