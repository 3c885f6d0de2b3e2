import { Args } from "@oclif/core";
import { countOf } from "../../batch/progress/amounts.js";
import { pushedRunOf, pushFlags } from "../../cli/push-flags.js";
import { QaCommand, stopOnSignals } from "../../cli/qa-command.js";
import { resolveRedisUrl } from "../../config.js";
import { openQueue } from "../../queue/open-queue.js";
import { resolveQueueName } from "../../queue/part-job.js";
import { pushRun } from "../../queue/push-run.js";

export default class QueuePush extends QaCommand {
  static override summary = "Put a run on a queue, in parts that any number of workers answer.";
  static override description =
    `Reads the input once, counts its rows and puts parts of --chunk-rows of them on a queue in Redis: names of files and \
numbers of rows, never texts. The workers have to see the same files, under the same names. Pushing again adds \
nothing twice, and gives parts that failed another try.`;
  static override usage = "queue push INPUT... [-q FILE | -p NAME] -o DIR [FLAGS]";
  static override examples = [
    "<%= config.bin %> queue push tickets.csv --preset triage --to csv --out parts",
    "<%= config.bin %> queue work --out parts --until-empty",
    "<%= config.bin %> merge parts/part-* -o answers.csv",
  ];
  static override args = { input: Args.string({ description: "files or globs", required: true, multiple: true }) };
  static override flags = pushFlags;

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(QueuePush);
    const run = await pushedRunOf(flags, argv as string[]);
    const name = resolveQueueName(flags);
    const signal = stopOnSignals();
    const { attempts, backoff } = flags;
    const opened = await openQueue({ redis: resolveRedisUrl(flags.redis), name });
    try {
      const pushed = await pushRun(opened, run, { attempts, backoffMs: backoff * 1000, signal });
      const { rows, parts, added, retried } = pushed;
      const counts = `${countOf(rows, "row")} in ${countOf(parts, "part")} on queue ${name}`;
      if (!flags.quiet) process.stderr.write(`${counts}: ${added} new, ${retried} tried again\n`);
    } finally {
      await opened.close();
    }
  }
}
