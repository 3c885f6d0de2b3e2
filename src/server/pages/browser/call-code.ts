/** The call that the page makes, as curl, JavaScript and Python that a person pastes and runs. Pure. The key is never in it. */

import { entriesOf, isJsonObject, type JsonValue } from "../../../decision/json.js";
import { type Dialect, prettyJson } from "./pretty-json.js";

export interface CallToWrite {
  /** Scheme, host and port of the server. */
  readonly origin: string;
  /** Absent where the default answers. */
  readonly model: string | undefined;
  readonly state: JsonValue;
  readonly questions: JsonValue;
  readonly keyRequired: boolean;
}

export type CodeLanguage = "curl" | "javascript" | "python";

export function callCode(language: CodeLanguage, call: CallToWrite): string {
  switch (language) {
    case "curl":
      return curlCode(call);
    case "javascript":
      return javascriptCode(call);
    case "python":
      return pythonCode(call);
    default:
      return language satisfies never;
  }
}

function curlCode({ origin, model, state, questions, keyRequired }: CallToWrite): string {
  const body = new Map<string, JsonValue>([
    ...(model === undefined ? [] : ([["model", model]] as const)),
    ["state", state],
    ["questions", questions],
  ]);
  return [
    `curl ${origin}/v1/systemone \\`,
    ...(keyRequired ? ['  -H "Authorization: Bearer $TYPESAFE_API_KEY" \\'] : []),
    '  -H "Content-Type: application/json" \\',
    "  --data-binary @- <<'JSON'",
    prettyJson(body),
    "JSON",
  ].join("\n");
}

const JAVASCRIPT: Dialect = {
  scalar: (value) => JSON.stringify(value),
  key: (key) => {
    if (key === "__proto__") return '["__proto__"]';
    return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
  },
};

function javascriptCode({ origin, model, state, questions, keyRequired }: CallToWrite): string {
  const note = hasMovedKeys(questions) || hasMovedKeys(state) ? [MOVED_KEYS_NOTE] : [];
  return [
    ...note,
    'import { TypeSafeClient } from "@typesafe-ai/sdk";',
    "",
    `const client = new TypeSafeClient({ baseURL: ${JSON.stringify(origin)}${keyRequired ? "" : ', apiKey: "none"'} });`,
    "const { answers } = await client.systemOne({",
    ...(model === undefined ? [] : [`  model: ${JSON.stringify(model)},`]),
    `  state: ${prettyJson(state, 2, JAVASCRIPT)},`,
    `  questions: ${prettyJson(questions, 2, JAVASCRIPT)},`,
    "});",
    "console.log(answers);",
  ].join("\n");
}

const MOVED_KEYS_NOTE =
  '// JavaScript objects move keys like "10" to the front; where that order matters, send the JSON text as curl does.';

/** Whether a JavaScript object would not keep the order of some object's keys. */
function hasMovedKeys(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasMovedKeys);
  if (!isJsonObject(value)) return false;
  const entries = entriesOf(value);
  const kept = Object.keys(Object.fromEntries(entries));
  return entries.some(([key, item], i) => kept[i] !== key || hasMovedKeys(item));
}

const PYTHON: Dialect = {
  scalar: (value) => {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    return JSON.stringify(value);
  },
  key: (key) => JSON.stringify(key),
};

function pythonCode({ origin, model, state, questions, keyRequired }: CallToWrite): string {
  return [
    "from typesafe_sdk import TypeSafeClient",
    "",
    `with TypeSafeClient(base_url=${JSON.stringify(origin)}${keyRequired ? "" : ', api_key="none"'}) as client:`,
    "    response = client.system_one(",
    ...(model === undefined ? [] : [`        model=${JSON.stringify(model)},`]),
    `        state=${prettyJson(state, 8, PYTHON)},`,
    `        questions=${prettyJson(questions, 8, PYTHON)},`,
    "    )",
    "print(response.answers)",
  ].join("\n");
}
