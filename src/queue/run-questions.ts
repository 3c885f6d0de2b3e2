/** The questions of a pushed run, read where they are needed: a job names their file and does not hold them. */

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
