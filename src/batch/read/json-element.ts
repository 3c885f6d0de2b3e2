/** Where an element of a JSON array ends, and where to read on after one that is broken. Pure; parses nothing. */

import { tryParse } from "./json-content.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/** `separator`: the comma or ] after the element. `close`: the end of the one value that begins there. */
export type ElementBorder = "separator" | "close";

/**
 * Index of the border of the element at `start`, -1 where the text ends before it. A closing bracket closes up to its
 * nearest opener, and a line end closes a string (no JSON string holds one), so that a broken element ends soon.
 */
export function elementEnd(text: string, start: number, border: ElementBorder): number {
  const open: number[] = [];
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at + 1);
      if (at === -1) return -1;
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code);
    } else if (code === 0x7d || code === 0x5d) {
      const opener = open.lastIndexOf(code - 2);
      if (opener === -1 && code === 0x5d) return at;
      if (opener !== -1) open.length = opener;
      if (border === "close" && open.length === 0) return at + 1;
    } else if (code === COMMA && open.length === 0) {
      return at;
    }
  }
  return -1;
}

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === LINE_FEED) return at;
    if (code === BACKSLASH) at++;
  }
  return -1;
}

const NEXT_OBJECT = /,[ \t]*\r?\n([ \t]*)(?=\{)/g;

/**
 * Index of the comma after which the next whole element follows a broken one, `undefined` where there is none before
 * `end`: an object that begins a line, indented no deeper than the broken element, and that is JSON.
 */
export function resumeAfterElement(
  text: string,
  { start, end, column }: { start: number; end: number; column: number },
): number | undefined {
  NEXT_OBJECT.lastIndex = start;
  for (let match = NEXT_OBJECT.exec(text); match !== null && match.index < end; match = NEXT_OBJECT.exec(text)) {
    const from = match.index + match[0].length;
    const to = elementEnd(text, from, "close");
    const isShallow = (match[1]?.length ?? 0) < column;
    if (isShallow && to !== -1 && tryParse(text.slice(from, to)) !== undefined) return match.index;
  }
  return undefined;
}
