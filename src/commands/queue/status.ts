import { Flags } from "@oclif/core";
import { queueFlags } from "../../cli/flags.js";
import { QaCommand } from "../../cli/qa-command.js";
import { resolveRedisUrl } from "../../config.js";
import { openQueue } from "../../queue/open-queue.js";
import { resolveQueueName } from "../../queue/part-job.js";
import { drawStatus, exitCodeOfStatus, readStatus } from "../../queue/queue-status.js";

export default class QueueStatus extends QaCommand {
  static override summary = "See how far a queue is, and why parts failed.";
  static override description = "Exit code: 0 all parts answered, 1 a part failed, 3 not yet done.";
  static override examples = ["<%= config.bin %> queue status --out parts"];
  static override flags = {
    out: Flags.string({ char: "o", summary: "folder of the parts, as it was pushed", helpValue: "DIR" }),
    ...queueFlags,
    json: Flags.boolean({ summary: "one line of JSON" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueStatus);
    const opened = await openQueue({ redis: resolveRedisUrl(flags.redis), name: resolveQueueName(flags) });
    try {
      const status = await readStatus(opened);
      this.log(flags.json ? JSON.stringify(status) : drawStatus(status));
      process.exitCode = exitCodeOfStatus(status);
    } finally {
      await opened.close();
    }
  }
}
