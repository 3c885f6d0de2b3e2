import { Flags } from "@oclif/core";
import { QaCommand } from "../../cli/qa-command.js";
import { resolveDataDir } from "../../config.js";
import { Accounts } from "../../server/accounts/accounts.js";
import type { KeyRecord } from "../../server/accounts/key-store.js";

export default class KeysList extends QaCommand {
  static override summary = "List the API keys: whose they are, when they were made, last used and revoked.";
  static override examples = ["<%= config.bin %> keys list"];
  static override flags = {
    json: Flags.boolean({ summary: "one line of JSON a key" }),
    data: Flags.directory({ summary: "folder of the accounts; default: qa in the user's data directory" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysList);
    const accounts = Accounts.open(resolveDataDir(flags.data));
    try {
      const keys = accounts.keys.keys();
      if (flags.json) for (const key of keys) this.log(JSON.stringify(jsonOf(key)));
      else if (keys.length === 0) this.logToStderr("there are no keys; qa keys create makes one");
      else for (const line of tableOf(keys)) this.log(line);
    } finally {
      accounts.close();
    }
  }
}

function jsonOf({ id, account, createdAtMs, lastUsedAtMs, revokedAtMs }: KeyRecord) {
  const at = (timeMs: number | undefined) => (timeMs === undefined ? null : new Date(timeMs).toISOString());
  return { id, account, created_at: at(createdAtMs), last_used_at: at(lastUsedAtMs), revoked_at: at(revokedAtMs) };
}

function tableOf(keys: readonly KeyRecord[]): string[] {
  const at = (timeMs: number | undefined) =>
    timeMs === undefined ? "-" : `${new Date(timeMs).toISOString().slice(0, 16).replace("T", " ")}Z`;
  const rows = keys.map((key) => [key.id, key.account, at(key.createdAtMs), at(key.lastUsedAtMs), at(key.revokedAtMs)]);
  const table = [["id", "account", "created", "last used", "revoked"], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
