/** The flags of `qa run`, and the run that they describe. */

import { existsSync } from "node:fs";
import { Flags, type Interfaces } from "@oclif/core";
import { parseErrorLimit } from "../batch/error-limit.js";
import { sidecarOf } from "../batch/journal/sidecar.js";
import { FROM_VALUES } from "../batch/read/format.js";
import { resolveInputs } from "../batch/read/inputs.js";
import { resolveShard } from "../batch/read/resolve-shard.js";
import { resolveReview } from "../batch/review/resolve-review.js";
import type { AskedRun } from "../batch/sitting.js";
import { formatOfOutput, TO_VALUES } from "../batch/write/output-format.js";
import {
  chunkOptionsOf,
  engineFlags,
  inGroup,
  longFlags,
  questionFlags,
  questionsOf,
  readOptionsOf,
  rowFlags,
  stateOptionsOf,
} from "./flags.js";
import { endpointFlags } from "./open-answerer.js";

const outputFlags = inGroup("output", {
  out: Flags.string({
    char: "o",
    summary: "output file (.ndjson, .csv, also .gz, .zst), or - for stdout",
    helpValue: "FILE",
    default: "-",
  }),
  to: Flags.option({ options: TO_VALUES })({
    summary: "output format; default: by the name of --out, stdout NDJSON",
  }),
  "only-answers": Flags.boolean({ summary: "leave the input out of the output, but for --id-column" }),
  "id-column": Flags.string({ summary: "column that names a row, kept with --only-answers", helpValue: "COLUMN" }),
  probabilities: Flags.boolean({ summary: "CSV: a column for the probability of every option" }),
  uncertain: Flags.string({
    summary: "mark answers whose probability (yes/no) or confidence lies in a band: 0.4..0.6",
    helpValue: "LOW..HIGH",
  }),
  review: Flags.string({
    summary: "a file of the uncertain answers with a field for a person's own (.csv or .ndjson)",
    helpValue: "FILE",
  }),
  report: Flags.string({
    summary: "a report of the run: answers, errors, routes, timing (.html or .json)",
    helpValue: "FILE",
    exclusive: ["dry-run"],
  }),
  quiet: Flags.boolean({ summary: "no progress and no summary" }),
});

const inputFlags = inGroup("input", {
  from: Flags.option({ options: FROM_VALUES })({ summary: "input format; default: by the file's name" }),
  ...rowFlags,
  limit: Flags.integer({ summary: "only the first N rows", min: 1, helpValue: "N" }),
  sample: Flags.integer({ summary: "only N rows drawn at random", min: 1, helpValue: "N" }),
  seed: Flags.integer({
    summary: "of --sample: the same seed draws the same rows (default 1)",
    helpValue: "N",
    dependsOn: ["sample"],
  }),
  shard: Flags.string({
    summary: "only every n-th row, for n processes (then qa merge): 1/4 to 4/4, or auto in a job array",
    helpValue: "i/n|auto",
  }),
});

const againFlags = inGroup("going on and failure", {
  restart: Flags.boolean({ summary: "begin anew and overwrite the output, instead of going on where it stops" }),
  rejects: Flags.string({
    summary: "NDJSON file for the failed rows, whole, to be mended and run again",
    helpValue: "FILE",
  }),
  "retry-failed": Flags.boolean({
    summary: "of a finished run: answer its failed rows again, in their places",
    exclusive: ["restart", "dry-run"],
  }),
  "max-errors": Flags.string({
    summary: "end early when more rows fail than this: 20, or 5% (from 100 rows on)",
    helpValue: "N|N%",
  }),
});

const ownEngineFlags = inGroup("engine", {
  "batch-tokens": Flags.integer({
    summary: "tokens of one batch, padding included (default 2048)",
    helpValue: "N",
    min: 1,
  }),
  cache: Flags.string({
    summary: "folder that keeps answers for later runs: rows it knows are not answered again",
    helpValue: "DIR",
  }),
});

const dryRunFlags = inGroup("dry run", {
  "dry-run": Flags.boolean({
    summary: "answer and write nothing: rows, routes, tokens, what is too long, duplicates, expected time and size",
    exclusive: ["endpoint"],
  }),
  json: Flags.boolean({ summary: "with --dry-run: one line of JSON", dependsOn: ["dry-run"] }),
});

/** In the order of the help. */
export const runFlags = {
  ...questionFlags,
  ...inputFlags,
  ...outputFlags,
  ...dryRunFlags,
  ...againFlags,
  ...longFlags,
  ...engineFlags,
  ...ownEngineFlags,
  ...endpointFlags,
};

export type RunFlags = Interfaces.InferredFlags<typeof runFlags>;

/**
 * The run that the flags describe.
 * @param patterns of its inputs
 * @throws QaError `invalid_usage`, `input_missing`, `input_unsupported`
 */
export async function runOf(flags: RunFlags, patterns: readonly string[]): Promise<AskedRun> {
  const { out, rejects, limit, sample, seed, shard, model } = flags;
  const maxErrors = flags["max-errors"];
  const { band, review } = resolveReview(flags);
  const questions = await questionsOf(flags);
  const files = { out, rejects, review: review?.file };
  return {
    inputs: await resolveInputs(patterns, { leaveOut: writtenBefore([...Object.values(files), flags.report], out) }),
    read: readOptionsOf(flags),
    state: stateOptionsOf(flags),
    questions,
    model,
    limit,
    part: shard === undefined ? undefined : resolveShard(shard, process.env),
    sample: sample === undefined ? undefined : { size: sample, seed: seed ?? 1 },
    chunk: chunkOptionsOf(flags),
    output: {
      format: formatOfOutput(out, flags.to),
      onlyAnswers: flags["only-answers"],
      idColumn: flags["id-column"],
      probabilities: flags.probabilities,
      explain: flags.explain,
      chunks: flags.long === "chunk",
      band,
    },
    review,
    files,
    maxErrors: maxErrors === undefined ? undefined : parseErrorLimit(maxErrors),
  };
}

/** What earlier sittings of a run left, which a glob beside it finds when the run goes on. */
function writtenBefore(files: readonly (string | undefined)[], out: string): readonly string[] {
  const sidecar = sidecarOf(out);
  if (!existsSync(sidecar)) return [];
  return [...files.filter((file) => file !== undefined), sidecar, `${sidecar}.lock`];
}
