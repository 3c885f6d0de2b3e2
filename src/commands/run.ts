import { stat } from "node:fs/promises";
import { Args, Flags } from "@oclif/core";
import { AnswerCache } from "../batch/answer-cache.js";
import { answerOnce } from "../batch/answer-once.js";
import { engineAnswerer } from "../batch/answerer.js";
import { drawDryRun } from "../batch/dry-run/draw-dry-run.js";
import { type DryRunOptions, dryRun } from "../batch/dry-run/dry-run.js";
import { dryRunToJson } from "../batch/dry-run/dry-run-json.js";
import { limitHeapGrowth } from "../batch/heap.js";
import { createProgress } from "../batch/progress/create-progress.js";
import { summaryText } from "../batch/progress/summary.js";
import { createTally, type TallyCounts } from "../batch/progress/tally.js";
import { FROM_VALUES } from "../batch/read/format.js";
import { resolveInputs } from "../batch/read/inputs.js";
import { rowsInPart } from "../batch/read/part.js";
import { resolveShard } from "../batch/read/resolve-shard.js";
import { type RunEnd, run } from "../batch/run.js";
import { formatOfOutput, TO_VALUES } from "../batch/write/output-format.js";
import { packOf } from "../batch/write/pack.js";
import { openRowWriter } from "../batch/write/write-rows.js";
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
import { stringifyJson } from "../decision/json.js";
import { Engine } from "../engine/engine.js";
import { identityOf } from "../engine/engine-identity.js";

export default class Run extends QaCommand {
  static override summary = "Answer questions over files: one row out for each row in, in order.";
  static override description =
    `Reads CSV, TSV, NDJSON, a JSON array or lines of text, each also gzipped or zstd, and Parquet; many files, globs,
- for stdin.
A row that cannot be answered keeps its place and says why in \`error\`. NDJSON rows with \`state\` and \`questions\`
are requests of their own and need no --questions.

Exit code: 0 all answered, 3 finished with failed rows, 2 wrong usage, 1 a fatal error, 130 interrupted.`;
  static override examples = [
    "<%= config.bin %> run tickets.csv --preset triage --out answers.csv",
    "<%= config.bin %> run 'mails/*.ndjson.gz' --questions ask.yaml --template 'Subject: {{subject}}\\n{{body}}' -o out.ndjson",
    "<%= config.bin %> run tickets.csv --preset triage --shard 1/4 --out part-1.csv",
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
    out: Flags.string({
      char: "o",
      summary: "output file (.ndjson, .csv, also .gz, .zst), or - for stdout",
      default: "-",
    }),
    to: Flags.option({ options: TO_VALUES })({
      summary: "output format; default: by the name of --out, stdout NDJSON",
    }),
    force: Flags.boolean({ char: "f", summary: "overwrite an output that exists" }),
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
    quiet: Flags.boolean({ summary: "no progress and no summary" }),
    cache: Flags.string({
      summary: "folder that keeps answers for later runs: rows it knows are not answered again",
      helpValue: "DIR",
    }),
    "dry-run": Flags.boolean({
      summary: "answer and write nothing: rows, routes, tokens, what is too long, duplicates, expected time and size",
    }),
    json: Flags.boolean({ summary: "with --dry-run: one line of JSON", dependsOn: ["dry-run"] }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Run);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const questions = await questionsOf(flags);
    const inputs = await resolveInputs(argv as string[]);
    const part = flags.shard === undefined ? undefined : resolveShard(flags.shard, process.env);
    const asked = {
      inputs,
      read: readOptionsOf(flags),
      state: stateOptionsOf(flags),
      questions,
      model: flags.model,
      limit: flags.limit,
      part,
      sample: flags.sample === undefined ? undefined : { size: flags.sample, seed: flags.seed },
      chunk: chunkOptionsOf(flags),
      output: {
        format: formatOfOutput(flags.out, flags.to),
        onlyAnswers: flags["only-answers"],
        idColumn: flags["id-column"],
        probabilities: flags.probabilities,
        explain: flags.explain,
        chunks: flags.long === "chunk",
      },
      signal,
    };
    const tally = createTally();
    const size = await totalBytes(inputs);
    let bytes = 0;
    const cache = flags.cache === undefined || flags["dry-run"] ? undefined : AnswerCache.open(flags.cache);
    const engine = await Engine.open({ ...flags, modelsDir: flags.models, maxBatchTokens: flags["batch-tokens"] });
    if (flags["dry-run"]) return this.#dryRun(engine, { ...flags, ...asked });
    const identity = cache && (await identityOf(engine));
    const kind = progressKind(flags);
    const colors = process.env.NO_COLOR === undefined;
    const progress = await createProgress({ kind, stream: process.stderr, files: inputs, colors });
    const { limit } = flags;
    const rowsToRead = limit !== undefined && part !== undefined ? rowsInPart(part, limit) : limit;
    const fractionRead = () => (rowsToRead !== undefined ? tally.counts.rowsRead / rowsToRead : size && bytes / size);
    const started = performance.now();
    let end: RunEnd | undefined;
    try {
      end = await run(answerOnce(engineAnswerer(engine), { store: cache, identity }), {
        ...asked,
        read: { ...asked.read, onBytes: (count) => (bytes += count) },
        openWriter: () => openRowWriter({ out: flags.out, force: flags.force, inputs }),
        tally,
        onRow: () => progress.update(tally.counts, fractionRead()),
      });
    } finally {
      await progress.close();
      const elapsedMs = performance.now() - started;
      if (!flags.quiet && tally.counts.rows > 0)
        process.stderr.write(summaryText(tally.counts, { elapsedMs, columns: process.stderr.columns ?? 100 }));
      await engine.close();
      const failure = cache?.close();
      if (failure !== undefined) process.stderr.write(`qa: went on without the cache: ${failure.message}\n`);
    }
    if (!flags.quiet && flags.out !== "-") {
      const stopped = end === "interrupted" ? "interrupted; " : "";
      process.stderr.write(`\n${stopped}${tally.counts.rows} rows are in ${flags.out}\n`);
    }
    process.exitCode = exitCodeOf(end, tally.counts);
  }

  async #dryRun(
    engine: Engine,
    options: DryRunOptions & { readonly out: string; readonly json: boolean; readonly quiet: boolean },
  ): Promise<void> {
    const { out, json, quiet, signal } = options;
    const isShown = process.stderr.isTTY && !quiet;
    try {
      const onRow = isShown ? showRows : undefined;
      const found = await dryRun(engine, { ...options, pack: packOf(out), onRow });
      if (isShown) process.stderr.write("\r\u001b[K");
      const columns = process.stdout.columns ?? 100;
      const isChunked = options.chunk !== undefined;
      this.log(json ? stringifyJson(dryRunToJson(found)) : drawDryRun(found, { columns, out, isChunked }));
    } catch (error) {
      if (!signal.aborted) throw error;
      process.exitCode = 130;
    } finally {
      await engine.close();
    }
  }
}

function showRows(rows: number): void {
  if (rows % 500 === 0) process.stderr.write(`\r${rows} rows read`);
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
