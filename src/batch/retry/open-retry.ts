/** Locks a finished run whose failed rows are to be answered again. */

import { QaError } from "../../errors.js";
import { lockOutputs, type OutputLock } from "../journal/output-lock.js";
import { settleReplacement } from "../journal/replacement.js";
import { readSidecar, type Sidecar } from "../journal/sidecar.js";
import { pathsOf, type RunFiles } from "../write/run-sink.js";

export interface LockedRun {
  readonly before: Sidecar;
  readonly lock: OutputLock;
}

/**
 * Locks the files of a run and reads what is known of them.
 * @throws QaError `output_locked`, `invalid_usage`: it is not finished; `input_missing`, `input_damaged`, `output_failed`
 */
export async function openRetry(files: RunFiles): Promise<LockedRun> {
  if (files.out === "-")
    throw new QaError("invalid_usage", "--retry-failed needs the output of an earlier run: --out FILE");
  const lock = lockOutputs(pathsOf(files).map(([, path]) => path));
  try {
    const before = await settleReplacement(files, await readSidecar(files.out));
    if (before.finished) return { before, lock };
    const message = `${files.out} is not finished, ${before.rows} rows are written; finish it first: the same command without --retry-failed`;
    throw new QaError("invalid_usage", message);
  } catch (error) {
    lock.release();
    throw error;
  }
}
