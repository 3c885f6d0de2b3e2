/**
 * Which checkpoint reads a state: the English or the multilingual one, and why (CONTRACT 4). Pure: the language detector is
 * handed in and asked only where the script has not decided.
 */

import type { JsonValue } from "../decision/json.js";
import { stateStrings } from "../decision/request.js";
import type { Role } from "./deployment.js";

export interface RoutingRules {
  /** The checkpoint for a text whose language is undecided. */
  readonly undecided: Role;
  /** Letters that a text needs before "English" is believed. */
  readonly englishMinLetters: number;
}

/** What a detector says of a text; no language where it is not sure. */
export type DetectLanguage = (text: string) => { readonly language: string; readonly reliable: boolean };

export type RouteReason =
  | { readonly type: "named" }
  | { readonly type: "script" }
  | { readonly type: "language"; readonly language: string }
  | { readonly type: "foreign_paragraph"; readonly language: string }
  | { readonly type: "few_letters"; readonly letters: number; readonly needed: number }
  | { readonly type: "undecided" };

export interface Route {
  readonly role: Role;
  readonly reason: RouteReason;
}

const CHARACTERS_READ = 4000;
/** A detector is trusted with a single paragraph from this many letters on (99.7 % right there on eleven languages). */
const PARAGRAPH_LETTERS = 60;
/** More of another script than a name or a formula has. */
const FOREIGN_SCRIPT_SHARE = 0.1;
const FOREIGN_SCRIPT_LETTERS = 4;

/** Routes a state by its string values, first 4,000 characters. */
export function routeState(state: JsonValue, rules: RoutingRules, detect: DetectLanguage): Route {
  const text = stateStrings(state).join("\n").slice(0, CHARACTERS_READ);
  const paragraphs = text.split(/\n+/);
  if (isForeignScript(text) || paragraphs.some(isForeignParagraph))
    return { role: "multilingual", reason: { type: "script" } };
  const whole = detect(text);
  if (whole.reliable && whole.language !== "en")
    return { role: "multilingual", reason: { type: "language", language: whole.language } };
  const foreign = paragraphs.length > 1 ? foreignParagraph(paragraphs, detect) : undefined;
  if (foreign !== undefined) return { role: "multilingual", reason: { type: "foreign_paragraph", language: foreign } };
  if (!whole.reliable) return { role: rules.undecided, reason: { type: "undecided" } };
  const letters = countOf(text, LETTER);
  if (letters < rules.englishMinLetters)
    return { role: rules.undecided, reason: { type: "few_letters", letters, needed: rules.englishMinLetters } };
  return { role: "english", reason: { type: "language", language: "en" } };
}

const LETTER = /\p{L}/gu;
const FOREIGN_LETTER = /[^\P{L}\p{Script=Latin}]/gu;

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function isForeignScript(text: string): boolean {
  const foreign = countOf(text, FOREIGN_LETTER);
  return foreign > 0 && foreign > FOREIGN_SCRIPT_SHARE * countOf(text, LETTER);
}

function isForeignParagraph(paragraph: string): boolean {
  const foreign = countOf(paragraph, FOREIGN_LETTER);
  return foreign >= FOREIGN_SCRIPT_LETTERS && foreign * 2 > countOf(paragraph, LETTER);
}

function foreignParagraph(paragraphs: readonly string[], detect: DetectLanguage): string | undefined {
  for (const paragraph of paragraphs) {
    if (countOf(paragraph, LETTER) < PARAGRAPH_LETTERS) continue;
    const { language, reliable } = detect(paragraph);
    if (reliable && language !== "en") return language;
  }
  return undefined;
}

/** The reason in words, for `qa room` and the logs; never the text. */
export function explainRoute({ role, reason }: Route): string {
  switch (reason.type) {
    case "named":
      return "asked for by name";
    case "script":
      return "not in Latin script";
    case "language":
      return `language detected: ${reason.language}`;
    case "foreign_paragraph":
      return `holds a paragraph in another language (${reason.language})`;
    case "few_letters":
      return `looks English, but ${reason.letters} letters are too few to be sure (${reason.needed} needed): ${role}`;
    case "undecided":
      return `language undecided: ${role}`;
    default:
      return reason satisfies never;
  }
}
