/**
 * One record of a delimited file (RFC 4180) out of a text, and where to read on after a broken one. Pure.
 * A quote opens a cell only as its first character; elsewhere in a bare cell it is a character like any other.
 */

export interface ScanOptions {
  /** One character. */
  readonly delimiter: string;
  /** Whether nothing follows the text. */
  readonly isFinal: boolean;
}

export type RecordScan =
  /** A record; `next` is where the following one begins, `isStrict` whether no bare cell holds a quote. */
  | {
      readonly type: "record";
      readonly cells: string[];
      readonly isStrict: boolean;
      readonly end: number;
      readonly next: number;
    }
  /** A quoted cell that never closes, or goes on behind its closing quote (`at`); `cells` are those before it. */
  | { readonly type: "unclosed" | "garbage"; readonly cells: string[]; readonly quoteAt: number; readonly at: number }
  /** The text ends within the record. */
  | { readonly type: "more" };

export type BrokenScan = Extract<RecordScan, { type: "unclosed" | "garbage" }>;

const QUOTE = 0x22;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const LOOK_AHEAD = 16_384; // characters behind a break in which its cell may still close
const MORE = { type: "more" } as const;

/** Scans the record that begins at `start`. */
export function scanRecord(text: string, start: number, options: ScanOptions): RecordScan {
  const lineEnd = text.indexOf("\n", start);
  if (lineEnd === -1 && !options.isFinal) return MORE;
  const next = lineEnd === -1 ? text.length : lineEnd + 1;
  const end = withoutReturn(text, start, lineEnd === -1 ? text.length : lineEnd);
  const line = text.slice(start, end);
  if (line.includes('"')) return scanQuotedRecord(text, start, options);
  return { type: "record", cells: line.split(options.delimiter), isStrict: true, end, next };
}

function scanQuotedRecord(text: string, start: number, { delimiter, isFinal }: ScanOptions): RecordScan {
  const delimiterCode = delimiter.charCodeAt(0);
  const cells: string[] = [];
  let isStrict = true;
  for (let at = start; ; at++) {
    const quoteAt = at;
    let cell: string;
    if (text.charCodeAt(at) === QUOTE) {
      const close = closingQuote(text, at + 1);
      if (close === -1) return isFinal ? { type: "unclosed", cells, quoteAt, at: text.length } : MORE;
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
    } else {
      at = bareEnd(text, at, delimiterCode);
      cell = text.slice(quoteAt, at);
      if (cell.includes('"')) isStrict = false;
    }
    cells.push(cell);
    if (at + 1 >= text.length && !isFinal) return MORE; // a quote, a line end or more of the cell may follow
    const code = at < text.length ? text.charCodeAt(at) : LINE_FEED;
    if (code === delimiterCode) continue;
    const feed =
      code === CARRIAGE_RETURN && (text.charCodeAt(at + 1) === LINE_FEED || at + 1 === text.length) ? at + 1 : at;
    if (code === LINE_FEED || feed > at)
      return { type: "record", cells, isStrict, end: at, next: Math.min(feed + 1, text.length) };
    return { type: "garbage", cells: cells.slice(0, -1), quoteAt, at };
  }
}

/** Index of the quote that closes a cell whose content begins at `from`, -1 where the text ends before it. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text.charCodeAt(at + 1) === QUOTE) at = text.indexOf('"', at + 2);
  return at;
}

/** Index of the delimiter or line end after a bare cell, or of the end of the text. */
function bareEnd(text: string, from: number, delimiterCode: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === delimiterCode || code === LINE_FEED) return code === LINE_FEED ? withoutReturn(text, from, at) : at;
  }
  return withoutReturn(text, from, text.length);
}

function withoutReturn(text: string, start: number, end: number): number {
  return end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
}

/** Where a broken record stands, and how many cells a record has. */
export interface BrokenRecord {
  readonly text: string;
  readonly start: number;
  readonly broken: BrokenScan;
  readonly cellCount: number;
}

/**
 * Where to read on after a broken record, `undefined` where more text is needed to tell. First choice: the first line
 * begun inside it that is a strict record of `cellCount` cells (the quote had opened too early and swallowed it). Second:
 * the end of the record, read as if the quotes inside its cell were characters. Else the line after the break.
 */
export function resumeAfter(
  { text, start, broken, cellCount }: BrokenRecord,
  options: ScanOptions,
): number | undefined {
  if (!options.isFinal && text.length < broken.at + LOOK_AHEAD) return undefined;
  const lenient = broken.type === "garbage" ? lenientEnd({ text, start, broken, cellCount }, options) : undefined;
  const end = lenient ?? broken.at + 1;
  for (let at = nextLine(text, start); at !== undefined && at < end && at < text.length; at = nextLine(text, at)) {
    const scan = scanRecord(text, at, options);
    if (scan.type === "more") return undefined;
    if (scan.type === "record" && scan.isStrict && scan.end > at && scan.cells.length === cellCount) return at;
  }
  return lenient ?? nextLine(text, broken.at) ?? (options.isFinal ? text.length : undefined);
}

/** End of a record whose broken cell is closed by the next quote before a delimiter or line end, if its cells are as many as they should be. */
function lenientEnd({ text, broken, cellCount }: BrokenRecord, options: ScanOptions): number | undefined {
  const window = text.slice(broken.at, broken.at + LOOK_AHEAD);
  for (let quote = window.indexOf('"'); quote !== -1; quote = window.indexOf('"', quote + 1)) {
    const after = broken.at + quote + 1;
    const isLineEnd = after >= text.length || /^\r?\n/.test(text.slice(after, after + 2));
    if (!isLineEnd && text.charAt(after) !== options.delimiter) continue;
    if (isLineEnd) return broken.cells.length + 1 === cellCount ? (nextLine(text, after) ?? text.length) : undefined;
    const rest = scanRecord(text, after + 1, options);
    return rest.type === "record" && broken.cells.length + 1 + rest.cells.length === cellCount ? rest.next : undefined;
  }
  return undefined;
}

function nextLine(text: string, from: number): number | undefined {
  const feed = text.indexOf("\n", from);
  return feed === -1 ? undefined : feed + 1;
}
