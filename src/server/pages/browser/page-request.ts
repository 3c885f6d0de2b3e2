/** The request that a page holds, read from its fields, and what is wrong with it, found by the server's own parser. Pure. */

import { entriesOf, isJsonObject, type JsonValue, parseJson } from "../../../decision/json.js";
import { parseQuestions } from "../../../decision/question.js";
import { parseRequest } from "../../../decision/request.js";
import { type PlacedIssue, type QuestionDraft, questionsOf } from "./draft.js";
import { type Failure, failureOfIssues, type PathIssue } from "./failure.js";

export interface PageFields {
  /** Empty means the default. */
  readonly model: string;
  readonly state: { readonly text: string; readonly isJson: boolean };
  /** What is edited: the form's drafts, or JSON text. */
  readonly questions: readonly QuestionDraft[] | string;
  readonly choiceNeedsInstructions: boolean;
}

export interface PageRequest {
  /** As far as it could be read; a part that is not JSON is null. */
  readonly state: JsonValue;
  readonly questions: JsonValue;
  readonly body: JsonValue;
  readonly failure: Failure | undefined;
}

export function readRequest({
  model,
  state: given,
  questions: edited,
  choiceNeedsInstructions,
}: PageFields): PageRequest {
  const state = given.isJson ? readJson(given.text, "state") : { value: given.text, faults: [] };
  const questions = readQuestions(edited);
  const named = model === "" ? [] : [["model", model] as const];
  const body = new Map<string, JsonValue>([...named, ["state", state.value], ["questions", questions.value]]);
  const parsed = parseRequest(body, { choiceNeedsInstructions });
  const faults = [...state.faults, ...questions.faults];
  const unreadable = new Set(faults.map(({ path }) => path));
  const issues = parsed.type === "issues" ? parsed.issues.filter(({ path }) => !unreadable.has(path)) : [];
  const isWhole = faults.length === 0 && issues.length === 0 && questions.placed.length === 0;
  const failure = failureOfIssues([...faults, ...issues], typeof edited === "string" ? [] : edited);
  return {
    state: state.value,
    questions: questions.value,
    body,
    failure: isWhole ? undefined : { ...failure, placed: [...questions.placed, ...failure.placed] },
  };
}

interface ReadPart {
  readonly value: JsonValue;
  readonly faults: readonly PathIssue[];
}

function readQuestions(edited: PageFields["questions"]): ReadPart & { readonly placed: readonly PlacedIssue[] } {
  if (typeof edited === "string") return { ...readJson(edited, "questions"), placed: [] };
  const { questions, issues } = questionsOf(edited);
  return { value: questions, faults: [], placed: issues };
}

function readJson(text: string, path: string): ReadPart {
  try {
    return { value: parseJson(text), faults: [] };
  } catch (error) {
    return { value: null, faults: [{ path, message: faultMessage(String(error)) }] };
  }
}

/** Where JSON breaks, as far as the browser's own message tells. */
function faultMessage(said: string): string {
  const [, line, column] = /line (\d+),? column (\d+)/.exec(said) ?? [];
  return line === undefined ? "not JSON" : `not JSON: it breaks in line ${line} at character ${column}`;
}

/** The number of questions, and those of them whose room can be measured: the ones that are finished. */
export function finishedOf(questions: JsonValue): { readonly count: number; readonly finished: JsonValue } {
  const entries = isJsonObject(questions) ? entriesOf(questions) : [];
  const isFinished = (entry: [string, JsonValue]) => parseQuestions(new Map([entry])).issues.length === 0;
  return { count: entries.length, finished: new Map(entries.filter(isFinished)) };
}
