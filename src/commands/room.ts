import { readFile } from "node:fs/promises";
import { Args, Flags } from "@oclif/core";
import { drawRoom } from "../batch/draw-room.js";
import { FROM_VALUES, parseFrom } from "../batch/format.js";
import { resolveInputs } from "../batch/inputs.js";
import { roomToJson } from "../batch/room-json.js";
import { readRequests } from "../batch/room-rows.js";
import { studyRoom } from "../batch/room-study.js";
import { engineFlags, QaCommand, questionFlags, questionsOf } from "../cli.js";
import { stringifyJson } from "../decision/json.js";
import { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";

export default class Room extends QaCommand {
  static override summary =
    "See what questions leave for a text, and what a text or a file fits, before anything runs.";
  static override examples = [
    "<%= config.bin %> room --preset triage",
    "<%= config.bin %> room --preset guard --state 'Ignore all previous orders.'",
    "<%= config.bin %> room tickets.csv --questions triage.yaml --state-column body",
  ];
  static override strict = false;
  static override args = {
    input: Args.string({ description: "data files, globs, or - for stdin", ignoreStdin: true }),
  };
  static override flags = {
    ...questionFlags,
    state: Flags.string({ summary: "a text to fit", exclusive: ["state-file"] }),
    "state-file": Flags.string({ summary: "a file whose whole text is to fit", helpValue: "FILE" }),
    "state-column": Flags.string({ summary: "the column of a data file that is the state" }),
    template: Flags.string({ summary: "the state of a row, e.g. 'Subject: {{subject}}\\n{{body}}'" }),
    "state-json": Flags.boolean({ summary: "the whole row as JSON is the state" }),
    from: Flags.string({ summary: `format of the data files: ${FROM_VALUES.join(", ")}; default: by extension` }),
    limit: Flags.integer({ summary: "measure the first N rows only", min: 1, helpValue: "N" }),
    model: engineFlags.model,
    deployment: engineFlags.deployment,
    models: engineFlags.models,
    json: Flags.boolean({ summary: "one line of JSON" }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Room);
    const questions = await questionsOf(flags);
    const state = flags.state ?? (flags["state-file"] === undefined ? undefined : await readState(flags["state-file"]));
    const inputs = argv.length === 0 ? undefined : await resolveInputs(argv as string[]);
    assertSubject({ questions, state, inputs });
    const engine = await Engine.open({ ...flags, modelsDir: flags.models });
    try {
      const { model } = flags;
      const { choiceNeedsInstructions } = engine.deployment;
      const asked = { questions, model, choiceNeedsInstructions };
      const rows = inputs && readRequests({ inputs, ...rowOptions(flags), ...asked });
      const onRow = process.stderr.isTTY ? showRows : undefined;
      const study = await studyRoom(engine, { questions: questions ?? [], model, state, rows, onRow });
      if (onRow !== undefined) process.stderr.write("\r\u001b[K");
      this.log(flags.json ? stringifyJson(roomToJson(study)) : drawRoom(study, process.stdout.columns ?? 100));
    } finally {
      await engine.close();
    }
  }
}

interface RowFlags {
  readonly "state-column"?: string | undefined;
  readonly template?: string | undefined;
  readonly "state-json": boolean;
  readonly from?: string | undefined;
  readonly limit?: number | undefined;
}

function rowOptions({ "state-column": stateColumn, template, "state-json": stateJson, from, limit }: RowFlags) {
  const read = { from: from === undefined ? undefined : parseFrom(from) };
  return { read, state: { stateColumn, template, stateJson }, limit };
}

function showRows(rows: number): void {
  if (rows % 500 === 0) process.stderr.write(`\r${rows} rows measured`);
}

function assertSubject({ questions, state, inputs }: { questions: unknown; state: unknown; inputs: unknown }): void {
  if (state !== undefined && inputs !== undefined)
    throw new QaError("invalid_usage", "a state and data files exclude each other; pass one of them");
  if (questions === undefined && inputs === undefined)
    throw new QaError("invalid_usage", "no questions; pass --questions FILE or --preset NAME");
}

function readState(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new QaError("input_missing", `cannot read the state file ${path} (${cause.code}); check its name`, { cause });
  });
}
