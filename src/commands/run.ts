import { stat } from "node:fs/promises";
import { Args, Flags } from "@oclif/core";
import { type Answerer, engineAnswerer } from "../batch/answerer.js";
import { parseErrorLimit } from "../batch/error-limit.js";
import { limitHeapGrowth } from "../batch/heap.js";
import { Journal } from "../batch/journal/journal.js";
import { openSink } from "../batch/open-sink.js";
import { createProgress } from "../batch/progress/create-progress.js";
import { summaryText } from "../batch/progress/summary.js";
import { createTally, type TallyCounts } from "../batch/progress/tally.js";
import { FROM_VALUES } from "../batch/read/format.js";
import { resolveInputs } from "../batch/read/inputs.js";
import { rowsInPart } from "../batch/read/part.js";
import { resolveShard } from "../batch/read/resolve-shard.js";
import { type RunEnd, run } from "../batch/run.js";
import { formatOfOutput, TO_VALUES } from "../batch/write/output-format.js";
import {
  chunkOptionsOf,
  engineFlags,
  longFlags,
  QaCommand,
  questionFlags,
  questionsOf,
  readOptionsOf,
  rowFlags,
  stateOptionsOf,
  stopOnSignals,
} from "../cli.js";
import { type EngineOptions, resolveRemoteConfig } from "../config.js";
import { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { openRemote } from "../remote/remote-answerer.js";

export default class Run extends QaCommand {
  static override summary = "Answer questions over files: one row out for each row in, in order.";
  static override description =
    `Reads CSV, TSV, NDJSON, a JSON array or lines of text, each also gzipped; many files, globs, - for stdin.
A row that cannot be answered keeps its place and says why in \`error\`. A run that was stopped, in whatever way, goes
on with the same command; FILE.qa beside the output says how far it is. NDJSON rows with \`state\` and \`questions\`
are requests of their own and need no --questions.

Exit code: 0 all answered, 3 finished with failed rows, 2 wrong usage, 1 a fatal error, 130 interrupted.`;
  static override examples = [
    "<%= config.bin %> run tickets.csv --preset triage --out answers.csv",
    "<%= config.bin %> run 'mails/*.ndjson.gz' --questions ask.yaml --template 'Subject: {{subject}}\\n{{body}}' -o out.ndjson",
    "<%= config.bin %> run tickets.csv --preset triage --shard 1/4 --out part-1.csv",
    "<%= config.bin %> run tickets.csv --preset triage --endpoint http://10.0.0.5:8080,http://10.0.0.6:8080 -o answers.csv",
    "tail -f app.log | <%= config.bin %> run - --from text --questions ask.yaml",
  ];
  static override args = {
    input: Args.string({
      description: "files, globs, or - for stdin",
      required: true,
      multiple: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    ...questionFlags,
    out: Flags.string({ char: "o", summary: "output file (.ndjson, .csv, also .gz), or - for stdout", default: "-" }),
    to: Flags.option({ options: TO_VALUES })({
      summary: "output format; default: by the name of --out, stdout NDJSON",
    }),
    restart: Flags.boolean({ summary: "begin anew and overwrite the output, instead of going on where it stops" }),
    rejects: Flags.string({
      summary: "NDJSON file for the failed rows, whole, to be mended and run again",
      helpValue: "FILE",
    }),
    "max-errors": Flags.string({
      summary: "end early when more rows fail than this: 20, or 5% (from 100 rows on)",
      helpValue: "N|N%",
    }),
    ...rowFlags,
    from: Flags.option({ options: FROM_VALUES })({ summary: "input format; default: by the file's name" }),
    limit: Flags.integer({ summary: "only the first N rows", min: 1, helpValue: "N" }),
    sample: Flags.integer({ summary: "only N rows drawn at random", min: 1, helpValue: "N" }),
    seed: Flags.integer({ summary: "of --sample: the same seed draws the same rows", default: 1 }),
    shard: Flags.string({
      summary: "only every n-th row, for n processes (then qa merge): 1/4 to 4/4, or auto in a job array",
      helpValue: "i/n|auto",
    }),
    "only-answers": Flags.boolean({ summary: "leave the input out of the output, but for --id-column" }),
    "id-column": Flags.string({ summary: "column that names a row, kept with --only-answers" }),
    probabilities: Flags.boolean({ summary: "CSV: a column for the probability of every option" }),
    ...longFlags,
    ...engineFlags,
    "batch-tokens": Flags.integer({ summary: "tokens of one batch, padding included (default 2048)", min: 1 }),
    endpoint: Flags.string({
      summary: "ask System One services in place of the engine; base URLs, separated by commas; key: TYPESAFE_API_KEY",
      helpValue: "URL[,URL]",
      exclusive: ["workers", "batch-tokens"],
    }),
    "in-flight": Flags.integer({
      summary: "calls in flight per endpoint (default 8)",
      min: 1,
      dependsOn: ["endpoint"],
    }),
    deadline: Flags.integer({
      summary: "seconds for a row at the endpoints, tries again included (default 120)",
      helpValue: "SECONDS",
      min: 1,
      max: 86_400,
      dependsOn: ["endpoint"],
    }),
    quiet: Flags.boolean({ summary: "no progress and no summary" }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Run);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const questions = await questionsOf(flags);
    const inputs = await resolveInputs(argv as string[]);
    const part = flags.shard === undefined ? undefined : resolveShard(flags.shard, process.env);
    const format = formatOfOutput(flags.out, flags.to);
    const maxErrors = flags["max-errors"] === undefined ? undefined : parseErrorLimit(flags["max-errors"]);
    const answerer = await openAnswerer(flags);
    const files = { out: flags.out, rejects: flags.rejects };
    const sink = await openSink({ files, restart: flags.restart, inputs, part });
    const before = sink instanceof Journal ? sink.before : undefined;
    const tally = createTally(before?.tally);
    const size = await totalBytes(inputs);
    let bytes = 0;
    const kind = progressKind(flags);
    const colors = process.env.NO_COLOR === undefined;
    const progress = await createProgress({ kind, stream: process.stderr, files: inputs, colors });
    const { limit } = flags;
    const rowsToRead = limit !== undefined && part !== undefined ? rowsInPart(part, limit) : limit;
    const fractionRead = () => (rowsToRead !== undefined ? tally.counts.rowsRead / rowsToRead : size && bytes / size);
    const started = performance.now();
    let end: RunEnd | undefined;
    try {
      end = await run(answerer, {
        inputs,
        read: { ...readOptionsOf(flags), onBytes: (count) => (bytes += count) },
        state: stateOptionsOf(flags),
        questions,
        model: flags.model,
        limit,
        part,
        sample: flags.sample === undefined ? undefined : { size: flags.sample, seed: flags.seed },
        chunk: chunkOptionsOf(flags),
        output: {
          format,
          onlyAnswers: flags["only-answers"],
          idColumn: flags["id-column"],
          probabilities: flags.probabilities,
          explain: flags.explain,
          chunks: flags.long === "chunk",
        },
        files,
        sink,
        tally,
        maxErrors,
        onRow: () => progress.update(tally.counts, fractionRead()),
        signal,
      });
    } finally {
      await progress.close();
      const elapsedMs = (before?.elapsedMs ?? 0) + performance.now() - started;
      if (!flags.quiet && tally.counts.rows > 0)
        process.stderr.write(summaryText(tally.counts, { elapsedMs, columns: process.stderr.columns ?? 100 }));
      await answerer.close();
    }
    if (!flags.quiet && flags.out !== "-") {
      const stopped = end === "interrupted" ? "interrupted, the same command goes on; " : "";
      process.stderr.write(`\n${stopped}${tally.counts.rows} rows are in ${flags.out}\n`);
    }
    process.exitCode = exitCodeOf(end, tally.counts);
  }
}

interface AnswererFlags extends EngineOptions {
  readonly models?: string | undefined;
  readonly "batch-tokens"?: number | undefined;
  readonly endpoint?: string | undefined;
  readonly "in-flight"?: number | undefined;
  readonly deadline?: number | undefined;
  readonly long: "reject" | "chunk";
}

/** The endpoints that the flags name, else the engine. @throws QaError `invalid_usage`, `unknown_deployment` */
async function openAnswerer(flags: AnswererFlags): Promise<Answerer & { close(): void | Promise<void> }> {
  const { endpoint, deadline } = flags;
  if (endpoint === undefined) {
    const engine = await Engine.open({ ...flags, modelsDir: flags.models, maxBatchTokens: flags["batch-tokens"] });
    return { ...engineAnswerer(engine), close: () => engine.close() };
  }
  if (flags.long === "chunk")
    throw new QaError("invalid_usage", "--long chunk needs the engine's tokenizer; run without --endpoint, or reject");
  return openRemote(resolveRemoteConfig({ endpoint, inFlight: flags["in-flight"], deadlineSeconds: deadline }));
}

/** A screen on a terminal, but not where rows are printed on one too, nor in CI, where ink draws nothing. */
function progressKind({ quiet, out }: { quiet: boolean; out: string }): "screen" | "lines" | "none" {
  if (quiet || (out === "-" && process.stdout.isTTY)) return "none";
  const isCi = (process.env.CI ?? "false") !== "false";
  return process.stderr.isTTY && !isCi ? "screen" : "lines";
}

function exitCodeOf(end: RunEnd, { failed }: TallyCounts): number {
  if (end === "interrupted") return 130;
  return failed > 0 && end === "finished" ? 3 : 0;
}

/** Bytes of all inputs, unknown with stdin. */
async function totalBytes(inputs: readonly string[]): Promise<number | undefined> {
  if (inputs.includes("-")) return undefined;
  const sizes = await Promise.all(inputs.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
