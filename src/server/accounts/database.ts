/** The accounts' SQLite file: where it lies, its tables, and how it is opened. What is in them belongs to the files beside. */

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { QaError } from "../../errors.js";
import { BUSY_TIMEOUT_MS, writeAhead } from "../../sqlite.js";

export type { Database };
export type Statement = ReturnType<Database.Database["prepare"]>;

/** One entry a version of the file; never edited, only added to. */
const MIGRATIONS = [
  `CREATE TABLE accounts (
     name TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     requests_per_minute INTEGER,
     requests_in_flight INTEGER,
     monthly_allowance INTEGER
   );
   CREATE TABLE keys (
     id TEXT PRIMARY KEY,
     account TEXT NOT NULL REFERENCES accounts(name),
     hash BLOB NOT NULL,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     revoked_at INTEGER
   );
   CREATE TABLE usage (
     account TEXT NOT NULL,
     day TEXT NOT NULL,
     tokens INTEGER NOT NULL,
     calls INTEGER NOT NULL,
     PRIMARY KEY (account, day)
   );
   CREATE TABLE charges (
     account TEXT NOT NULL,
     request_id TEXT NOT NULL,
     digest BLOB NOT NULL,
     day TEXT NOT NULL,
     PRIMARY KEY (account, request_id, digest)
   );
   CREATE INDEX charges_by_day ON charges(day);
   CREATE TABLE refusals (
     account TEXT NOT NULL,
     day TEXT NOT NULL,
     code TEXT NOT NULL,
     count INTEGER NOT NULL,
     PRIMARY KEY (account, day, code)
   );`,
];

/**
 * Opens `accounts.db` in a data directory, both made where they are missing, readable by their owner only.
 * @throws QaError `accounts_unavailable`
 */
export function openDatabase(directory: string): Database.Database {
  const path = join(directory, "accounts.db");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const database = new Database(path, { timeout: BUSY_TIMEOUT_MS }); // e.g. `qa keys create` beside a running service
    chmodSync(path, 0o600);
    // a commit is with the operating system before it returns, so that it outlives the process; FULL would also outlive a loss
    // of power, at some 4 ms of a blocked event loop for each
    writeAhead(database);
    database.exec("PRAGMA foreign_keys = ON");
    migrate(database);
    return database;
  } catch (cause) {
    throw new QaError(
      "accounts_unavailable",
      `the accounts in ${path} cannot be opened; check the folder's permissions, or pass --data with another folder`,
      { cause },
    );
  }
}

function migrate(database: Database.Database): void {
  // immediate: of two processes that open a new file at once, one waits for the other's tables
  database.exec("BEGIN IMMEDIATE");
  try {
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version > MIGRATIONS.length) throw new Error(`written by a newer version of qa (${version})`);
    for (const statements of MIGRATIONS.slice(version)) database.exec(statements);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
