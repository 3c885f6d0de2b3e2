/** Accounts and their keys in the database: make, list, revoke, and find the account that a key stands for. */

import { QaError } from "../../errors.js";
import type { Database, Statement } from "./database.js";
import { createKey, hashOfKey, idOfKey, isSameHash } from "./key.js";

export interface AccountLimits {
  /** Absent: unlimited. */
  readonly requestsPerMinute: number | undefined;
  readonly requestsInFlight: number | undefined;
  /** Processed tokens of a calendar month in UTC. */
  readonly monthlyAllowance: number | undefined;
}

export interface Account extends AccountLimits {
  readonly name: string;
}

export interface KeyRecord {
  readonly id: string;
  readonly account: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
}

interface AccountRow {
  name: string;
  requests_per_minute: number | null;
  requests_in_flight: number | null;
  monthly_allowance: number | null;
}

interface KeyRow {
  id: string;
  account: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

export class KeyStore {
  readonly #database: Database.Database;
  readonly #now: () => number;
  /** Prepared once: it runs at every request. */
  readonly #find: Statement;

  constructor(database: Database.Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#find = database.prepare(
      "SELECT hash, revoked_at, accounts.* FROM keys JOIN accounts ON accounts.name = keys.account WHERE keys.id = ?",
    );
  }

  /** Makes an account, or sets the given limits of one that exists. */
  saveAccount(name: string, limits: Partial<AccountLimits> = {}): Account {
    this.#database
      .prepare(
        `INSERT INTO accounts (name, created_at, requests_per_minute, requests_in_flight, monthly_allowance)
         VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET
           requests_per_minute = coalesce(excluded.requests_per_minute, requests_per_minute),
           requests_in_flight = coalesce(excluded.requests_in_flight, requests_in_flight),
           monthly_allowance = coalesce(excluded.monthly_allowance, monthly_allowance)`,
      )
      .run(
        name,
        this.#now(),
        limits.requestsPerMinute ?? null,
        limits.requestsInFlight ?? null,
        limits.monthlyAllowance ?? null,
      );
    return this.account(name);
  }

  /** @throws QaError `invalid_usage` where there is none of the name */
  account(name: string): Account {
    const row = this.#database.prepare("SELECT * FROM accounts WHERE name = ?").get(name) as AccountRow | undefined;
    if (row !== undefined) return accountOf(row);
    throw new QaError("invalid_usage", `there is no account "${name}"; see qa keys list`);
  }

  accounts(): Account[] {
    return (this.#database.prepare("SELECT * FROM accounts ORDER BY name").all() as AccountRow[]).map(accountOf);
  }

  /** A new key of an account; the text of the key is known to its caller alone. */
  createKey(account: string): { readonly id: string; readonly key: string } {
    const { id, key, hash } = createKey();
    this.#database
      .prepare("INSERT INTO keys (id, account, hash, created_at) VALUES (?, ?, ?, ?)")
      .run(id, account, hash, this.#now());
    return { id, key };
  }

  keys(): KeyRecord[] {
    const rows = this.#database.prepare("SELECT * FROM keys ORDER BY created_at, id").all() as KeyRow[];
    return rows.map((row) => ({
      id: row.id,
      account: row.account,
      createdAtMs: row.created_at,
      lastUsedAtMs: row.last_used_at ?? undefined,
      revokedAtMs: row.revoked_at ?? undefined,
    }));
  }

  /**
   * From now on a key opens nothing; revoking it again changes nothing.
   * @throws QaError `invalid_usage` where there is none of the id
   */
  revokeKey(id: string): void {
    const { changes } = this.#database
      .prepare("UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?")
      .run(this.#now(), id);
    if (changes === 0) throw new QaError("invalid_usage", `there is no key with the id "${id}"; see qa keys list`);
  }

  /** The account of a valid key that is not revoked. */
  find(key: string): { readonly keyId: string; readonly account: Account } | undefined {
    const id = idOfKey(key) ?? "";
    const row = this.#find.get(id) as (AccountRow & { hash: Uint8Array; revoked_at: number | null }) | undefined;
    const isKnown = isSameHash(hashOfKey(key), row === undefined ? undefined : Buffer.from(row.hash));
    if (!isKnown || row === undefined || row.revoked_at !== null) return undefined;
    return { keyId: id, account: accountOf(row) };
  }
}

function accountOf(row: AccountRow): Account {
  return {
    name: row.name,
    requestsPerMinute: row.requests_per_minute ?? undefined,
    requestsInFlight: row.requests_in_flight ?? undefined,
    monthlyAllowance: row.monthly_allowance ?? undefined,
  };
}
