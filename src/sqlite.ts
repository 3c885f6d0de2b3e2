/** What the SQLite files of qa have in common. */

import type Database from "libsql";

/** Time that a write waits for another process. */
export const BUSY_TIMEOUT_MS = 5_000;
const PAUSE_MS = 5;

/**
 * Puts a file into WAL mode, synchronous NORMAL. Of processes that do so with a new file at once, SQLite refuses all but one at
 * once, whatever its busy timeout (a lock cannot be raised past another one's): they try again.
 * @throws SqliteError; SQLITE_BUSY after BUSY_TIMEOUT_MS
 */
export function writeAhead(database: Database.Database): void {
  const until = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS); // files are opened synchronously
    }
  }
}

export function isBusy(error: unknown): boolean {
  return (error as { code?: string }).code?.startsWith("SQLITE_BUSY") ?? false;
}
