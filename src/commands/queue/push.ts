import { resolve } from "node:path";
import { Args, Flags } from "@oclif/core";
import { countOf } from "../../batch/progress/amounts.js";
import { resolveInputs } from "../../batch/read/inputs.js";
import { parseBand } from "../../batch/review/band.js";
import {
  chunkOptionsOf,
  engineFlags,
  longFlags,
  questionFlags,
  queueFlags,
  readOptionsOf,
  rowFlags,
  stateOptionsOf,
} from "../../cli/flags.js";
import { QaCommand, stopOnSignals } from "../../cli/qa-command.js";
import { runFlags } from "../../cli/run-flags.js";
import { resolveEngineConfig, resolveRedisUrl } from "../../config.js";
import { QaError } from "../../errors.js";
import { openQueue } from "../../queue/open-queue.js";
import { type QuestionsSource, type RunSettings, resolveQueueName } from "../../queue/part-job.js";
import { pushRun } from "../../queue/push-run.js";

export default class QueuePush extends QaCommand {
  static override summary = "Put a run on a queue, in parts that any number of workers answer.";
  static override description =
    `Reads the input once, counts its rows and puts parts of --chunk-rows of them on a queue in Redis: names of files and
numbers of rows, never texts. The workers have to see the same files, under the same names. Pushing again adds
nothing twice, and gives parts that failed another try.`;
  static override examples = [
    "<%= config.bin %> queue push tickets.csv --preset triage --to csv --out parts",
    "<%= config.bin %> queue work --out parts --until-empty",
    "<%= config.bin %> merge parts/part-* -o answers.csv",
  ];
  static override args = { input: Args.string({ description: "files or globs", required: true, multiple: true }) };
  static override flags = {
    ...questionFlags,
    out: Flags.string({ char: "o", summary: "folder for the parts", helpValue: "DIR", required: true }),
    "chunk-rows": Flags.integer({ summary: "rows of a part", default: 1000, min: 1 }),
    attempts: Flags.integer({ summary: "tries before a part counts as failed", default: 3, min: 1 }),
    backoff: Flags.integer({
      summary: "seconds before the second try, doubled for each further one",
      default: 5,
      min: 0,
    }),
    ...queueFlags,
    to: Flags.option({ options: ["ndjson", "csv"] as const, default: "ndjson" })({ summary: "format of the parts" }),
    ...rowFlags,
    from: runFlags.from,
    limit: runFlags.limit,
    "only-answers": runFlags["only-answers"],
    "id-column": runFlags["id-column"],
    probabilities: runFlags.probabilities,
    ...longFlags,
    uncertain: runFlags.uncertain,
    model: engineFlags.model,
    deployment: engineFlags.deployment,
    quiet: Flags.boolean({ summary: "no summary" }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(QueuePush);
    const inputs = await resolveInputs(argv as string[]);
    if (inputs.includes("-"))
      throw new QaError("invalid_usage", "stdin cannot be shared by workers; write it to a file");
    const name = resolveQueueName(flags);
    const { deployment } = resolveEngineConfig(flags);
    const settings: RunSettings = {
      questions: questionsSourceOf(flags),
      read: readOptionsOf(flags),
      state: stateOptionsOf(flags),
      limit: flags.limit,
      model: flags.model,
      deployment: deployment.endsWith(".json") ? resolve(deployment) : deployment,
      chunk: chunkOptionsOf(flags),
      output: {
        format: flags.to,
        onlyAnswers: flags["only-answers"],
        idColumn: flags["id-column"],
        probabilities: flags.probabilities,
        explain: flags.explain,
        chunks: flags.long === "chunk",
        band: flags.uncertain === undefined ? undefined : parseBand(flags.uncertain),
      },
    };
    const run = {
      inputs: inputs.map((file) => resolve(file)),
      out: resolve(flags.out),
      rowsPerPart: flags["chunk-rows"],
      settings,
    };
    const signal = stopOnSignals();
    const opened = await openQueue({ redis: resolveRedisUrl(flags.redis), name });
    try {
      const { attempts, backoff } = flags;
      const pushed = await pushRun(opened, run, { attempts, backoffMs: backoff * 1000, signal });
      const { rows, parts, added, retried } = pushed;
      if (!flags.quiet)
        process.stderr.write(
          `${countOf(rows, "row")} in ${countOf(parts, "part")} on queue ${name}: ${added} new, ${retried} tried again\n`,
        );
    } finally {
      await opened.close();
    }
  }
}

function questionsSourceOf(flags: {
  questions?: string | undefined;
  preset?: string | undefined;
}): QuestionsSource | undefined {
  if (flags.questions !== undefined && flags.preset !== undefined)
    throw new QaError("invalid_usage", "--questions and --preset exclude each other; pass one of them");
  if (flags.questions !== undefined) return { type: "file", file: resolve(flags.questions) };
  return flags.preset === undefined ? undefined : { type: "preset", name: flags.preset };
}
