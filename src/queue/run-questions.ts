/** The questions of a pushed run, read where they are needed: a job names their file and does not hold them. */

import { createHash } from "node:crypto";
import { loadPreset, loadQuestions } from "../batch/questions-file.js";
import { PACKAGE_DIR } from "../config.js";
import type { Question } from "../decision/question.js";
import type { QuestionsSource } from "./part-job.js";

/**
 * Loads the questions of a run; `undefined` where its rows carry their own.
 * @throws QaError `input_missing`, `invalid_usage`
 */
export async function loadRunQuestions(source: QuestionsSource | undefined): Promise<readonly Question[] | undefined> {
  if (source === undefined) return undefined;
  return source.type === "file" ? loadQuestions(source.file) : loadPreset(source.name, `${PACKAGE_DIR}presets`);
}

/** What tells whether questions are still the same; their order counts. */
export function digestOfQuestions(questions: readonly Question[] | undefined): string {
  const text = JSON.stringify(questions ?? null, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
