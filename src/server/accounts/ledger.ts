/**
 * What accounts have used: reserved in memory before a call, written to disk before its answer goes out. So a process that is
 * killed forgets the calls that it has not answered and keeps those that it has. Settlements of the same turn of the event
 * loop share one commit.
 */

import { QaError } from "../../errors.js";
import type { Database } from "./database.js";
import { dayOf, monthBefore, monthOf, resetOf } from "./month.js";

export interface Charge {
  readonly account: string;
  readonly monthlyAllowance: number | undefined;
  /** Processed tokens of the call: its cost. */
  readonly tokens: number;
  /** Given by the client, so that a retry is not charged again; absent where the client gave none. */
  readonly retry?: { readonly requestId: string; readonly digest: Buffer } | undefined;
}

export interface Reservation {
  /** Resolves once the charge is on disk. */
  settle(): Promise<void>;
  /** Nothing is charged. */
  release(): void;
}

interface Settlement {
  readonly charge: Charge;
  readonly day: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Refusals and last uses are written at the latest after this; neither decides anything. */
const NOTES_DELAY_MS = 1_000;

export class Ledger {
  readonly #database: Database.Database;
  readonly #now: () => number;
  readonly #reserved = new Map<string, number>();
  readonly #refusals = new Map<string, { account: string; day: string; code: string; count: number }>();
  readonly #lastUses = new Map<string, number>();
  #settlements: Settlement[] = [];
  #scheduled = false;
  #notesTimer: NodeJS.Timeout | undefined;
  #forgottenBefore = "";

  constructor(database: Database.Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#forgetOldCharges(dayOf(now()));
  }

  /**
   * Sets the tokens of a call aside, in the month of now. A request that was charged before is free.
   * @throws QaError `allowance_exhausted`
   */
  reserve(charge: Charge): Reservation {
    const day = dayOf(this.#now());
    const tokens = this.#isCharged(charge) ? 0 : charge.tokens;
    this.#assertAllowed(charge, day.slice(0, 7), tokens);
    this.#setAside(charge.account, tokens);
    let isOpen = true;
    const release = () => {
      if (isOpen) this.#setAside(charge.account, -tokens);
      isOpen = false;
    };
    return { release, settle: () => this.#settle(charge, day).finally(release) };
  }

  /** Tokens that an account has used in a month, without what is reserved. */
  used(account: string, month: string): number {
    const row = this.#database
      .prepare("SELECT coalesce(sum(tokens), 0) AS used FROM usage WHERE account = ? AND day BETWEEN ? AND ?")
      .get(account, `${month}-01`, `${month}-31`) as { used: number };
    return row.used;
  }

  noteRefusal(account: string, code: string): void {
    const day = dayOf(this.#now());
    const name = JSON.stringify([account, day, code]);
    const count = (this.#refusals.get(name)?.count ?? 0) + 1;
    this.#refusals.set(name, { account, day, code, count });
    this.#scheduleNotes();
  }

  noteUse(keyId: string): void {
    this.#lastUses.set(keyId, this.#now());
    this.#scheduleNotes();
  }

  /** Writes all that is still held in memory but reservations. */
  flush(): void {
    clearTimeout(this.#notesTimer);
    this.#notesTimer = undefined;
    if (this.#settlements.length + this.#refusals.size + this.#lastUses.size === 0) return;
    const settlements = this.#settlements;
    this.#settlements = [];
    try {
      this.#inTransaction(() => {
        for (const { charge, day } of settlements) this.#write(charge, day);
        this.#writeNotes();
      });
    } catch (error) {
      for (const { reject } of settlements) reject(error); // the notes stay, for the next flush
      return;
    }
    this.#refusals.clear();
    this.#lastUses.clear();
    for (const { resolve } of settlements) resolve();
  }

  #settle(charge: Charge, day: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settlements.push({ charge, day, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.flush();
      });
    });
  }

  #assertAllowed({ account, monthlyAllowance: allowance }: Charge, month: string, tokens: number): void {
    if (allowance === undefined || tokens === 0) return;
    const used = this.used(account, month) + (this.#reserved.get(account) ?? 0);
    if (used + tokens <= allowance) return;
    const resetsAt = resetOf(month);
    throw new QaError(
      "allowance_exhausted",
      `the call costs ${tokens} processed tokens and ${Math.max(0, allowance - used)} of this month's ${allowance} are left; they reset at ${resetsAt}, or ask whoever runs this service for more`,
      { details: { used, allowance, resets_at: resetsAt } },
    );
  }

  #setAside(account: string, tokens: number): void {
    this.#reserved.set(account, (this.#reserved.get(account) ?? 0) + tokens);
  }

  #isCharged({ account, retry }: Charge): boolean {
    if (retry === undefined) return false;
    return (
      this.#database
        .prepare("SELECT 1 FROM charges WHERE account = ? AND request_id = ? AND digest = ?")
        .get(account, retry.requestId, retry.digest) !== undefined
    );
  }

  #write({ account, tokens, retry }: Charge, day: string): void {
    this.#forgetOldCharges(day);
    if (retry !== undefined) {
      const { changes } = this.#database
        .prepare("INSERT OR IGNORE INTO charges (account, request_id, digest, day) VALUES (?, ?, ?, ?)")
        .run(account, retry.requestId, retry.digest, day);
      if (changes === 0) return;
    }
    this.#database
      .prepare(
        `INSERT INTO usage (account, day, tokens, calls) VALUES (?, ?, ?, 1)
         ON CONFLICT (account, day) DO UPDATE SET tokens = tokens + excluded.tokens, calls = calls + 1`,
      )
      .run(account, day, tokens);
  }

  #writeNotes(): void {
    for (const { account, day, code, count } of this.#refusals.values())
      this.#database
        .prepare(
          `INSERT INTO refusals (account, day, code, count) VALUES (?, ?, ?, ?)
           ON CONFLICT (account, day, code) DO UPDATE SET count = count + excluded.count`,
        )
        .run(account, day, code, count);
    for (const [keyId, timeMs] of this.#lastUses)
      this.#database
        .prepare("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?")
        .run(timeMs, keyId);
  }

  #scheduleNotes(): void {
    this.#notesTimer ??= setTimeout(() => this.flush(), NOTES_DELAY_MS).unref();
  }

  /** Request ids are remembered for their month and the one after; once a day the older ones go. */
  #forgetOldCharges(day: string): void {
    const first = `${monthBefore(monthOf(Date.parse(day)))}-01`;
    if (first === this.#forgottenBefore) return;
    this.#database.prepare("DELETE FROM charges WHERE day < ?").run(first);
    this.#forgottenBefore = first;
  }

  #inTransaction(write: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      write();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}
