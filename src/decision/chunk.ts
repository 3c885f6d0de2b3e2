/**
 * Cuts a state that is too long for its room into self-contained chunks that each fit; nothing is ever truncated.
 * Owns the walk through JSON; how a text is cut is chunk-text.ts, how few questions are asked of the tokenizer
 * chunk-gauge.ts.
 */

import { createGauge, type Gauge } from "./chunk-gauge.js";
import { createItemReach, heaviestPath, largestOf, type Path, replaceField } from "./chunk-json.js";
import { chunkText } from "./chunk-text.js";
import { entriesOf, isJsonObject, type JsonObject, type JsonValue, renderText } from "./json.js";
import type { State } from "./request.js";

/** What a chunk holds of the string or list at `path`, the repeated overlap included. */
export interface ChunkSource {
  readonly path: Path;
  /** UTF-16 offset in the string, or item of the list. */
  readonly from: number;
  /** The same, exclusive. */
  readonly to: number;
}

export interface StateChunk extends ChunkSource {
  readonly state: State;
}

export type ChunkResult =
  | { readonly type: "chunks"; readonly chunks: readonly StateChunk[] }
  | {
      readonly type: "unchunkable";
      /** The value that is too large; empty where the fields are so only together. */
      readonly path: Path;
      /** `rest`: what every chunk must keep fills the room already; `indivisible`: the value cannot be cut further. */
      readonly reason: "rest" | "indivisible";
    };

export interface ChunkOptions {
  /** Whether a candidate, rendered and tokenised, fits the room; costly, so seldom asked. Every chunk was asked. */
  readonly fits: (candidate: State) => boolean;
  /**
   * How many sentences (of a string) or items (of a list) of a chunk the next one repeats: fewer where they would
   * fill more than half the room or push out the next whole sentence or item.
   */
  readonly overlap: number;
}

/** A value inside the state, and the state that holds another in its place. */
interface Place {
  readonly path: Path;
  readonly wrap: (value: JsonValue) => State;
}

interface Means {
  readonly gauge: Gauge;
  readonly overlap: number;
}

/**
 * Chunks a state: a string by paragraphs, sentences, words; a list by items, an item too large alone by itself; of an
 * object its largest string, list or object, the other fields kept in every chunk. One chunk where all of it fits (of an
 * object then with the range of its fields).
 */
export function chunkState(state: State, { fits, overlap }: ChunkOptions): ChunkResult {
  if (fits(state)) return chunksOf([{ state, path: [], from: 0, to: sizeOf(state) }]);
  const gauge = createGauge(fits, renderText(state));
  return chunkValue(state, { path: [], wrap: (value) => value as State }, { gauge, overlap });
}

function chunkValue(value: JsonValue, place: Place, means: Means): ChunkResult {
  if (typeof value === "string") return chunkString(value, place, means);
  if (Array.isArray(value)) return chunkList(value, place, means);
  if (isJsonObject(value)) return chunkObject(value, place, means);
  return { type: "unchunkable", path: place.path, reason: "indivisible" };
}

function chunkString(text: string, { path, wrap }: Place, { gauge, overlap }: Means): ChunkResult {
  if (!gauge.fits(0, () => wrap(""))) return restTooLarge(wrap(""), path);
  const ranges = chunkText(text, { gauge, wrap, overlap });
  if (ranges === undefined) return { type: "unchunkable", path, reason: "indivisible" };
  if (ranges.length === 0) return chunksOf([{ state: wrap(""), path, from: 0, to: 0 }]);
  return chunksOf(ranges.map(({ from, to }) => ({ state: wrap(text.slice(from, to)), path, from, to })));
}

function chunkObject(object: JsonObject, { path, wrap }: Place, means: Means): ChunkResult {
  const largest = largestOf(entriesOf(object).filter(([, value]) => isChunkable(value)));
  if (largest === undefined) return restTooLarge(wrap(object), path);
  const [key, value] = largest;
  return chunkValue(value, { path: [...path, key], wrap: (other) => wrap(replaceField(object, key, other)) }, means);
}

function chunkList(items: readonly JsonValue[], { path, wrap }: Place, means: Means): ChunkResult {
  if (!means.gauge.fits(0, () => wrap([]))) return restTooLarge(wrap([]), path);
  const nextItems = createItemReach(items, { ...means, wrap });
  const chunks: StateChunk[] = [];
  let at = 0;
  let previous = 0;
  while (at < items.length) {
    const { from, to } = nextItems(previous, at);
    previous = from;
    if (to > at) {
      chunks.push({ state: wrap(items.slice(from, to)), path, from, to });
      at = to;
      continue;
    }
    const place: Place = { path: [...path, at], wrap: (value) => wrap([value]) };
    const inner = chunkValue(items[at] ?? null, place, means);
    if (inner.type === "unchunkable") return inner;
    for (const chunk of inner.chunks) chunks.push(chunk);
    at = previous = at + 1;
  }
  return chunksOf(chunks);
}

function chunksOf(chunks: readonly StateChunk[]): ChunkResult {
  return { type: "chunks", chunks };
}

/** An item that is chunked by itself stands alone in its list: its path names its place in the list as it was. */
function restTooLarge(rest: State, path: Path): ChunkResult {
  const heaviest = heaviestPath(rest);
  const parting = heaviest.findIndex((step, i) => step !== (typeof path[i] === "number" ? 0 : path[i]));
  const shared = parting === -1 ? heaviest.length : parting;
  return { type: "unchunkable", path: [...path.slice(0, shared), ...heaviest.slice(shared)], reason: "rest" };
}

function isChunkable(value: JsonValue): boolean {
  if (isJsonObject(value)) return entriesOf(value).some(([, field]) => isChunkable(field));
  return (typeof value === "string" || Array.isArray(value)) && value.length > 0;
}

function sizeOf(state: State): number {
  return typeof state === "string" || Array.isArray(state) ? state.length : entriesOf(state as JsonObject).length;
}
