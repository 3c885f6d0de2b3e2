/** Merges the parts of a run into the file that one run would have written; where a proof fails, nothing is left behind. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { QaError } from "../../errors.js";
import { readSidecar } from "../journal/sidecar.js";
import { formatOfOutput, type OutputFormat } from "../write/output-format.js";
import { openReplacement } from "../write/replace-file.js";
import type { RowWriter } from "../write/row-queue.js";
import { openPart, type PartReader } from "./part-reader.js";
import { type MergeInput, type MergePlan, planMerge } from "./plan-merge.js";

export interface MergeOptions {
  /** `.ndjson` or `.csv`, also `.gz`; of the format of the parts. */
  readonly out: string;
  readonly force: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Merges parts, given in any order; memory does not grow with them.
 * @throws QaError `invalid_usage`: they are not one whole run; `input_missing`, `input_damaged`: a file is not what its
 * sidecar says; `output_exists`, `output_failed`, `aborted`. Nothing is written then.
 */
export async function mergeParts(
  files: readonly string[],
  { out, force, signal }: MergeOptions,
): Promise<{ readonly rows: number }> {
  const format = formatOfAll(files, out);
  if (files.some((file) => resolve(file) === resolve(out)))
    throw new QaError("invalid_usage", `${out} is also a part; name another file for the output`);
  const plan = planMerge(await Promise.all(files.map(inputOf)));
  const { writer, commit, discard } = await openReplacement({ out, force });
  const parts = plan.parts.map(({ file, rows }) => openPart({ file, rows, format, signal }));
  try {
    await writer.write(await commonHeader(parts), 0);
    await writeRows(plan, parts, writer);
    for (const part of parts) await part.assertEnd();
    await commit();
  } catch (error) {
    await discard();
    throw error;
  } finally {
    await Promise.all(parts.map((part) => part.close()));
  }
  return { rows: plan.rows };
}

function formatOfAll(files: readonly string[], out: string): OutputFormat {
  const format = formatOfOutput(out);
  const other = files.find((file) => formatOfOutput(file) !== format);
  if (other === undefined) return format;
  throw new QaError("invalid_usage", `${other} and ${out} are not of one format, and a merge does not convert`);
}

async function inputOf(file: string): Promise<MergeInput> {
  const sidecar = await readSidecar(file);
  const { size } = await stat(file);
  const written = sidecar.files.out?.bytes;
  if (written === undefined || written === size) return { file, sidecar };
  if (!sidecar.finished) return { file, sidecar }; // which the plan refuses, and that says more
  const message = `${file} has ${size} bytes, and its run wrote ${written}; it was changed or cut off: make it again`;
  throw new QaError("input_damaged", message, { details: { file } });
}

async function commonHeader(parts: readonly PartReader[]): Promise<string> {
  let first: { readonly file: string; readonly header: string } | undefined;
  for (const part of parts) {
    const header = await part.header();
    first ??= { file: part.file, header };
    if (header === first.header) continue;
    const message = `${part.file} and ${first.file} have different columns; make one of them again like the others`;
    throw new QaError("input_damaged", message, { details: { file: part.file } });
  }
  return first?.header ?? "";
}

async function writeRows(plan: MergePlan, parts: readonly PartReader[], writer: RowWriter): Promise<void> {
  if (plan.type === "concatenate") {
    for (const [at, part] of parts.entries())
      for (let rows = plan.parts[at]?.rows ?? 0; rows > 0; rows--) await writer.write(await part.row());
    return;
  }
  for (let row = 0; row < plan.rows; )
    for (const part of parts) if (row++ < plan.rows) await writer.write(await part.row());
}
