/** `--template 'Subject: {{subject}}\n{{body}}'`: text with the fields of a row in it. */

import { entriesOf, isJsonObject, type JsonValue, renderText, valueAt } from "../../decision/json.js";
import { QaError } from "../../errors.js";

export type TemplatePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "field"; readonly path: string };

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "{": "{", "}": "}" };

/**
 * Parses a template: `{{column}}` or `{{dotted.path}}`; `\n`, `\t`, `\\` and `\{` are escapes.
 * @throws QaError `invalid_usage` for an open or empty `{{ }}`, or for no field at all
 */
export function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  let text = "";
  while (at < template.length) {
    if (template.startsWith("{{", at)) {
      const end = template.indexOf("}}", at + 2);
      const path = end === -1 ? "" : template.slice(at + 2, end).trim();
      if (path === "")
        throw new QaError(
          "invalid_usage",
          `--template has {{ at character ${at + 1} without a column and }}; write {{column}}`,
        );
      if (text !== "") parts.push({ type: "text", text });
      parts.push({ type: "field", path });
      text = "";
      at = end + 2;
    } else {
      const escaped = template.charAt(at) === "\\" ? ESCAPES[template.charAt(at + 1)] : undefined;
      text += escaped ?? template.charAt(at);
      at += escaped === undefined ? 1 : 2;
    }
  }
  if (text !== "") parts.push({ type: "text", text });
  if (parts.some((part) => part.type === "field")) return parts;
  throw new QaError(
    "invalid_usage",
    "--template names no column, so every row would read the same; write {{column}} in it",
  );
}

/** The value at a path of a JSON value: the key of that very name, else along the dots (`turns.0.text`). */
export function valueAtPath(value: JsonValue, path: string): JsonValue | undefined {
  if (isJsonObject(value)) {
    const own = valueAt(value, path);
    if (own !== undefined) return own;
  }
  let here: JsonValue | undefined = value;
  for (const key of path.split(".")) {
    if (Array.isArray(here)) here = /^\d+$/.test(key) ? (here as readonly JsonValue[])[Number(key)] : undefined;
    else here = isJsonObject(here) ? valueAt(here, key) : undefined;
    if (here === undefined) return undefined;
  }
  return here;
}

/** A field as a template shows it: null as nothing, numbers as JSON prints them, objects and arrays as one line of JSON. */
export function renderField(value: JsonValue): string {
  return value === null ? "" : renderText(value);
}

/** Names of a JSON object's keys, in order; of nothing else. */
export function keysOf(value: JsonValue): readonly string[] {
  return isJsonObject(value) ? entriesOf(value).map(([key]) => key) : [];
}
