/** What has changed between the run that began an output and the one that would go on with it. Pure. */

import type { JsonValue } from "../../decision/json.js";
import { QaError } from "../../errors.js";
import type { Part } from "../read/part.js";
import { differingKeys } from "./differing-keys.js";
import type { Fingerprint } from "./sidecar.js";

const MAX_VALUE = 40;
const MAX_LISTED = 12;

/** What a run is of, beside its input. */
export interface RunKind {
  readonly fingerprint: Fingerprint;
  readonly part: Part | null;
}

/**
 * Holds a run to what began its output.
 * @throws QaError `run_changed` with what is different
 */
export function assertSameRun(out: string, before: RunKind, now: RunKind): void {
  const changes = changesOf(withPart(before), withPart(now));
  if (changes.length === 0) return;
  const listed = changes.slice(0, MAX_LISTED).map((change) => `\n  ${change}`);
  const more = changes.length > MAX_LISTED ? `\n  and ${changes.length - MAX_LISTED} more` : "";
  const message = `${out} was begun by a run that would answer otherwise; changed since then:${listed.join("")}${more}
undo that to go on, name another output, or begin anew with --restart`;
  throw new QaError("run_changed", message, { details: { changes: [...changes] } });
}

function withPart({ fingerprint, part }: RunKind): Fingerprint {
  return { ...fingerprint, part: part === null ? null : { ...part } };
}

/** `key: before -> now` of all that differs; hashes and long values are only said to have changed. */
export function changesOf(before: Fingerprint, now: Fingerprint): readonly string[] {
  return differingKeys(before, now).map((path) => {
    const [was, is] = [wordOf(valueAt(before, path)), wordOf(valueAt(now, path))];
    if (was === undefined || is === undefined) return `${path}: changed`;
    return `${path}: ${was} -> ${is}`;
  });
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  let rest = path;
  while (rest !== "") {
    if (typeof at !== "object" || at === null || Array.isArray(at)) return undefined;
    const object = at as { readonly [key: string]: JsonValue };
    const key = Object.keys(object).find((name) => rest === name || rest.startsWith(`${name}.`));
    if (key === undefined) return undefined;
    at = object[key];
    rest = rest.slice(key.length + 1);
  }
  return at;
}

/** A value as a reader takes it in; `undefined` for what is no word: hashes and what is long. */
function wordOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_VALUE || text.startsWith(HASH_MARK) ? undefined : text;
}

/** What hashes in a fingerprint begin with. */
export const HASH_MARK = "sha256:";
