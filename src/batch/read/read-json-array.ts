/**
 * A JSON array of any size as rows, one an element, holding no more than the largest element. A broken element is a
 * malformed row. A single object is one row.
 */

import { QaError } from "../../errors.js";
import { type JsonPlace, jsonContent } from "./json-content.js";
import { elementEnd, resumeAfterElement } from "./json-element.js";
import { PendingText } from "./pending-text.js";
import type { RowContent } from "./row.js";
import { nameOf, type ReadRow, type RowReader } from "./row-reader.js";

/** An element this long, in characters, is looked through for a bracket that was forgotten. */
const LONG_ELEMENT = 16 * 1024 * 1024;

type Mode = "start" | "first" | "element" | "object" | "done";

const NOT_SPACE = /[^ \t\r\n]/g;

/** A reader of one JSON array, or of one object. */
export function createJsonArrayReader({ file }: { readonly file: string }): RowReader {
  const pending = new PendingText();
  let mode: Mode = "start";
  let line = 1;
  let column = 1;
  let single: ReadRow | undefined; // an object is a row once nothing follows it

  /** Index `to`, lines and characters up to it counted. */
  function pass(text: string, from: number, to: number): number {
    let lineStart = from - (column - 1);
    for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) {
      line++;
      lineStart = at + 1;
    }
    column = to - lineStart + 1;
    return to;
  }

  function* read(isFinal: boolean): Generator<ReadRow> {
    const { text } = pending;
    let at = pass(text, 0, nextNotSpace(text, 0));
    for (; at < text.length; at = pass(text, at, nextNotSpace(text, at))) {
      const character = text.charAt(at);
      if (mode === "done") throw trailing(file, line);
      if (mode === "start") {
        mode = openedBy(character, file);
        if (mode === "first") at = pass(text, at, at + 1);
      } else if (mode === "first" && character === "]") {
        mode = "done";
        at = pass(text, at, at + 1);
      } else {
        const element = elementAt(text, {
          start: at,
          isFinal,
          isObject: mode === "object",
          place: { file, line, column },
        });
        if (element === undefined) break;
        const row = { line, content: element.content };
        at = pass(text, at, element.border);
        if (mode === "object") {
          single = row;
          mode = "done";
          continue;
        }
        yield row;
        mode = text.charAt(at) === "]" ? "done" : "element";
        at = pass(text, at, at + 1);
      }
    }
    pending.drop(at);
  }

  return {
    *push(chunk) {
      if (pending.add(chunk)) yield* read(false);
    },
    *end() {
      pending.join();
      yield* read(true);
      if (mode === "start")
        throw new QaError("input_unsupported", `${nameOf(file)} is empty; a JSON array was expected`);
      if (mode !== "done") throw unclosed(file, line);
      if (single !== undefined) yield single;
    },
  };
}

interface ElementOptions {
  readonly start: number;
  readonly isFinal: boolean;
  readonly isObject: boolean;
  readonly place: JsonPlace;
}

interface Element {
  /** Index of what ends it. */
  readonly border: number;
  readonly content: RowContent;
}

/** The element at `start`, also a broken one; `undefined` where more text is needed. */
function elementAt(text: string, { start, isFinal, isObject, place }: ElementOptions): Element | undefined {
  const upTo = (border: number) => ({ border, content: jsonContent(text.slice(start, border).trimEnd(), place) });
  const end = elementEnd(text, start, isObject ? "close" : "separator");
  if (end === -1 && (isObject || (!isFinal && text.length - start < LONG_ELEMENT))) return undefined;
  const whole = end === -1 ? undefined : upTo(end);
  if (isObject || whole?.content.type === "json") return whole;
  const resume = resumeAfterElement(text, { start, end: end === -1 ? text.length : end, column: place.column });
  return resume === undefined ? whole : upTo(resume);
}

function nextNotSpace(text: string, from: number): number {
  NOT_SPACE.lastIndex = from;
  return NOT_SPACE.test(text) ? NOT_SPACE.lastIndex - 1 : text.length;
}

function openedBy(character: string, file: string): Mode {
  if (character === "[") return "first";
  if (character === "{") return "object";
  const message = `${nameOf(file)} begins neither with [ nor with {; pass --from with the format it has`;
  throw new QaError("input_unsupported", message);
}

function trailing(file: string, line: number): QaError {
  const message = `${nameOf(file)} goes on after its JSON value, on line ${line}; if it holds a value a line, pass --from ndjson`;
  return new QaError("input_unsupported", message);
}

function unclosed(file: string, line: number): QaError {
  const message = `${nameOf(file)} ends inside its JSON value (what is not closed begins on line ${line}); it may have been cut off`;
  return new QaError("input_damaged", message);
}
