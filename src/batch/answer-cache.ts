/**
 * Answers kept across runs, in a SQLite file of a folder: read row by row, written by the batch, shared by the processes
 * that have the same folder open. What the keys and texts mean belongs to answer-once.ts.
 */

import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";
import { QaError } from "../errors.js";
import { BUSY_TIMEOUT_MS, isBusy, writeAhead } from "../sqlite.js";
import type { AnswerStore } from "./answer-once.js";

const FILE = "answers.db";
/** Of SQLite's header: tells this file from any other database; "qaan". */
const APPLICATION_ID = 0x7161616e;
const SCHEMA_VERSION = 1;
/** A crash of the process loses at most these answers, or those of the last second. */
const BATCH = 200;
const FLUSH_MS = 1_000;
/** Up to this size a file is looked through when it is opened; 128 MiB take some 0.4 s. */
const CHECKED_BYTES = 128 * 2 ** 20;

type Statement = ReturnType<Database.Database["prepare"]>;

export class AnswerCache implements AnswerStore {
  readonly #database: Database.Database;
  readonly #path: string;
  readonly #select: Statement;
  readonly #insert: Statement;
  readonly #pending = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;
  #failure: QaError | undefined;

  private constructor(database: Database.Database, path: string) {
    this.#database = database;
    this.#path = path;
    this.#select = database.prepare("SELECT answer FROM answers WHERE key = ?");
    this.#insert = database.prepare(
      "INSERT INTO answers (key, answer) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET answer = excluded.answer",
    );
    this.#timer = setInterval(() => this.#flush(), FLUSH_MS).unref();
  }

  /**
   * Opens the cache of a folder, both made where they are missing, readable by their owner only.
   * @throws QaError `cache_unavailable` for a folder that cannot be written, and for a file that is damaged or no cache;
   * `invalid_usage` for a name that is no folder
   */
  static open(directory: string): AnswerCache {
    const path = join(directory, FILE);
    let database: Database.Database | undefined;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600)); // SQLite would let others read it; its log gets the same permissions
      database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
      prepareFile(database, path);
      return new AnswerCache(database, path);
    } catch (error) {
      database?.close();
      throw error instanceof QaError ? error : unavailable(path, error);
    }
  }

  get(key: string): string | undefined {
    const pending = this.#pending.get(key);
    if (pending !== undefined || this.#failure !== undefined) return pending;
    try {
      return (this.#select.get(key) as { answer: string } | undefined)?.answer;
    } catch (error) {
      this.#failure = unavailable(this.#path, error);
      return undefined;
    }
  }

  /** Takes an answer, written with the next batch. */
  put(key: string, text: string): void {
    if (this.#failure !== undefined) return;
    this.#pending.set(key, text);
    if (this.#pending.size >= BATCH) this.#flush();
  }

  /**
   * Writes what is pending and closes.
   * @returns why the cache was of no more use at some point, `undefined` where it was to the end: answers are right without
   * it, so that no run ends of it
   */
  close(): QaError | undefined {
    clearInterval(this.#timer);
    this.#flush();
    // as far as no other process has the file open, it is whole without its log
    if (this.#failure === undefined) this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#database.close();
    return this.#failure;
  }

  #flush(): void {
    if (this.#pending.size === 0 || this.#failure !== undefined) return;
    try {
      this.#database.exec("BEGIN IMMEDIATE"); // a lock that is asked for later, by the first insert, would not be waited for
      for (const entry of this.#pending) this.#insert.run(entry);
      this.#database.exec("COMMIT");
      this.#pending.clear();
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      this.#failure = unavailable(this.#path, error);
    }
  }
}

function prepareFile(database: Database.Database, path: string): void {
  assertCache(database, path); // before anything is changed in it
  if (statSync(path).size <= CHECKED_BYTES) {
    const { quick_check: verdict } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    if (verdict !== "ok") throw damaged(path, new Error(verdict));
  }
  // synchronous NORMAL: a loss of power may cost the last batches, never the file
  writeAhead(database);
  // one transaction, immediate: of processes that open a new file at once, the others wait for the first one's table
  database.exec(`BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${SCHEMA_VERSION};
    COMMIT;`);
}

/** @throws QaError `cache_unavailable` for a database of something else, or of a newer qa */
function assertCache(database: Database.Database, path: string): void {
  const numberOf = (pragma: string) =>
    Number((database.prepare(`PRAGMA ${pragma}`).get() as Record<string, unknown>)[pragma]);
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (isNew) return;
  if (numberOf("application_id") !== APPLICATION_ID)
    throw new QaError(
      "cache_unavailable",
      `${path} is a database of something else; name another folder for the cache`,
    );
  if (numberOf("user_version") > SCHEMA_VERSION)
    throw new QaError("cache_unavailable", `${path} was written by a newer qa; name another folder, or update qa`);
}

function unavailable(path: string, cause: unknown): QaError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) return damaged(path, cause);
  if (code.startsWith("SQLITE_FULL"))
    return new QaError("cache_unavailable", `${path}: no space is left for the cache; make room, or delete it`, {
      cause,
    });
  if (isBusy(cause))
    return new QaError("cache_unavailable", `${path} is locked by another program for longer than 5 s; stop it`, {
      cause,
    });
  if (code === "EEXIST" || code === "ENOTDIR")
    return new QaError("invalid_usage", `--cache ${dirname(path)} is no folder; name one, or one to be made`, {
      cause,
    });
  const advice = "check the folder and its permissions, or name another";
  return new QaError("cache_unavailable", `the cache ${path} cannot be used (${code}); ${advice}`, { cause });
}

function damaged(path: string, cause: unknown): QaError {
  const message = `${path} is damaged or no cache of qa; delete it, and its answers are worked out anew, or name another folder`;
  return new QaError("cache_unavailable", message, { cause });
}
