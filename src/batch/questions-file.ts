/** Questions from files, presets and flags: YAML or JSON in the wire's form, one mapping of question id -> question. */

import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { parse as parseYaml } from "yaml";
import { entriesOf, isJsonObject, type JsonValue, parseJson } from "../decision/json.js";
import { type Issue, parseQuestions, type Question } from "../decision/question.js";
import { QaError } from "../errors.js";

/**
 * Reads a questions file; `.json` is JSON, all else YAML. A top-level `$schema` is for editors and ignored.
 * @throws QaError `input_missing`, `invalid_usage` with every issue
 */
export async function loadQuestions(path: string): Promise<readonly Question[]> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new QaError("input_missing", `cannot read the questions file ${path} (${cause.code}); check its name`, {
      cause,
    });
  });
  return parseLoaded(parseText(text, path), path);
}

/**
 * Reads a preset that ships with qa.
 * @throws QaError `invalid_usage` that lists the presets
 */
export async function loadPreset(name: string, presetsDir: string): Promise<readonly Question[]> {
  const names = (await readdir(presetsDir)).map((file) => file.replace(/\.yaml$/, ""));
  if (names.includes(name)) return loadQuestions(join(presetsDir, `${name}.yaml`));
  throw new QaError("invalid_usage", `there is no preset of that name; use one of ${names.sort().join(", ")}`);
}

function parseText(text: string, path: string): JsonValue {
  const isJson = extname(path) === ".json";
  try {
    return isJson ? parseJson(text) : (parseYaml(text, { mapAsMap: true, stringKeys: true }) as JsonValue);
  } catch (cause) {
    const [reason = ""] = (cause as Error).message.split("\n");
    throw new QaError("invalid_usage", `${path} is not ${isJson ? "JSON" : "YAML"}: ${reason.replace(/:$/, "")}`, {
      cause,
    });
  }
}

function parseLoaded(value: JsonValue, path: string): readonly Question[] {
  const questions = isJsonObject(value) ? new Map(entriesOf(value).filter(([key]) => key !== "$schema")) : value;
  const { questions: parsed, issues } = parseQuestions(questions);
  if (issues.length === 0) return parsed;
  throw new QaError("invalid_usage", [`${path} has ${countOf(issues)}:`, ...issues.map(lineOf)].join("\n"), {
    details: { issues: issues.map((issue) => ({ path: issue.path, message: issue.message })) },
  });
}

function countOf(issues: readonly Issue[]): string {
  return issues.length === 1 ? "an issue" : `${issues.length} issues`;
}

/** Paths inside the file, which has no outer `questions`. */
function lineOf({ path, message }: Issue): string {
  const inside = path.replace(/^questions\.?/, "");
  return inside === "" ? `  ${message}` : `  ${inside}: ${message}`;
}
