/**
 * Keeps a second run from an output that a first one writes. The lock is the operating system's, held through an SQLite
 * transaction: it ends with the process that holds it, however that ends, so no lock is ever stale.
 */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import Database from "libsql";
import { QaError } from "../../errors.js";
import { isBusy } from "../../sqlite.js";
import { openError } from "../write/output-errors.js";

export interface OutputLock {
  release(): void;
}

/** How often the lock's file may be removed by its last owner just as it is opened. */
const MAX_ATTEMPTS = 10;

/**
 * Locks an output for this process.
 * @throws QaError `output_locked` where another one writes it, `invalid_usage` where it has no folder, `output_failed` where
 * the folder takes no lock
 */
export function lockOutput(out: string): OutputLock {
  const file = `${out}.qa.lock`;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const database = tryLock(file, out);
    if (database !== undefined)
      return {
        release() {
          rmSync(file, { force: true }); // while it is held: who opened it before must see that it is gone
          database.close();
        },
      };
  }
  throw lockedError(out);
}

/**
 * Locks all outputs of a run, or none.
 * @throws QaError those of `lockOutput`
 */
export function lockOutputs(paths: readonly string[]): OutputLock {
  const locks: OutputLock[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const path of paths) locks.push(lockOutput(path));
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/**
 * The lock; `undefined` where its file was not the same before and after it was taken, and somebody else may have another.
 * The file is opened by SQLite alone: closing any other handle of it would end the process's locks (POSIX).
 */
function tryLock(file: string, out: string): Database.Database | undefined {
  let database: Database.Database | undefined;
  try {
    const before = statSync(file, { throwIfNoEntry: false })?.ino;
    database = new Database(file, { timeout: 0 });
    database.exec("PRAGMA journal_mode = MEMORY"); // no further file
    database.exec("BEGIN EXCLUSIVE");
    if (before !== undefined && statSync(file, { throwIfNoEntry: false })?.ino === before) return database;
    database.close();
    return undefined;
  } catch (cause) {
    database?.close();
    if (isBusy(cause)) throw lockedError(out, cause);
    throw openError(out, systemErrorOf(out) ?? cause);
  }
}

/** What the system says of making a file beside an output: SQLite says only that it could not. */
function systemErrorOf(out: string): unknown {
  const probe = `${out}.qa.new`; // which the sidecar is written to
  try {
    closeSync(openSync(probe, "a"));
    rmSync(probe, { force: true });
    return undefined;
  } catch (error) {
    return error;
  }
}

function lockedError(out: string, cause?: unknown): QaError {
  return new QaError("output_locked", `another qa writes ${out}; wait for it, or name another output`, { cause });
}
