/** What chunking does with JSON: which items of a list come next, which field is the largest, a field replaced. */

import type { Gauge } from "./chunk-gauge.js";
import { entriesOf, isJsonObject, type JsonObject, type JsonValue, renderText } from "./json.js";
import type { State } from "./request.js";

export type Path = readonly (string | number)[];

/** Half-open range of a list's items. */
interface ItemRange {
  readonly from: number;
  readonly to: number;
}

interface ListPlace {
  readonly gauge: Gauge;
  /** The state that some of the items make. */
  readonly wrap: (items: readonly JsonValue[]) => State;
  /** Items of a chunk that the next one repeats. */
  readonly overlap: number;
}

/**
 * A function that says which items come after the chunk of `previous` up to `at`, repeated ones included; the range
 * ends at `at` where the next item alone is too large.
 */
export function createItemReach(
  items: readonly JsonValue[],
  { gauge, wrap, overlap }: ListPlace,
): (previous: number, at: number) => ItemRange {
  const offsets = [0];
  for (const item of items) offsets.push((offsets.at(-1) ?? 0) + renderText(item).length + 2);
  const lengthOf = (from: number, to: number) => (offsets[to] ?? 0) - (offsets[from] ?? 0);
  const fits = (from: number, to: number) => gauge.fits(lengthOf(from, to), () => wrap(items.slice(from, to)));
  const fitsTwice = (from: number, to: number) =>
    gauge.fits(2 * lengthOf(from, to), () => wrap([...items.slice(from, to), ...items.slice(from, to)]));
  const reach = (from: number, at: number) => {
    const lengths: number[] = [];
    for (let to = at + 1; to <= items.length && lengthOf(from, to) <= gauge.limit(); to++)
      lengths.push(lengthOf(from, to));
    return at + gauge.farthest(lengths, (i) => fits(from, at + i + 1));
  };
  const repeated = (previous: number, at: number) => {
    const lengths = Array.from({ length: Math.min(overlap, at - previous) }, (_, i) => 2 * lengthOf(at - i - 1, at));
    return gauge.farthest(lengths, (i) => fitsTwice(at - i - 1, at));
  };
  return (previous, at) => {
    for (let from = at - repeated(previous, at); from < at; from++) {
      const to = reach(from, at);
      if (to > at) return { from, to };
    }
    return { from: at, to: reach(at, at) };
  };
}

/** The entry with the longest rendered value, the first of equals. */
export function largestOf<Key>(entries: readonly (readonly [Key, JsonValue])[]): readonly [Key, JsonValue] | undefined {
  const sizes = entries.map(([, value]) => renderText(value).length);
  return entries[sizes.indexOf(sizes.reduce((most, size) => Math.max(most, size), 0))];
}

/** The deepest value that makes more than half of what is rendered; empty where none does. */
export function heaviestPath(value: JsonValue): Path {
  const largest = largestOf(childrenOf(value));
  if (largest === undefined || renderText(largest[1]).length * 2 <= renderText(value).length) return [];
  return [largest[0], ...heaviestPath(largest[1])];
}

function childrenOf(value: JsonValue): [string | number, JsonValue][] {
  if (Array.isArray(value)) return value.map((item: JsonValue, i) => [i, item]);
  return isJsonObject(value) ? entriesOf(value) : [];
}

/** An object of the same form and order with another value under one of its keys. */
export function replaceField(object: JsonObject, key: string, value: JsonValue): JsonObject {
  if (object instanceof Map) return new Map(object).set(key, value);
  return { ...object, [key]: value };
}
