import { Flags } from "@oclif/core";
import { limitHeapGrowth } from "../../batch/heap.js";
import { engineFlags, queueFlags } from "../../cli/flags.js";
import { endpointFlags, openAnswerer } from "../../cli/open-answerer.js";
import { QaCommand, stopOnSignals } from "../../cli/qa-command.js";
import { runFlags } from "../../cli/run-flags.js";
import { resolveRedisUrl } from "../../config.js";
import { openQueue } from "../../queue/open-queue.js";
import { PartAnswerer } from "../../queue/part-answerer.js";
import { resolveQueueName } from "../../queue/part-job.js";
import { drawStatus, exitCodeOfStatus, readStatus } from "../../queue/queue-status.js";
import { lineOf } from "../../queue/work-event.js";
import { workQueue } from "../../queue/work-queue.js";

export default class QueueWork extends QaCommand {
  static override summary = "Answer the parts of a queue; start as many of these as there are machines.";
  static override description =
    `Takes a part, answers it into its file, takes the next. A worker that dies loses its part to another one after --lease \
seconds; one that is told to stop (SIGTERM, Ctrl-C) gives it back at once. A part may so be answered twice, and its \
file is written as a whole each time: in the end each row is there once.

Exit code of --until-empty: 0 all parts answered, 1 a part failed, 3 not yet done, 130 stopped. Without it a worker \
waits for more, and 0 is stopped.`;
  static override usage = "queue work -o DIR [--until-empty] [FLAGS]";
  static override examples = ["<%= config.bin %> queue work --out parts --until-empty"];
  static override flags = {
    out: Flags.string({ char: "o", summary: "folder of the parts, as it was pushed", helpValue: "DIR" }),
    ...queueFlags,
    jobs: Flags.integer({ char: "j", summary: "parts in hand at once", helpValue: "N", default: 1, min: 1 }),
    "until-empty": Flags.boolean({ summary: "end when no part waits or is in anybody's hands" }),
    lease: Flags.integer({
      summary: "seconds that a part stays with a worker not heard of",
      helpValue: "SECONDS",
      default: 30,
      min: 1,
    }),
    models: engineFlags.models,
    workers: engineFlags.workers,
    "batch-tokens": runFlags["batch-tokens"],
    ...endpointFlags,
    cache: runFlags.cache,
    quiet: Flags.boolean({ summary: "say nothing" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueWork);
    limitHeapGrowth();
    const signal = stopOnSignals();
    const opened = await openQueue({ redis: resolveRedisUrl(flags.redis), name: resolveQueueName(flags) });
    const answerer = PartAnswerer.create(({ deployment, chunk }) =>
      openAnswerer({ ...flags, deployment, long: chunk === undefined ? "reject" : "chunk" }),
    );
    const untilEmpty = flags["until-empty"];
    try {
      const end = await workQueue(opened, {
        jobs: flags.jobs,
        leaseMs: flags.lease * 1000,
        untilEmpty,
        answer: (job, stop) => answerer.answer(job, stop),
        onEvent: (event) => flags.quiet || process.stderr.write(`${lineOf(event)}\n`),
        signal,
      });
      process.exitCode = untilEmpty ? 130 : 0;
      if (end === "stopped") return;
      const status = await readStatus(opened);
      if (!flags.quiet) process.stderr.write(`${drawStatus(status)}\n`);
      process.exitCode = exitCodeOfStatus(status);
    } finally {
      await answerer.close();
      await opened.close();
    }
  }
}
