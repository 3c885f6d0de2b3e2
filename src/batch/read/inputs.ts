/** The inputs of a run: file names, globs and `-`, resolved to the files that are read, in order. */

import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { glob, isDynamicPattern } from "tinyglobby";
import { QaError } from "../../errors.js";

export interface InputOptions {
  /** Files that no glob stands for, though it matches them. */
  readonly leaveOut?: readonly string[] | undefined;
}

/**
 * Resolves names, globs and `-` (stdin, once) to file names: patterns in the order given, a glob's files sorted, each
 * file once. A name that exists is that file, also where it would read as a glob.
 * @throws QaError `input_missing`, `input_unsupported` for a directory, `invalid_usage` for a second `-`
 */
export async function resolveInputs(
  patterns: readonly string[],
  { leaveOut = [] }: InputOptions = {},
): Promise<readonly string[]> {
  if (patterns.length === 0) throw new QaError("input_missing", "no input; name files, globs, or - to read stdin");
  if (patterns.filter((pattern) => pattern === "-").length > 1)
    throw new QaError("invalid_usage", "- is named twice; stdin can be read once");
  const files = new Set<string>();
  const left = new Set(leaveOut.map((file) => resolve(file)));
  for (const pattern of patterns) for (const file of await filesOf(pattern, left)) files.add(file);
  return [...files];
}

async function filesOf(pattern: string, leaveOut: ReadonlySet<string>): Promise<readonly string[]> {
  if (pattern === "-") return ["-"];
  const entry = await stat(pattern).catch(() => undefined);
  if (entry?.isDirectory())
    throw new QaError(
      "input_unsupported",
      `${pattern} is a directory; name its files, for example '${pattern.replace(/\/+$/, "")}/*.csv'`,
    );
  if (entry !== undefined) return [pattern];
  if (!isDynamicPattern(pattern))
    throw new QaError("input_missing", `no file ${pattern}; check its name, or pass - to read stdin`);
  const found = await glob(pattern, { absolute: isAbsolute(pattern), expandDirectories: false, onlyFiles: true });
  const files = found.filter((file) => !leaveOut.has(resolve(file)));
  if (files.length === 0) throw new QaError("input_missing", `no file matches ${pattern}; check the pattern`);
  return files.sort();
}
