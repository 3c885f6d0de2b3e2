import { Args, Flags } from "@oclif/core";
import { parseDelimiter } from "../batch/delimiter.js";
import { FROM_VALUES, parseFrom } from "../batch/format.js";
import { resolveInputs } from "../batch/inputs.js";
import { formatOfOutput, TO_VALUES } from "../batch/output-format.js";
import { run } from "../batch/run.js";
import { createTally } from "../batch/tally.js";
import { openRowWriter } from "../batch/write-rows.js";
import { chunkOptionsOf, engineFlags, longFlags, QaCommand, questionFlags, questionsOf, stopOnSignals } from "../cli.js";
import { Engine } from "../engine/engine.js";

export default class Run extends QaCommand {
  static override strict = false;
  static override summary = "Answer questions over files: one row out for each row in, in order.";
  static override args = { input: Args.string({ description: "files, globs, or - for stdin", required: true }) };
  static override flags = { ...questionFlags, ...engineFlags, ...longFlags,
    out: Flags.string({ char: "o", default: "-" }), to: Flags.option({options: TO_VALUES})({}), force: Flags.boolean(),
    from: Flags.option({options: FROM_VALUES})({}), delimiter: Flags.string(),
    "state-column": Flags.string(), template: Flags.string(), "state-json": Flags.boolean(), limit: Flags.integer(), sample: Flags.integer(), seed: Flags.integer({default: 1}),
    "only-answers": Flags.boolean(), "id-column": Flags.string(), probabilities: Flags.boolean(),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Run);
    const inputs = await resolveInputs(argv as string[]);
    const questions = await questionsOf(flags);
    const tally = createTally();
    const engine = await Engine.open({ ...flags, modelsDir: flags.models });
    const t0 = performance.now();
    const end = await run(engine, { inputs, read: { from: flags.from && parseFrom(flags.from), delimiter: flags.delimiter && parseDelimiter(flags.delimiter) }, state: {stateColumn: flags["state-column"], template: flags.template, stateJson: flags["state-json"]}, questions, model: flags.model, limit: flags.limit, sample: undefined, chunk: chunkOptionsOf(flags), output: {format: formatOfOutput(flags.out, flags.to), onlyAnswers: flags["only-answers"], idColumn: flags["id-column"], probabilities: flags.probabilities, explain: flags.explain, chunks: flags.long === "chunk"}, openWriter: () => openRowWriter({out: flags.out, force: flags.force, inputs}), tally, onRow: () => {}, signal: stopOnSignals() });
    await engine.close();
    console.error(end, tally.counts, performance.now()-t0);
  }
}
