/** Sentences on lines of a terminal. Pure. */

import { textWidth } from "../progress/text-width.js";

export interface WrapOptions {
  readonly width: number;
  /** Put before the first line as it is. */
  readonly lead?: string;
  /** Spaces before every further line; default: as wide as `lead`. */
  readonly indent?: number;
}

/** Lines of at most `width` columns, broken between words; a word that is longer stays whole. */
export function wrapText(text: string, { width, lead = "", indent = textWidth(lead) }: WrapOptions): string {
  const [first = "", ...words] = text.split(/ +/);
  const lines: string[] = [];
  let line = lead + first;
  for (const word of words) {
    if (textWidth(`${line} ${word}`) > width) {
      lines.push(line);
      line = " ".repeat(indent) + word;
    } else line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}
