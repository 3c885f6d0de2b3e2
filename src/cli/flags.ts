/** Flags that several commands share, and what they mean. */

import { Flags, type Interfaces } from "@oclif/core";
import { loadPreset, loadQuestions } from "../batch/questions-file.js";
import { parseDelimiter } from "../batch/read/delimiter.js";
import { parseFrom } from "../batch/read/format.js";
import type { ReadOptions } from "../batch/read/read-rows.js";
import type { StateOptions } from "../batch/read/state-of-row.js";
import { PACKAGE_DIR } from "../config.js";
import { type CombineRules, DEFAULT_COMBINE_RULES } from "../decision/combine.js";
import type { Question } from "../decision/question.js";
import type { ChunkOptions } from "../engine/chunked-reading.js";
import { QaError } from "../errors.js";

/** The flags under a heading of their own in the help. */
export function inGroup<T extends Interfaces.FlagInput>(helpGroup: string, flags: T): T {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, helpGroup }])) as T;
}

export const engineFlags = inGroup("engine", {
  model: Flags.string({
    summary: "who answers: an alias or a checkpoint; default: the state's language decides",
    helpValue: "NAME",
  }),
  deployment: Flags.string({
    summary: "a, b, or the path of a deployment file (default a)",
    helpValue: "NAME|FILE",
    env: "QA_DEPLOYMENT",
  }),
  models: Flags.directory({
    summary: "folder of checkpoints; default: those that ship with qa",
    helpValue: "DIR",
    env: "QA_MODELS",
  }),
  workers: Flags.integer({
    summary:
      "inference workers, one core each; default: one a core, as far as three quarters of the memory hold them (1,000 MiB each)",
    helpValue: "N",
    min: 1,
  }),
});

export const questionFlags = inGroup("question", {
  questions: Flags.string({ char: "q", summary: "questions file, YAML or JSON in the wire's form", helpValue: "FILE" }),
  preset: Flags.string({
    char: "p",
    summary: "questions that ship with qa: triage, email, review, moderation, guard",
    helpValue: "NAME",
  }),
});

export const longFlags = inGroup("long text", {
  long: Flags.option({ options: ["reject", "chunk"] as const, default: "reject" })({
    summary: "a state over the room: reject it as an error, or answer it in chunks",
  }),
  overlap: Flags.integer({
    summary: "sentences (of a list: items) that a chunk repeats of the one before (default 1)",
    helpValue: "N",
    min: 0,
  }),
  combine: Flags.option({ options: ["best", "mean"] as const })({
    summary:
      "of the chunks' answers: the best (default; yes/no: highest probability; else: highest confidence) or their mean",
  }),
  explain: Flags.boolean({ summary: "with chunks: also what each chunk answered" }),
});

export const rowFlags = inGroup("input", {
  "state-column": Flags.string({
    summary:
      "column (JSON: dotted path) that is the text; default: the only one, or state, text, body, message, content, description",
    helpValue: "COLUMN",
  }),
  template: Flags.string({
    summary: "the text from several columns: 'Subject: {{subject}}\\n{{body}}'",
    helpValue: "TEXT",
  }),
  "state-json": Flags.boolean({ summary: "the whole row as a JSON object is the text" }),
  delimiter: Flags.string({
    summary: "of CSV cells, one character or 'tab'; default: found in the header",
    helpValue: "CHARACTER",
  }),
});

export const queueFlags = inGroup("queue", {
  queue: Flags.string({ summary: "name of the queue; default: made from --out", helpValue: "NAME" }),
  redis: Flags.string({
    summary: "where Redis is (default QA_REDIS_URL, REDIS_URL, or redis://127.0.0.1:6379)",
    helpValue: "URL",
  }),
});

/** How the flags want rows to be read. @throws QaError `invalid_usage` */
export function readOptionsOf(flags: { from?: string | undefined; delimiter?: string | undefined }): ReadOptions {
  return {
    from: flags.from === undefined ? undefined : parseFrom(flags.from),
    delimiter: flags.delimiter === undefined ? undefined : parseDelimiter(flags.delimiter),
  };
}

/** Which part of a row the flags name as the state. */
export function stateOptionsOf(flags: {
  "state-column"?: string | undefined;
  template?: string | undefined;
  "state-json": boolean;
}): StateOptions {
  return { stateColumn: flags["state-column"], template: flags.template, stateJson: flags["state-json"] };
}

const COMBINE: Record<"best" | "mean", CombineRules> = {
  best: DEFAULT_COMBINE_RULES,
  mean: { noul: "mean", choice: "mean", score: "mean" },
};

/**
 * The chunk options that the flags ask for, none with `--long reject`.
 * @throws QaError `invalid_usage`: flags about chunks where there are none
 */
export function chunkOptionsOf(flags: {
  long: "reject" | "chunk";
  overlap?: number | undefined;
  combine?: "best" | "mean" | undefined;
  explain?: boolean;
}): ChunkOptions | undefined {
  const { long, overlap, combine, explain } = flags;
  if (long === "chunk") return { overlap: overlap ?? 1, combine: COMBINE[combine ?? "best"] };
  if (overlap !== undefined || combine !== undefined || explain === true)
    throw new QaError("invalid_usage", "--overlap, --combine and --explain are about chunks; add --long chunk");
  return undefined;
}

/**
 * The questions that the flags name, none where they name none.
 * @throws QaError `invalid_usage`, `input_missing`
 */
export async function questionsOf(flags: {
  questions?: string | undefined;
  preset?: string | undefined;
}): Promise<readonly Question[] | undefined> {
  if (flags.questions !== undefined && flags.preset !== undefined)
    throw new QaError("invalid_usage", "--questions and --preset exclude each other; pass one of them");
  if (flags.questions !== undefined) return loadQuestions(flags.questions);
  return flags.preset === undefined ? undefined : loadPreset(flags.preset, `${PACKAGE_DIR}presets`);
}
