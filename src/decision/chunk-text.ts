/**
 * Cuts one text into chunks that fit, at the coarsest border that does it: as many whole paragraphs as fit, then
 * sentences, words, grapheme clusters, and code points where one cluster alone is too large. A unit that must be cut
 * anyway begins in the chunk before it, so a heading stays with its long paragraph.
 */

import { createBorders, LEVELS, sentenceStarts, type TextRange, trimRange } from "./chunk-borders.js";
import type { Gauge } from "./chunk-gauge.js";
import type { State } from "./request.js";

export interface TextPlace {
  readonly gauge: Gauge;
  /** The state that a piece of the text makes. */
  readonly wrap: (piece: string) => State;
  /** Sentences of a chunk that the next one repeats. */
  readonly overlap: number;
}

const SENTENCE = LEVELS.indexOf("sentence");

/**
 * The chunks of a text in order, covering all of it but whitespace at their ends; none for a blank text.
 * @returns undefined where a single code point does not fit
 */
export function chunkText(text: string, place: TextPlace): readonly TextRange[] | undefined {
  const reach = createReach(text, place);
  const chunks: TextRange[] = [];
  let at = 0;
  while (at < text.length) {
    const starts = [...overlapStarts(text, { previous: chunks.at(-1)?.from ?? at, at }, place), at];
    let end = at;
    let start = at;
    // the overlap gives way, a sentence at a time, to a sentence that would be torn for it
    for (let i = 0; i < starts.length && end === at; i++) {
      start = starts[i] ?? at;
      end = reach(start, at);
    }
    if (end === at) return undefined;
    if (!isBlank(trimRange(text, { from: at, to: end }))) chunks.push(trimRange(text, { from: start, to: end }));
    at = end;
  }
  return chunks;
}

/** Where the next chunk may start inside the previous one, farthest back first: at most half the room is repeated. */
function overlapStarts(
  text: string,
  { previous, at }: { previous: number; at: number },
  { gauge, wrap, overlap }: TextPlace,
): readonly number[] {
  if (overlap === 0 || previous === at) return [];
  const starts = sentenceStarts(text, { from: previous, to: at }).slice(-overlap).reverse();
  const lengths = starts.map((start) => 2 * (at - start));
  const kept = gauge.farthest(lengths, (i) =>
    gauge.fits(lengths[i] ?? 0, () => wrap(text.slice(starts[i], at).repeat(2))),
  );
  return starts.slice(0, kept).reverse();
}

/** A function that says how far a chunk that starts at `start` may reach beyond `at`; `at` itself where no further. */
function createReach(text: string, { gauge, wrap }: TextPlace): (start: number, at: number) => number {
  const borders = createBorders(text);
  const fits = (from: number, to: number) => {
    const piece = trimRange(text, { from, to });
    return isBlank(piece) || gauge.fits(piece.to - piece.from, () => wrap(text.slice(piece.from, piece.to)));
  };
  const reachAt = (depth: number, start: number, unit: TextRange): number => {
    const level = LEVELS[depth];
    if (level === undefined) return unit.from;
    const ends = borders(level, unit, start + gauge.limit());
    const count = gauge.farthest(
      ends.map((end) => end - start),
      (i) => fits(start, ends[i] ?? unit.to),
    );
    const end = ends[count - 1] ?? unit.from;
    const next = ends[count];
    if (next === undefined) return end;
    const mayKeepWhole = end > start && (count > 0 || depth >= SENTENCE);
    if (mayKeepWhole && fits(end, next)) return end;
    return reachAt(depth + 1, start, { from: end, to: next });
  };
  return (start, at) => reachAt(0, start, { from: at, to: text.length });
}

function isBlank({ from, to }: TextRange): boolean {
  return from === to;
}
