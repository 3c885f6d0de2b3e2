/**
 * NDJSON and plain text, a row a line (docs/decisions/0001-ndjson-lines.md). A line ends with LF or CRLF and with nothing
 * else: U+2028 is a character of its line. Blank lines are no rows, but count as lines.
 */

import { jsonContent } from "./json-content.js";
import { PendingText } from "./pending-text.js";
import type { RowContent } from "./row.js";
import { damageMessage, malformed, nameOf, type ReadRow, type RowReader } from "./row-reader.js";

const JSON_SPACE = /^[ \t\r\ufeff]+|[ \t\r]+$/g; // a BOM here is left from files that were joined

export interface LineOptions {
  readonly file: string;
  readonly format: "ndjson" | "text";
}

/** A reader of lines: each one JSON value, or each one text. */
export function createLineReader({ file, format }: LineOptions): RowReader {
  const pending = new PendingText();
  const contentOf = format === "ndjson" ? jsonLine : textLine;
  let line = 0;

  function* read(isFinal: boolean): Generator<ReadRow> {
    const { text } = pending;
    let at = 0;
    while (at < text.length) {
      const feed = text.indexOf("\n", at);
      if (feed === -1 && !isFinal) break;
      const end = feed === -1 ? text.length : feed;
      const raw = text.slice(at, end > at && text.charCodeAt(end - 1) === 0x0d ? end - 1 : end);
      line++;
      at = feed === -1 ? end : feed + 1;
      if (raw.trim() !== "") yield { line, content: contentOf(raw, line, file) };
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
    },
  };
}

function jsonLine(line: string, number: number, file: string): RowContent {
  const raw = line.replace(JSON_SPACE, "");
  const content = jsonContent(raw, { file, line: number, column: line.indexOf(raw) + 1 });
  const isPretty = content.type === "malformed" && number === 1 && (raw === "{" || raw === "[");
  return isPretty
    ? { ...content, message: `${content.message}; if the file is one JSON value, pass --from json` }
    : content;
}

function textLine(text: string, number: number, file: string): RowContent {
  const message = damageMessage(text, `line ${number} of ${nameOf(file)}`);
  return message === undefined ? { type: "text", text } : malformed({ raw: text, message });
}
