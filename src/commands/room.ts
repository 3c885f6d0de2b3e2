import { readFile } from "node:fs/promises";
import { Args, Flags } from "@oclif/core";
import { FROM_VALUES } from "../batch/read/format.js";
import { resolveInputs } from "../batch/read/inputs.js";
import { openRequests } from "../batch/read/read-requests.js";
import { drawRoom } from "../batch/room/draw-room.js";
import { roomToJson } from "../batch/room/room-json.js";
import { studyRoom } from "../batch/room/room-study.js";
import {
  engineFlags,
  inGroup,
  questionFlags,
  questionsOf,
  readOptionsOf,
  rowFlags,
  stateOptionsOf,
} from "../cli/flags.js";
import { QaCommand } from "../cli/qa-command.js";
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
  static override args = {
    input: Args.string({ description: "data files, globs, or - for stdin", multiple: true, ignoreStdin: true }),
  };
  static override flags = {
    ...questionFlags,
    state: Flags.string({ summary: "a text to fit", helpValue: "TEXT", exclusive: ["state-file"] }),
    "state-file": Flags.string({ summary: "a file whose whole text is to fit", helpValue: "FILE" }),
    ...inGroup("input", {
      from: Flags.option({ options: FROM_VALUES })({ summary: "format of the data files; default: by their names" }),
      ...rowFlags,
      limit: Flags.integer({ summary: "measure the first N rows only", min: 1, helpValue: "N" }),
    }),
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
      const asked = { questions, model, choiceNeedsInstructions, limit: flags.limit };
      const read = { read: readOptionsOf(flags), state: stateOptionsOf(flags) };
      const rows = inputs && (await openRequests({ inputs, ...read, ...asked })).all;
      const onRow = process.stderr.isTTY ? showRows : undefined;
      const study = await studyRoom(engine, { questions: questions ?? [], model, state, rows, onRow });
      if (onRow !== undefined) process.stderr.write("\r\u001b[K");
      this.log(flags.json ? stringifyJson(roomToJson(study)) : drawRoom(study, process.stdout.columns ?? 100));
    } finally {
      await engine.close();
    }
  }
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
