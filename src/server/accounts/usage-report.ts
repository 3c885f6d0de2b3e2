/** An account's month as `GET /app/usage` and `qa usage` show it. */

import type { Database } from "./database.js";
import type { Account } from "./key-store.js";
import { dayOf, daysOf, monthOf, resetOf } from "./month.js";

/** The wire's form. */
export interface UsageReport {
  readonly account: string;
  readonly month: string;
  /** Processed tokens. */
  readonly used: number;
  /** null: unlimited. */
  readonly allowance: number | null;
  readonly remaining: number | null;
  readonly resets_at: string;
  /** Every day of the month so far, without use too. */
  readonly by_day: readonly { readonly day: string; readonly used: number; readonly calls: number }[];
  /** code -> refused calls of the month, the most frequent first. */
  readonly refusals: Readonly<Record<string, number>>;
}

export function usageReport(
  database: Database.Database,
  { name, monthlyAllowance }: Account,
  { month, nowMs }: { month?: string | undefined; nowMs: number },
): UsageReport {
  const reported = month ?? monthOf(nowMs);
  const between = [name, `${reported}-01`, `${reported}-31`];
  const rows = database
    .prepare("SELECT day, tokens, calls FROM usage WHERE account = ? AND day BETWEEN ? AND ?")
    .all(...between) as { day: string; tokens: number; calls: number }[];
  const refusals = database
    .prepare(
      `SELECT code, sum(count) AS count FROM refusals WHERE account = ? AND day BETWEEN ? AND ?
       GROUP BY code ORDER BY count DESC, code`,
    )
    .all(...between) as { code: string; count: number }[];
  const used = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  return {
    account: name,
    month: reported,
    used,
    allowance: monthlyAllowance ?? null,
    remaining: monthlyAllowance === undefined ? null : Math.max(0, monthlyAllowance - used),
    resets_at: resetOf(reported),
    by_day: daysOf(reported, dayOf(nowMs)).map((day) => ({
      day,
      used: byDay.get(day)?.tokens ?? 0,
      calls: byDay.get(day)?.calls ?? 0,
    })),
    refusals: Object.fromEntries(refusals.map(({ code, count }) => [code, count])),
  };
}
