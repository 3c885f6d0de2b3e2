/** Where two plain objects differ, by the paths of their keys. Pure. */

import type { JsonValue } from "../../decision/json.js";

/** Dotted paths of the values that differ, or that only one of the two has; in the order of the first, then the second. */
export function differingKeys(first: JsonValue, second: JsonValue): readonly string[] {
  return differing(first, second, "");
}

function differing(first: JsonValue | undefined, second: JsonValue | undefined, path: string): readonly string[] {
  if (isPlain(first) && isPlain(second)) {
    const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
    return [...keys].flatMap((key) => differing(first[key], second[key], path === "" ? key : `${path}.${key}`));
  }
  return JSON.stringify(first) === JSON.stringify(second) ? [] : [path];
}

function isPlain(value: unknown): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
