/** Feeds a reader from memory; what the reader tests share. */

import type { RowContent } from "../../../src/batch/read/row.js";
import type { ReadRow, RowReader } from "../../../src/batch/read/row-reader.js";

/** All rows of a text that comes in the chunks given. */
export function rowsOf(reader: RowReader, ...chunks: string[]): ReadRow[] {
  return [...chunks.flatMap((chunk) => [...reader.push(chunk)]), ...reader.end()];
}

/** The cells of a record, the value of a JSON row, the line of a text; of a malformed row `{ raw, cells }`. */
export function shown(content: RowContent): unknown {
  if (content.type === "record") return content.cells;
  if (content.type === "json") return content.value;
  return content.type === "text" ? content.text : { raw: content.raw, cells: content.cells };
}

/** The complaint of a malformed row. */
export function messageOf(row: ReadRow | undefined): string {
  return row?.content.type === "malformed" ? row.content.message : "not malformed";
}

/** Every way to cut a text in two, and the text character by character. */
export function cuts(text: string): string[][] {
  return [[...text.split("")], ...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)])];
}
