import { Args, Flags } from "@oclif/core";
import { limitHeapGrowth } from "../batch/heap.js";
import { isSidecarName } from "../batch/journal/sidecar.js";
import { mergeParts } from "../batch/merge/merge-parts.js";
import { resolveInputs } from "../batch/read/inputs.js";
import { QaCommand, stopOnSignals } from "../cli/qa-command.js";

export default class Merge extends QaCommand {
  static override summary = "Put the parts of a run together, once it is proved that they are one whole run.";
  static override description =
    `Takes the outputs of qa run --shard, or of qa queue, each with the FILE.qa beside it, in any order. Proves that all \
parts are there and none twice, over one input and made alike, and restores the order of the input. Where a proof \
fails, nothing is written.

Exit code: 0 merged, 2 the parts are not one whole run, 1 a file is damaged or could not be written, 130 interrupted.`;
  static override examples = [
    "<%= config.bin %> merge part-*.csv -o answers.csv",
    "<%= config.bin %> merge parts/part-* -o answers.ndjson.gz",
  ];
  static override args = {
    part: Args.string({ description: "outputs of a run, or globs", required: true, multiple: true, ignoreStdin: true }),
  };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "output file, of the format of the parts (.ndjson, .csv, also .gz, .zst)",
      helpValue: "FILE",
      required: true,
    }),
    force: Flags.boolean({ char: "f", summary: "overwrite an output that exists" }),
    quiet: Flags.boolean({ summary: "no summary" }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Merge);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const named = await resolveInputs(argv as string[]);
    const files = named.filter((file) => !isSidecarName(file)); // that `part-*` names too
    const merged = await mergeParts(files, { out: flags.out, force: flags.force, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      process.exitCode = 130;
    });
    if (merged !== undefined && !flags.quiet)
      process.stderr.write(`${merged.rows} rows of ${files.length} parts are in ${flags.out}\n`);
  }
}
