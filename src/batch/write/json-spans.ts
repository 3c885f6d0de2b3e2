/** Where the parts of a JSON text stand, so that they can be copied as they are spelled (`139.0`, a 20-digit id). Pure; the text is valid JSON. */

/** One entry of an object or element of an array; an element's key is its index. */
export interface Span {
  readonly key: string;
  /** Index of the key, in an array of the value. */
  readonly start: number;
  readonly valueStart: number;
  /** Index behind the value. */
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON_LENGTH = 1;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LINE_BREAK = /[\r\n]/;

/** Entries of the object or elements of the array that a text is, none of any other value. */
export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  const start = skipSpace(text, 0);
  const isObject = text.charAt(start) === "{";
  if (!isObject && text.charAt(start) !== "[") return spans;
  let at = skipSpace(text, start + 1);
  while (at < text.length && !isClosing(text.charCodeAt(at))) {
    const from = at;
    let key = String(spans.length);
    if (isObject) {
      const keyEnd = stringEnd(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + COLON_LENGTH);
    }
    const end = valueEnd(text, at);
    spans.push({ key, start: from, valueStart: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return spans;
}

/** The text of the value at a path: under the key of that very name, else along the dots (`turns.0.text`). */
export function rawAtPath(text: string, path: string): string | undefined {
  const own = text.trimStart().startsWith("{") ? childOf(text, path) : undefined;
  if (own !== undefined) return own;
  let here: string | undefined = text;
  for (const key of path.split(".")) here = here === undefined ? undefined : childOf(here, key);
  return here;
}

/** The text of an object without the entries of some keys; what is left stands as it stood. */
export function withoutKeys(text: string, isDropped: (key: string) => boolean): string {
  const spans = spansOf(text);
  const kept = spans.flatMap((span, i) => (isDropped(span.key) ? [] : [{ span, before: spans[i - 1] }]));
  const entries = kept.map(({ span, before }, i) =>
    text.slice(i === 0 || before === undefined ? span.start : before.end, span.end),
  );
  return text.slice(0, spans[0]?.start) + entries.join("") + text.slice(spans.at(-1)?.end ?? text.length);
}

/** The text of an object with entries (`"key":value`) added behind its own. */
export function withEntries(text: string, entries: readonly string[]): string {
  const close = text.lastIndexOf("}");
  const bodyEnd = text.slice(0, close).trimEnd().length;
  const comma = text.slice(0, bodyEnd).trimStart() === "{" ? "" : ",";
  return text.slice(0, bodyEnd) + comma + entries.join(",") + text.slice(bodyEnd, close + 1);
}

/** The text on one line: a line break with its indentation becomes a space. */
export function onOneLine(text: string): string {
  return LINE_BREAK.test(text) ? respaced(text, (space) => (LINE_BREAK.test(space) ? " " : space)) : text;
}

/** The text without any space outside its strings. */
export function compacted(text: string): string {
  return respaced(text, () => "");
}

/** The text with other space between its parts; by hand, since a regular expression overflows its stack on long strings. */
function respaced(text: string, replace: (space: string) => string): string {
  let result = "";
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code > SPACE) at++;
    else {
      const end = skipSpace(text, at);
      result += text.slice(from, at) + replace(text.slice(at, end));
      at = end;
      from = end;
    }
  }
  return result + text.slice(from);
}

function childOf(text: string, key: string): string | undefined {
  const span = spansOf(text).findLast((span) => span.key === key); // of equal keys the last counts, as in JSON.parse
  return span === undefined ? undefined : text.slice(span.valueStart, span.end);
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (depth === 0 && at > start && (code === COMMA || code <= SPACE || isClosing(code))) return at;
    if (code === QUOTE) at = stringEnd(text, at);
    else {
      if (code === 0x7b || code === 0x5b) depth++;
      else if (isClosing(code)) depth--;
      at++;
    }
    if (depth === 0 && (code === QUOTE || isClosing(code))) return at;
  }
  return at;
}

/** Index behind the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  return at;
}
