/** Where on the page a failed call belongs. Pure. */

import { isJsonObject, type JsonObject, type JsonValue, valueAt } from "../../../decision/json.js";
import { type PlacedIssue, placeOf, type QuestionDraft } from "./draft.js";

export interface ApiError {
  readonly code: string;
  readonly message: string;
  /** The whole error object of the body; empty where there was none. */
  readonly details: JsonObject;
}

export interface Failure {
  /** For the line above the answers. */
  readonly message: string;
  readonly placed: readonly PlacedIssue[];
  /** Issues of the questions as a whole. */
  readonly questions: readonly string[];
  readonly state: string;
  readonly model: string;
  /** The key was refused. */
  readonly key: boolean;
}

export interface PathIssue {
  readonly path: string;
  readonly message: string;
}

/** Sorts issues to the fields that they are about. */
export function failureOfIssues(issues: readonly PathIssue[], drafts: readonly QuestionDraft[]): Failure {
  const placed: PlacedIssue[] = [];
  const left: PathIssue[] = [];
  for (const issue of issues) {
    const place = placeOf(issue.path, drafts);
    if (place === undefined) left.push(issue);
    else placed.push({ place, message: issue.message });
  }
  const at = (path: string) =>
    left
      .filter((issue) => issue.path === path)
      .map(({ message }) => message)
      .join("; ");
  const questions = left
    .filter(({ path }) => path.startsWith("questions"))
    .map(({ path, message }) => `${path}: ${message}`);
  return {
    ...nothing,
    message: MEND,
    placed,
    questions,
    state: at("state"),
    model: at("model"),
  };
}

/** Opens the list of what a person has to mend. */
export const MEND = "This cannot be asked yet:";
const nothing: Failure = { message: "", placed: [], questions: [], state: "", model: "", key: false };

/** Sorts a refused call's error to the fields that it is about. */
export function failureOf({ code, message, details }: ApiError, drafts: readonly QuestionDraft[]): Failure {
  const plain = { ...nothing, message: `${sentence(message)}${waitOf(details)} (${code})` };
  switch (code) {
    case "invalid_request":
      return failureOfIssues(issuesOf(details), drafts);
    case "unauthorized":
      return { ...plain, key: true };
    case "unknown_model":
      return { ...plain, model: message };
    case "too_many_questions":
    case "processed_tokens_exceeded":
      return { ...plain, questions: [message] };
    case "question_too_long":
    case "too_many_options": {
      const place = placeOf(`questions.${String(valueAt(details, "question"))}`, drafts);
      return place === undefined ? plain : { ...plain, placed: [{ place, message }] };
    }
    case "state_too_long":
      return { ...plain, state: message };
    default:
      return plain;
  }
}

function issuesOf(details: JsonValue): PathIssue[] {
  const issues = isJsonObject(details) ? valueAt(details, "issues") : undefined;
  if (!Array.isArray(issues)) return [];
  return issues.map((issue) => ({ path: String(valueAt(issue, "path")), message: String(valueAt(issue, "message")) }));
}

function waitOf(details: JsonValue): string {
  const resetsAt = isJsonObject(details) ? valueAt(details, "resets_at") : undefined;
  return typeof resetsAt === "string"
    ? ` The allowance starts anew ${resetsAt.replace("T", " ").replace(/(:\d\d)(:\d\d.*)?$/, "$1")} UTC.`
    : "";
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
