/**
 * A typed question: its parsed form and the parser that collects every issue with its path (CONTRACT 1).
 * Inside the house a `Question` is always valid; the wire's form never goes past this file.
 */

import { entriesOf, isJsonObject, type JsonValue, renderText, valueAt } from "./json.js";

export type QuestionType = "choice" | "score" | "noul";

/** One option of a question: a choice's label, a score's level number, or `false` / `true`. */
export interface Option {
  readonly label: string;
  /** Rendered description, absent where the label stands alone. */
  readonly description: string | undefined;
}

export interface Question {
  readonly id: string;
  readonly type: QuestionType;
  /** Rendered instructions, absent where the question has none. */
  readonly instructions: string | undefined;
  /** choice and score in the order given; noul always `false`, `true`. */
  readonly options: readonly Option[];
  /** Score only: the criteria as given, echoed in the answer's legend. */
  readonly legend: readonly JsonValue[];
}

export interface Issue {
  /** Dotted path inside the request, e.g. `questions.urgency.criteria`. */
  readonly path: string;
  readonly message: string;
}

export interface QuestionRules {
  /** Whether a choice must have instructions; lenient by default. */
  readonly choiceNeedsInstructions: boolean;
}

export const MAX_LABELS = 255;
export const MAX_LEVELS = 10;

type Report = (path: string, message: string) => void;

/** Parses the wire's `questions` object; the questions parsed are complete only where no issue was found. */
export function parseQuestions(
  value: unknown,
  rules: QuestionRules = { choiceNeedsInstructions: false },
): { questions: readonly Question[]; issues: readonly Issue[] } {
  const issues: Issue[] = [];
  const report: Report = (path, message) => issues.push({ path, message });
  if (!isJsonObject(value)) {
    report("questions", `must be an object of question id -> question, not ${kindOf(value)}`);
    return { questions: [], issues };
  }
  const entries = entriesOf(value);
  if (entries.length === 0) report("questions", "must hold at least one question");
  const questions = entries.flatMap(([id, question]) => parseQuestion(id, question, { rules, report }) ?? []);
  return { questions, issues };
}

function parseQuestion(
  id: string,
  value: JsonValue,
  { rules, report }: { rules: QuestionRules; report: Report },
): Question | undefined {
  const path = `questions.${id}`;
  if (!isJsonObject(value)) {
    report(path, `must be an object with a type, not ${kindOf(value)}`);
    return undefined;
  }
  const type = valueAt(value, "type");
  if (type !== "choice" && type !== "noul" && type !== "score") {
    report(`${path}.type`, 'must be "choice", "noul" or "score"');
    return undefined;
  }
  const given = valueAt(value, "instructions") ?? undefined;
  if (given !== undefined && !isText(given))
    report(`${path}.instructions`, `must be a string, an object or an array, not ${kindOf(given)}`);
  const instructions = given !== undefined && isText(given) ? renderText(given) : undefined;
  if (type === "choice" && given === undefined && rules.choiceNeedsInstructions)
    report(`${path}.instructions`, "a choice needs instructions here");
  const parsed = parseCriteria(type, valueAt(value, "criteria") ?? undefined, (at, message) =>
    report(`${path}.criteria${at}`, message),
  );
  if (type === "noul" && given === undefined && parsed.options.every((option) => option.description === undefined))
    report(path, "a noul needs instructions or criteria");
  return { id, type, instructions, ...parsed };
}

type Criteria = Pick<Question, "options" | "legend">;

function parseCriteria(type: QuestionType, criteria: JsonValue | undefined, report: Report): Criteria {
  switch (type) {
    case "choice":
      return parseChoice(criteria, report);
    case "score":
      return parseScore(criteria, report);
    case "noul":
      return parseNoul(criteria, report);
    default:
      return type satisfies never;
  }
}

function parseChoice(criteria: JsonValue | undefined, report: Report): Criteria {
  if (!isJsonObject(criteria)) {
    report("", `a choice needs an object of label -> description, not ${kindOf(criteria)}`);
    return { options: [], legend: [] };
  }
  const entries = entriesOf(criteria);
  if (entries.length === 0) report("", "a choice needs at least one label");
  if (entries.length > MAX_LABELS) report("", `has ${entries.length} labels; at most ${MAX_LABELS} are allowed`);
  const options = entries.map(([label, value]) => ({ label, description: describe(value, `.${label}`, report) }));
  return { options, legend: [] };
}

function parseScore(criteria: JsonValue | undefined, report: Report): Criteria {
  if (!Array.isArray(criteria)) {
    report("", `a score needs an array of level descriptions, lowest first, not ${kindOf(criteria)}`);
    return { options: [], legend: [] };
  }
  if (criteria.length === 0) report("", "a score needs at least one level");
  if (criteria.length > MAX_LEVELS) report("", `has ${criteria.length} levels; at most ${MAX_LEVELS} are allowed`);
  const options = criteria.map((value: JsonValue, level) => ({
    label: String(level),
    description: describe(value, `.${level}`, report),
  }));
  return { options, legend: criteria };
}

function parseNoul(criteria: JsonValue | undefined, report: Report): Criteria {
  const none = { label: "", description: undefined };
  const bare = {
    options: [
      { ...none, label: "false" },
      { ...none, label: "true" },
    ],
    legend: [],
  };
  if (criteria === undefined) return bare;
  if (!isJsonObject(criteria)) {
    report("", `a noul's criteria must be an object with true and/or false, not ${kindOf(criteria)}`);
    return bare;
  }
  for (const [key] of entriesOf(criteria))
    if (key !== "true" && key !== "false") report(`.${key}`, "a noul's criteria know the keys true and false only");
  const options = ["false", "true"].map((label) => ({
    label,
    description: describe(valueAt(criteria, label) ?? null, `.${label}`, report),
  }));
  return { options, legend: [] };
}

function describe(value: JsonValue, at: string, report: Report): string | undefined {
  if (value === null) return undefined;
  if (isText(value)) return renderText(value);
  report(at, `must be a string, an object, an array or null, not ${kindOf(value)}`);
  return undefined;
}

function isText(value: JsonValue): value is Exclude<JsonValue, null | boolean | number> {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** What a value is, for messages that must not show it. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
