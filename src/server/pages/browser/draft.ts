/**
 * Questions as the form holds them, and the way to and from the wire's JSON. Pure. A draft keeps what each type needs, so
 * that changing a question's type and back loses nothing; integer-like labels keep their place because objects are Maps.
 */

import { entriesOf, isJsonObject, type JsonValue, parseJson, stringifyJson, valueAt } from "../../../decision/json.js";
import { MAX_LABELS, MAX_LEVELS, type QuestionType } from "../../../decision/question.js";

/** A text of a question; one that was given as an object or array is edited as its JSON. */
export interface TextDraft {
  text: string;
  readonly isJson: boolean;
}

export interface QuestionDraft {
  id: string;
  type: QuestionType;
  instructions: TextDraft;
  labels: { label: string; description: TextDraft }[];
  levels: TextDraft[];
  noul: { readonly true: TextDraft; readonly false: TextDraft };
  isOpen: boolean;
}

/** Where in the form an issue belongs; `row` counts labels, levels, or yes (0) and no (1). */
export interface Place {
  readonly question: number;
  readonly field: "question" | "id" | "type" | "instructions" | "criteria";
  readonly row?: number | undefined;
}

export interface PlacedIssue {
  readonly place: Place;
  readonly message: string;
}

const NOUL_ROWS = ["true", "false"] as const;

export function emptyText(): TextDraft {
  return { text: "", isJson: false };
}

/** A new yes/no question with the first free id. */
export function newQuestion(taken: readonly QuestionDraft[]): QuestionDraft {
  const ids = new Set(taken.map(({ id }) => id));
  let number = taken.length + 1;
  while (ids.has(`question_${number}`)) number++;
  return { ...emptyQuestion(), id: `question_${number}`, isOpen: true };
}

function emptyQuestion(): QuestionDraft {
  return {
    id: "",
    type: "noul",
    instructions: emptyText(),
    labels: [newLabel(), newLabel()],
    levels: [emptyText(), emptyText(), emptyText()],
    noul: { true: emptyText(), false: emptyText() },
    isOpen: false,
  };
}

export function newLabel(): QuestionDraft["labels"][number] {
  return { label: "", description: emptyText() };
}

/** Rows that a question's criteria may grow to. */
export function maxRows(type: QuestionType): number {
  return type === "choice" ? MAX_LABELS : MAX_LEVELS;
}

/** The wire's `questions` of the drafts, and the issues that only the form can see. */
export function questionsOf(drafts: readonly QuestionDraft[]): { questions: JsonValue; issues: PlacedIssue[] } {
  const issues: PlacedIssue[] = [];
  const report = (place: Place, message: string) => issues.push({ place, message });
  const questions = new Map<string, JsonValue>();
  drafts.forEach((draft, question) => {
    if (draft.id === "") report({ question, field: "id" }, "needs an id");
    else if (questions.has(draft.id)) report({ question, field: "id" }, "another question has this id");
    questions.set(draft.id, questionOf(draft, question, report));
  });
  return { questions, issues };
}

type Report = (place: Place, message: string) => void;

function questionOf(draft: QuestionDraft, question: number, report: Report): JsonValue {
  const read = (text: TextDraft, place: Omit<Place, "question">) =>
    jsonOf(text, () => report({ question, ...place }, NO_JSON));
  const instructions = read(draft.instructions, { field: "instructions" });
  const criteria = criteriaOf(draft, {
    read: (text, row) => read(text, { field: "criteria", row }),
    report: (row, message) => report({ question, field: "criteria", row }, message),
  });
  const fields = { type: draft.type, instructions, criteria };
  return new Map<string, JsonValue>(Object.entries(fields).filter(([, value]) => value !== null));
}

const NO_JSON = "is not JSON; this text was given as an object or array";

function jsonOf({ text, isJson }: TextDraft, onFault: () => void): JsonValue {
  if (text === "") return null;
  if (!isJson) return text;
  try {
    return parseJson(text);
  } catch {
    onFault();
    return text;
  }
}

interface RowTools {
  readonly read: (text: TextDraft, row: number) => JsonValue;
  readonly report: (row: number, message: string) => void;
}

function criteriaOf(draft: QuestionDraft, { read, report }: RowTools): JsonValue {
  switch (draft.type) {
    case "choice": {
      const criteria = new Map<string, JsonValue>();
      draft.labels.forEach(({ label, description }, row) => {
        if (label === "") report(row, "needs a label");
        else if (criteria.has(label)) report(row, "another option has this label");
        criteria.set(label, read(description, row));
      });
      return criteria;
    }
    case "score":
      return draft.levels.map(read);
    case "noul": {
      const rows = NOUL_ROWS.map((key, row) => [key, read(draft.noul[key], row)] as const);
      const given = rows.filter(([, value]) => value !== null);
      return given.length === 0 ? null : new Map(given);
    }
    default:
      return draft.type satisfies never;
  }
}

/** Drafts of the wire's `questions`; `undefined` where the form could not hold all of it. */
export function draftsOf(questions: JsonValue): QuestionDraft[] | undefined {
  if (!isJsonObject(questions)) return undefined;
  const drafts = entriesOf(questions).map(([id, question]) => draftOf(id, question));
  return drafts.every((draft) => draft !== undefined) ? drafts : undefined;
}

function draftOf(id: string, question: JsonValue): QuestionDraft | undefined {
  if (!isJsonObject(question)) return undefined;
  const type = valueAt(question, "type");
  const instructions = textOf(valueAt(question, "instructions") ?? null);
  if ((type !== "choice" && type !== "noul" && type !== "score") || instructions === undefined) return undefined;
  const criteria = rowsOf(type, valueAt(question, "criteria") ?? null);
  return criteria && { ...emptyQuestion(), id, type, instructions, ...criteria };
}

function rowsOf(type: QuestionType, criteria: JsonValue): Partial<QuestionDraft> | undefined {
  switch (type) {
    case "choice": {
      if (!isJsonObject(criteria)) return undefined;
      const labels = entriesOf(criteria).map(([label, value]) => ({ label, description: textOf(value) }));
      return labels.every(hasDescription) ? { labels } : undefined;
    }
    case "score": {
      if (!Array.isArray(criteria)) return undefined;
      const levels = (criteria as JsonValue[]).map(textOf);
      return levels.every((level) => level !== undefined) ? { levels } : undefined;
    }
    case "noul": {
      if (criteria === null) return {};
      if (!isJsonObject(criteria)) return undefined;
      const [yes, no] = NOUL_ROWS.map((key) => textOf(valueAt(criteria, key) ?? null));
      const isKnown = entriesOf(criteria).every(([key]) => key === "true" || key === "false");
      return isKnown && yes && no ? { noul: { true: yes, false: no } } : undefined;
    }
    default:
      return type satisfies never;
  }
}

function hasDescription<T>(row: {
  label: string;
  description: T | undefined;
}): row is { label: string; description: T } {
  return row.description !== undefined;
}

function textOf(value: JsonValue): TextDraft | undefined {
  if (value === null) return emptyText();
  if (typeof value === "string") return { text: value, isJson: false };
  return typeof value === "object" ? { text: stringifyJson(value), isJson: true } : undefined;
}

/**
 * The place in the form of an issue's path; `undefined` where it belongs to no single question. Ids and labels may hold dots:
 * of the questions that a path may mean, one is taken that has such a field.
 */
export function placeOf(path: string, drafts: readonly QuestionDraft[]): Place | undefined {
  const meant = drafts.flatMap((draft, question) => {
    const own = `questions.${draft.id}`;
    if (path !== own && !path.startsWith(`${own}.`)) return [];
    return [placeWithin(draft, question, path.slice(own.length + 1))];
  });
  return (meant.find(({ isCertain }) => isCertain) ?? meant[0])?.place;
}

function placeWithin(draft: QuestionDraft, question: number, path: string): { place: Place; isCertain: boolean } {
  const [field = "", ...rest] = path.split(".");
  if (field === "type" || field === "instructions") return { place: { question, field }, isCertain: rest.length === 0 };
  if (field !== "criteria") return { place: { question, field: "question" }, isCertain: path === "" };
  if (rest.length === 0) return { place: { question, field }, isCertain: true };
  const row = rowOf(draft, rest.join("."));
  return { place: { question, field, row }, isCertain: row !== undefined };
}

function rowOf(draft: QuestionDraft, label: string): number | undefined {
  const labels: readonly string[] = {
    choice: draft.labels.map((row) => row.label),
    score: draft.levels.map((_, level) => String(level)),
    noul: NOUL_ROWS,
  }[draft.type];
  const row = labels.indexOf(label);
  return row < 0 ? undefined : row;
}
