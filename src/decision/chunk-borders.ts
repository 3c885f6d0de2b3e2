/** Where a text may be cut, from the coarsest level to the finest; found lazily, so that what fits whole is not segmented. */

export const LEVELS = ["paragraph", "sentence", "word", "grapheme", "codePoint"] as const;
export type Level = (typeof LEVELS)[number];

/** Half-open stretch of a text, in UTF-16 offsets. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

const BLANK_LINE = /(?:\n[^\S\n]*\n|\u2029)\s*/g;
const CONTINUES_CLUSTER = /^(?:[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}]|\u200d|\u0e33|\u0eb3)/u;

/** Characters segmented at a time; a segment longer than that gets a larger window. */
const WINDOW = 1024;
/** Characters after a border that may still move it. */
const LOOKAHEAD = 128;

const SEGMENTERS = {
  sentence: new Intl.Segmenter(undefined, { granularity: "sentence" }),
  word: new Intl.Segmenter(undefined, { granularity: "word" }),
  grapheme: new Intl.Segmenter(undefined, { granularity: "grapheme" }),
};

/**
 * A lookup of the borders after `from` inside the unit that ends at `to`: those up to `limit`, and the first beyond it.
 * Made for a walk forwards: it remembers one unit a level, and forgets the borders at or before `from`.
 */
export function createBorders(text: string): (level: Level, unit: TextRange, limit: number) => readonly number[] {
  const open = new Map<Level, { to: number; known: number[]; rest: Iterator<number> }>();
  return (level, { from, to }, limit) => {
    const last = open.get(level);
    const unit = last?.to === to ? last : { to, known: [], rest: bordersOf(text, level, { from, to }) };
    open.set(level, unit);
    unit.known = unit.known.filter((border) => border > from);
    while ((unit.known.at(-1) ?? 0) <= limit) {
      const { done, value } = unit.rest.next();
      if (done === true) break;
      if (value > from) unit.known.push(value);
    }
    const beyond = unit.known.findIndex((border) => border > limit);
    return beyond === -1 ? unit.known : unit.known.slice(0, beyond + 1);
  };
}

/** The starts of the sentences of a stretch, ascending; the first is its own start. */
export function sentenceStarts(text: string, range: TextRange): readonly number[] {
  return [range.from, ...bordersOf(text, "sentence", range)].filter((start) => start < range.to);
}

function* bordersOf(text: string, level: Level, { from, to }: TextRange): Generator<number, undefined> {
  for (const offset of cutsOf(level, text.slice(from, to))) {
    const border = from + offset;
    if (border > from && border < to && (level === "codePoint" || !continuesCluster(text, border))) yield border;
  }
  yield to;
}

interface Segment {
  readonly index: number;
  readonly segment: string;
  readonly isWordLike?: boolean | undefined;
}

/** The segments of a text, from windows: a step of V8's segmenter costs as much as the text it was given is long. */
function* segmentsOf(granularity: keyof typeof SEGMENTERS, text: string): Generator<Segment> {
  let at = 0;
  let size = WINDOW;
  while (at < text.length) {
    const window = text.slice(at, at + size);
    const sure = at + size >= text.length ? size : size - LOOKAHEAD;
    let seen = 0;
    for (const { index, segment, isWordLike } of SEGMENTERS[granularity].segment(window)) {
      if (index + segment.length > sure) break;
      yield { index: at + index, segment, isWordLike };
      seen = index + segment.length;
    }
    size = seen === 0 ? size * 2 : WINDOW;
    at += seen;
  }
}

function* cutsOf(level: Level, text: string): Generator<number> {
  switch (level) {
    case "paragraph":
      for (const match of text.matchAll(BLANK_LINE)) yield match.index + match[0].length;
      return;
    case "sentence":
      // a line break on its own is a sentence to the segmenter: it belongs to the one before
      for (const { index, segment } of segmentsOf("sentence", text)) if (segment.trim() !== "") yield index;
      return;
    case "word":
      // punctuation stays with the word it follows
      for (const { index, segment, isWordLike } of segmentsOf("word", text))
        if (isWordLike || (segment.trim() !== "" && isSpace(text, index - 1))) yield index;
      return;
    case "grapheme":
      for (const { index } of segmentsOf("grapheme", text)) yield index;
      return;
    case "codePoint":
      for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) yield at;
      return;
    default:
      level satisfies never;
  }
}

/** A stretch without the whitespace at its ends; a space that carries a combining mark stays. */
export function trimRange(text: string, range: TextRange): TextRange {
  let { from, to } = range;
  while (from < to && isSpace(text, from)) from++;
  if (from > range.from && from < to && continuesCluster(text, from)) from--;
  while (to > from && isSpace(text, to - 1)) to--;
  return { from, to };
}

/** Whether what begins here belongs to the character before (dictionary word borders and my own may say otherwise). */
function continuesCluster(text: string, at: number): boolean {
  return CONTINUES_CLUSTER.test(text.slice(at, at + 2));
}

function isSpace(text: string, at: number): boolean {
  return text.charAt(at).trim() === "";
}
