/** A question written on the command line: `Is it urgent?`, `team=Which team? :: billing | sales`, `How urgent? :: low < high`. */

import { parseQuestions, type Question } from "../decision/question.js";
import { QaError } from "../errors.js";

/**
 * Parses `[id=]text[ :: options]`: without options a yes/no question, options parted by ` | ` a choice, by ` < ` a score from
 * the lowest level up. Without an id, `q1`, `q2`, ... by place.
 * @throws QaError `invalid_usage`
 */
export function parseInlineQuestions(texts: readonly string[]): readonly Question[] {
  const entries = texts.map((text, i) => parseInline(text, `q${i + 1}`));
  const ids = new Set(entries.map(([id]) => id));
  if (ids.size < entries.length)
    throw new QaError("invalid_usage", "two --question have the same id; give each its own");
  const { questions, issues } = parseQuestions(new Map(entries));
  const [issue] = issues;
  if (issue !== undefined) throw new QaError("invalid_usage", `--question ${issue.path.slice(10)}: ${issue.message}`);
  return questions;
}

type Entry = [id: string, question: { type: string; instructions: string; criteria?: Map<string, null> | string[] }];

function parseInline(text: string, fallbackId: string): Entry {
  const [, id = fallbackId, rest = ""] = /^(?:([\w.-]+)=)?(.*)$/s.exec(text) ?? [];
  const [instructions = "", options] = rest.split(/\s+::\s+/, 2);
  if (instructions.trim() === "") throw new QaError("invalid_usage", "--question needs a text, e.g. 'Is it urgent?'");
  if (options === undefined) return [id, { type: "noul", instructions }];
  if (options.includes("|")) {
    const labels = options.split("|").map((label) => label.trim());
    return [id, { type: "choice", instructions, criteria: new Map(labels.map((label) => [label, null])) }];
  }
  const levels = options.split("<").map((level) => level.trim());
  if (levels.length > 1) return [id, { type: "score", instructions, criteria: levels }];
  throw new QaError(
    "invalid_usage",
    "what follows :: must be options parted by | (choice) or levels parted by < (score)",
  );
}
