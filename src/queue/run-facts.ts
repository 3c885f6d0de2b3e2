/** What a run is when it is pushed: its input, read once to its end, and its questions; and whether these rows can be asked. */

import { openRequests, questionSetsOf } from "../batch/read/read-requests.js";
import { createOutput } from "../batch/write/output-format.js";
import type { PushedRun, RunFacts } from "./part-job.js";
import { digestOfQuestions, loadRunQuestions } from "./run-questions.js";

/**
 * Reads the input of a run to its end.
 * @throws QaError `invalid_usage`: the settings do not fit its rows; those of reading, `aborted`
 */
export async function readRunFacts(
  { inputs, settings }: Pick<PushedRun, "inputs" | "settings">,
  signal: AbortSignal,
): Promise<RunFacts> {
  const questions = await loadRunQuestions(settings.questions);
  const { read, state, limit, model, output } = settings;
  // the deployment's rule on choices concerns rows with their own questions, which fail one by one
  const asked = { questions, model, limit, choiceNeedsInstructions: false };
  const { head, all, seen } = await openRequests({ inputs, read: { ...read, signal }, state, ...asked });
  const sample = head.map(({ row }) => row);
  createOutput({ sample, mayVary: false, questionSets: questionSetsOf(head, questions) }, output);
  for await (const _ of all);
  return { rows: seen.rows, digest: seen.value, questions: digestOfQuestions(questions) };
}
