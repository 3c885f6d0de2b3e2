/** Says where and why a text is no JSON, without the text: JSON.parse's own messages quote what it read. */

export interface JsonFault {
  /** Index in the text. */
  readonly position: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const AFTER = { "": "the end of the value", "{": "a comma or }", "[": "a comma or ]" } as const;

type Open = "{" | "[";
type Want = "value" | "value or ]" | "key" | "key or }" | "colon" | "after";

/** The first fault of a text, `undefined` where it is JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Open[] = [];
  let want = "value" as Want;
  let at = matchEnd(SPACE, text, 0) ?? 0;
  for (; at < text.length; at = matchEnd(SPACE, text, at) ?? at) {
    const top = open.at(-1);
    const character = text.charAt(at);
    const fault = { position: at, expected: describe(want, top) };
    if (closes(character, want, top)) {
      open.pop();
      want = "after";
      at++;
    } else if (want === "after" || want === "colon") {
      if (character !== (want === "colon" ? ":" : ",") || (want === "after" && top === undefined)) return fault;
      want = want === "after" && top === "{" ? "key" : "value";
      at++;
    } else if (character === '"') {
      const end = stringEnd(text, at + 1);
      if (typeof end !== "number") return end;
      want = want === "key" || want === "key or }" ? "colon" : "after";
      at = end;
    } else if (want === "key" || want === "key or }") {
      return fault;
    } else if (character === "{" || character === "[") {
      open.push(character);
      want = character === "{" ? "key or }" : "value or ]";
      at++;
    } else {
      const end = matchEnd(SCALAR, text, at);
      if (end === undefined) return fault;
      want = "after";
      at = end;
    }
  }
  const isWhole = want === "after" && open.length === 0;
  return isWhole ? undefined : { position: at, expected: `${describe(want, open.at(-1))}, not the end` };
}

function closes(character: string, want: Want, top: Open | undefined): boolean {
  if (character === "}") return want === "key or }" || (want === "after" && top === "{");
  return character === "]" && (want === "value or ]" || (want === "after" && top === "["));
}

function describe(want: Want, top: Open | undefined): string {
  switch (want) {
    case "value":
      return "a value";
    case "value or ]":
      return "a value or ]";
    case "key":
      return "a key in double quotes";
    case "key or }":
      return "a key in double quotes or }";
    case "colon":
      return "a colon";
    case "after":
      return AFTER[top ?? ""];
    default:
      return want satisfies never;
  }
}

function stringEnd(text: string, from: number): number | JsonFault {
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return at + 1;
    if (character < " ")
      return { position: at, expected: "the closing quote of a string (a control character is written as an escape)" };
    if (character !== "\\") continue;
    const end = matchEnd(ESCAPE, text, at);
    if (end === undefined) return { position: at, expected: "an escape that JSON knows" };
    at = end - 1;
  }
  return { position: text.length, expected: "the closing quote of a string, not the end" };
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
