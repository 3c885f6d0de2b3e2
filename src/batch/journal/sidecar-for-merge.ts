/** The facts that stand beside an output, in `FILE.qa`: what made it, of which input, and how far it is. */

import { readFile } from "node:fs/promises";
import type { JsonValue } from "../../decision/json.js";
import { QaError } from "../../errors.js";
import type { Part } from "../read/part.js";

export interface Sidecar {
  readonly version: 1;
  /** All that decides the answers. */
  readonly fingerprint: { readonly [key: string]: JsonValue };
  /** Which rows of the input; `null` for all. */
  readonly part: Part | null;
  /** Rows of the output. */
  readonly rows: number;
  /** The whole input, also the rows of other parts. */
  readonly input: { readonly rows: number; readonly digest: string };
  readonly finished: boolean;
  readonly files: { readonly [name: string]: { readonly bytes: number } };
}

/** Name of the sidecar of an output. */
export function sidecarOf(out: string): string {
  return `${out}.qa`;
}

/**
 * Reads the sidecar of an output.
 * @throws QaError `input_missing`, `input_damaged`
 */
export async function readSidecar(out: string): Promise<Sidecar> {
  const file = sidecarOf(out);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const message = `${out} has no ${file} beside it that tells what it holds; qa run writes both: keep them together`;
    throw new QaError("input_missing", message, { cause });
  });
  const value = parse(text);
  if (isSidecar(value)) return value;
  throw new QaError("input_damaged", `${file} is not what qa run writes; make ${out} again`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSidecar(value: unknown): value is Sidecar {
  return typeof value === "object" && value !== null && (value as Partial<Sidecar>).version === 1;
}

/** Whether a name is that of a sidecar. */
export function isSidecarName(file: string): boolean {
  return file.endsWith(".qa");
}
