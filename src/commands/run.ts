import { stat } from "node:fs/promises";
import { Args } from "@oclif/core";
import type { Answerer } from "../batch/answerer.js";
import { drawDryRun } from "../batch/dry-run/draw-dry-run.js";
import { dryRun } from "../batch/dry-run/dry-run.js";
import { dryRunToJson } from "../batch/dry-run/dry-run-json.js";
import { limitHeapGrowth } from "../batch/heap.js";
import { countOf } from "../batch/progress/amounts.js";
import { createProgress } from "../batch/progress/create-progress.js";
import { summaryText } from "../batch/progress/summary.js";
import type { TallyCounts } from "../batch/progress/tally.js";
import { rowsInPart } from "../batch/read/part.js";
import type { RunEnd } from "../batch/run.js";
import { type AskedRun, Sitting } from "../batch/sitting.js";
import { openAnswerer, openEngine } from "../cli/open-answerer.js";
import { QaCommand, stopOnSignals } from "../cli/qa-command.js";
import { type RunFlags, runFlags, runOf } from "../cli/run-flags.js";
import { openRunReport } from "../cli/run-report.js";
import { stringifyJson } from "../decision/json.js";

export default class Run extends QaCommand {
  static override summary = "Answer questions over files: one row out for each row in, in order.";
  static override description =
    `Reads CSV, TSV, NDJSON, a JSON array or lines of text, each also gzipped or zstd, and Parquet. NDJSON rows with \
\`state\` and \`questions\` are requests of their own and need no --questions.

A row that cannot be answered keeps its place and says why in \`error\`. A run that was stopped, in whatever way, goes \
on with the same command; FILE.qa beside the output says how far it is.

Exit code: 0 all answered, 3 finished with failed rows, 2 wrong usage, 1 a fatal error, 130 interrupted.`;
  static override usage = "run INPUT... [-q FILE | -p NAME] [-o FILE] [FLAGS]";
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
  static override flags = runFlags;

  async run(): Promise<void> {
    const { argv, flags, metadata } = await this.parse(Run);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const asked = await runOf(flags, argv as string[]);
    if (flags["dry-run"]) return this.#dryRun(asked, flags, signal);
    const isDefault = (flag: string) => metadata.flags[flag]?.setFromDefault === true;
    const report = await openRunReport(flags, asked, { version: this.config.version, isDefault });
    const answerer = await openAnswerer(flags);
    try {
      const sitting = await Sitting.open(asked, { restart: flags.restart, retryFailed: flags["retry-failed"] });
      const end = await report.follow(sitting, watched(sitting, { answerer, asked, flags, signal }));
      const { counts } = sitting.tally;
      if (!flags.quiet && flags.out !== "-") {
        const stopped = end === "interrupted" ? "interrupted, the same command goes on; " : "";
        const rows = `${countOf(counts.rows, "row")} ${counts.rows === 1 ? "is" : "are"}`;
        process.stderr.write(`\n${stopped}${rows} in ${flags.out}\n`);
      }
      process.exitCode = exitCodeOf(end, counts);
    } finally {
      await answerer.close();
    }
  }

  async #dryRun(asked: AskedRun, flags: RunFlags, signal: AbortSignal): Promise<void> {
    const engine = await openEngine(flags);
    const onRow = process.stderr.isTTY && !flags.quiet ? showRows : undefined;
    try {
      const found = await dryRun(engine, { ...asked, onRow, signal });
      if (onRow !== undefined) process.stderr.write("\r\u001b[K");
      const drawn = { columns: process.stdout.columns ?? 100, out: flags.out, isChunked: flags.long === "chunk" };
      this.log(flags.json ? stringifyJson(dryRunToJson(found)) : drawDryRun(found, drawn));
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

interface Invocation {
  readonly answerer: Answerer;
  readonly asked: AskedRun;
  readonly flags: RunFlags;
  readonly signal: AbortSignal;
}

/** Runs a sitting with its progress shown, and prints what it comes to, also where it fails. */
async function watched(sitting: Sitting, { answerer, asked, flags, signal }: Invocation): Promise<RunEnd> {
  const { inputs, limit, part } = asked;
  const { counts } = sitting.tally;
  const size = await totalBytes(inputs);
  let bytes = 0;
  const rowsToRead = limit !== undefined && part !== undefined ? rowsInPart(part, limit) : limit;
  const fractionRead = () => (rowsToRead !== undefined ? counts.rowsRead / rowsToRead : size && bytes / size);
  const colors = process.env.NO_COLOR === undefined;
  const progress = await createProgress({
    kind: progressKind(flags),
    stream: process.stderr,
    files: inputs,
    colors,
    signal,
  });
  const onRow = () => progress.update(counts, fractionRead());
  const onBytes = (count: number) => {
    bytes += count;
  };
  let isRun = false; // one that is refused has come to nothing, though its earlier sittings have
  try {
    const end = await sitting.run(answerer, { onRow, onBytes, signal });
    isRun = true;
    return end;
  } finally {
    await progress.close();
    const { elapsedMs, thisRows } = sitting.timing;
    if (!flags.quiet && counts.rows > 0 && (isRun || thisRows > 0))
      process.stderr.write(summaryText(counts, { elapsedMs, columns: process.stderr.columns ?? 100 }));
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
