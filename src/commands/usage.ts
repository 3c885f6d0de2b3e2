import { Flags } from "@oclif/core";
import { QaCommand } from "../cli/qa-command.js";
import { resolveDataDir } from "../config.js";
import { QaError } from "../errors.js";
import { Accounts, DEFAULT_ACCOUNT } from "../server/accounts/accounts.js";
import { isMonth } from "../server/accounts/month.js";
import type { UsageReport } from "../server/accounts/usage-report.js";

export default class Usage extends QaCommand {
  static override summary = "Show what an account has used of its allowance, by day.";
  static override examples = [
    "<%= config.bin %> usage",
    "<%= config.bin %> usage --account batch --month 2026-11 --json",
  ];
  static override flags = {
    account: Flags.string({ summary: "account to show", default: DEFAULT_ACCOUNT }),
    month: Flags.string({ summary: "month to show, in UTC; default: this one", helpValue: "YYYY-MM" }),
    json: Flags.boolean({ summary: "as GET /app/usage answers it" }),
    data: Flags.directory({ summary: "folder of the accounts; default: qa in the user's data directory" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Usage);
    if (flags.month !== undefined && !isMonth(flags.month))
      throw new QaError("invalid_usage", "--month needs a month such as 2026-11");
    const accounts = Accounts.open(resolveDataDir(flags.data));
    try {
      const report = accounts.usage(flags.account, flags.month);
      if (flags.json) this.log(JSON.stringify(report));
      else for (const line of linesOf(report)) this.log(line);
    } finally {
      accounts.close();
    }
  }
}

function linesOf({ account, month, used, allowance, remaining, resets_at, by_day, refusals }: UsageReport): string[] {
  const of = allowance === null ? "unlimited" : `${allowance} allowed, ${remaining} left`;
  const days = by_day.filter(({ calls }) => calls > 0);
  return [
    `${account}, ${month}: ${used} processed tokens (${of}); resets at ${resets_at}`,
    ...days.map((day) => `${day.day}  ${String(day.used).padStart(12)} tokens  ${String(day.calls).padStart(8)} calls`),
    ...Object.entries(refusals).map(([code, count]) => `refused  ${code}: ${count}`),
  ];
}
