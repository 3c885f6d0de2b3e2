import { Flags } from "@oclif/core";
import { QaCommand } from "../../cli/qa-command.js";
import { resolveDataDir } from "../../config.js";
import { Accounts, DEFAULT_ACCOUNT } from "../../server/accounts/accounts.js";

export default class KeysCreate extends QaCommand {
  static override summary = "Make an API key; it is shown this once.";
  static override description =
    "The account is made where there is none of the name. Limits that are passed are set on it; a running service heeds them at once.";
  static override examples = [
    "<%= config.bin %> keys create",
    "<%= config.bin %> keys create --account batch --requests-per-minute 600 --allowance 50000000",
  ];
  static override flags = {
    account: Flags.string({ summary: "account that the key stands for", default: DEFAULT_ACCOUNT }),
    "requests-per-minute": Flags.integer({ summary: "requests that the account may start a minute", min: 1 }),
    "in-flight": Flags.integer({ summary: "requests that the account may have in flight", min: 1 }),
    allowance: Flags.integer({ summary: "processed tokens that the account may use a month (UTC)", min: 0 }),
    data: Flags.directory({ summary: "folder of the accounts; default: qa in the user's data directory" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysCreate);
    const accounts = Accounts.open(resolveDataDir(flags.data));
    try {
      accounts.keys.saveAccount(flags.account, {
        requestsPerMinute: flags["requests-per-minute"],
        requestsInFlight: flags["in-flight"],
        monthlyAllowance: flags.allowance,
      });
      this.log(accounts.keys.createKey(flags.account).key);
    } finally {
      accounts.close();
    }
  }
}
