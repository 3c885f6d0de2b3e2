/** The character between the cells of a delimited file: given, or found in its header. */

import { QaError } from "../../errors.js";

const CANDIDATES = [",", ";", "\t", "|"] as const;

/**
 * The delimiter that a value of `--delimiter` means; `tab` and `\t` mean a tab.
 * @throws QaError `invalid_usage` unless it is one character other than a quote or a line end
 */
export function parseDelimiter(value: string): string {
  const delimiter = value === "\\t" || value.toLowerCase() === "tab" ? "\t" : value;
  if (delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new QaError(
    "invalid_usage",
    "--delimiter takes one character, such as ';' or tab; a quote or a line end is none",
  );
}

/**
 * The one of , ; tab | that the header line holds most often outside quotes; a comma where it holds none.
 * `undefined` while the header line is not whole.
 */
export function detectDelimiter(text: string, isWhole: boolean): string | undefined {
  const counts = new Map<string, number>();
  let isQuoted = false;
  let isBlank = true; // blank lines come before the header
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (character === "\n" && !isQuoted && !isBlank) return mostOften(counts);
    if (character !== "\n" && character !== "\r") isBlank = false;
    if (!isQuoted) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return isWhole ? mostOften(counts) : undefined;
}

function mostOften(counts: ReadonlyMap<string, number>): string {
  const count = (candidate: string) => counts.get(candidate) ?? 0;
  return CANDIDATES.reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best));
}
