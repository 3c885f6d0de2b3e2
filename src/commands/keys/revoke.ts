import { Args, Flags } from "@oclif/core";
import { QaCommand } from "../../cli/qa-command.js";
import { resolveDataDir } from "../../config.js";
import { Accounts } from "../../server/accounts/accounts.js";
import { idOfKey } from "../../server/accounts/key.js";

export default class KeysRevoke extends QaCommand {
  static override summary = "Revoke an API key; a running service refuses it from then on.";
  static override examples = ["<%= config.bin %> keys revoke 3f9a1c0b77de"];
  static override args = { key: Args.string({ description: "the key's id, or the key", required: true }) };
  static override flags = {
    data: Flags.directory({ summary: "folder of the accounts; default: qa in the user's data directory" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke);
    const accounts = Accounts.open(resolveDataDir(flags.data));
    try {
      accounts.keys.revokeKey(idOfKey(args.key) ?? args.key);
    } finally {
      accounts.close();
    }
  }
}
