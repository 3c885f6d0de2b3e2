import { stat } from "node:fs/promises";
import { Args, Flags } from "@oclif/core";
import { engineAnswerer } from "../batch/answerer.js";
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
import { reportOf } from "../batch/report/report.js";
import { prepareReport } from "../batch/report/report-file.js";
import { reportedOptions } from "../batch/report/report-options.js";
import { resolveReview } from "../batch/review/resolve-review.js";
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
import { Engine } from "../engine/engine.js";
import { type QaError, toQaError } from "../errors.js";

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
    review: Flags.string({
      summary: "a file of the uncertain answers with a field for a person's own (.csv or .ndjson)",
      helpValue: "FILE",
    }),
    uncertain: Flags.string({
      summary: "mark answers whose probability (yes/no) or confidence lies in a band: 0.4..0.6",
      helpValue: "LOW..HIGH",
    }),
    report: Flags.string({
      summary: "a report of the run: answers, errors, routes, timing (.html or .json)",
      helpValue: "FILE",
    }),
    ...engineFlags,
    "batch-tokens": Flags.integer({ summary: "tokens of one batch, padding included (default 2048)", min: 1 }),
    quiet: Flags.boolean({ summary: "no progress and no summary" }),
  };

  async run(): Promise<void> {
    const { argv, flags, metadata } = await this.parse(Run);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const questions = await questionsOf(flags);
    const inputs = await resolveInputs(argv as string[]);
    const part = flags.shard === undefined ? undefined : resolveShard(flags.shard, process.env);
    const format = formatOfOutput(flags.out, flags.to);
    const maxErrors = flags["max-errors"] === undefined ? undefined : parseErrorLimit(flags["max-errors"]);
    const { band, review } = resolveReview(flags);
    const files = { out: flags.out, rejects: flags.rejects, review: review?.file };
    const others = [...inputs, ...Object.values(files)];
    const reportFile = flags.report === undefined ? undefined : await prepareReport({ file: flags.report, others });
    const sink = await openSink({ files, restart: flags.restart, inputs, part });
    const before = sink instanceof Journal ? sink.before : undefined;
    const tally = createTally(before?.tally, { band });
    const rowsBefore = tally.counts.rows;
    const size = await totalBytes(inputs);
    let bytes = 0;
    const engine = await Engine.open({ ...flags, modelsDir: flags.models, maxBatchTokens: flags["batch-tokens"] });
    const kind = progressKind(flags);
    const colors = process.env.NO_COLOR === undefined;
    const progress = await createProgress({ kind, stream: process.stderr, files: inputs, colors });
    const { limit } = flags;
    const rowsToRead = limit !== undefined && part !== undefined ? rowsInPart(part, limit) : limit;
    const fractionRead = () => (rowsToRead !== undefined ? tally.counts.rowsRead / rowsToRead : size && bytes / size);
    const started = performance.now();
    const startedAt = new Date();
    let end: RunEnd | undefined;
    let failure: QaError | undefined;
    try {
      end = await run(engineAnswerer(engine), {
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
          band,
        },
        files,
        sink,
        tally,
        maxErrors,
        onRow: () => progress.update(tally.counts, fractionRead()),
        signal,
      });
    } catch (error) {
      failure = toQaError(error);
      throw error;
    } finally {
      await progress.close();
      const elapsedMs = (before?.elapsedMs ?? 0) + performance.now() - started;
      if (!flags.quiet && tally.counts.rows > 0)
        process.stderr.write(summaryText(tally.counts, { elapsedMs, columns: process.stderr.columns ?? 100 }));
      await engine.close();
      const rows = tally.counts.rows - rowsBefore;
      const report = reportOf(tally.counts, {
        version: this.config.version,
        end: end ?? "failed",
        error: failure,
        inputs,
        output: flags.out,
        review: review?.file,
        questions,
        options: reportedOptions(flags, (name) => metadata.flags[name]?.setFromDefault === true),
        band,
        startedAt,
        writtenAt: new Date(),
        sittings: (before?.sittings ?? 0) + 1,
        elapsedMs,
        thisSitting: { rows, elapsedMs: performance.now() - started },
      });
      const isToTell = rows > 0 || end !== undefined;
      if (isToTell && failure === undefined) await reportFile?.write(report);
      else if (isToTell) await reportFile?.write(report).catch(() => {}); // what came first is what is told
    }
    if (!flags.quiet && flags.out !== "-") {
      const stopped = end === "interrupted" ? "interrupted, the same command goes on; " : "";
      process.stderr.write(`\n${stopped}${tally.counts.rows} rows are in ${flags.out}\n`);
    }
    process.exitCode = exitCodeOf(end, tally.counts);
  }
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
