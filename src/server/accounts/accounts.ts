/** The accounts of a data directory, opened: keys, ledger and reports over one database. Who opens it closes it. */

import { type Database, openDatabase } from "./database.js";
import { KeyStore } from "./key-store.js";
import { Ledger } from "./ledger.js";
import { type UsageReport, usageReport } from "./usage-report.js";

export interface AccountsOptions {
  /** Milliseconds since 1970, in place of the system's clock. */
  readonly now?: () => number;
}

export const DEFAULT_ACCOUNT = "default";

export class Accounts {
  readonly keys: KeyStore;
  readonly ledger: Ledger;
  readonly #database: Database.Database;
  readonly #now: () => number;

  private constructor(database: Database.Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.keys = new KeyStore(database, now);
    this.ledger = new Ledger(database, now);
  }

  /** @throws QaError `accounts_unavailable` */
  static open(directory: string, { now = Date.now }: AccountsOptions = {}): Accounts {
    return new Accounts(openDatabase(directory), now);
  }

  /** This month's use of an account, or that of a month such as `2026-11`. */
  usage(account: string, month?: string): UsageReport {
    this.ledger.flush();
    return usageReport(this.#database, this.keys.account(account), { month, nowMs: this.#now() });
  }

  close(): void {
    this.ledger.flush();
    this.#database.close();
  }
}
