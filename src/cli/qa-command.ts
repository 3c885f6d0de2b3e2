/** What all commands share: how an error ends the process, and how signals stop it. */

import { Command } from "@oclif/core";
import { ERROR_KINDS, toQaError } from "../errors.js";

/** A command whose errors end it with one clear message and the exit code of the error table. */
export abstract class QaCommand extends Command {
  protected override async init(): Promise<void> {
    await super.init();
    // whoever reads our output may stop reading: `| head` is success, and a run goes on when nobody follows it
    for (const stream of [process.stdout, process.stderr])
      stream.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "EPIPE") throw error;
      });
  }

  protected override async catch(error: Error & { oclif?: unknown; code?: string }): Promise<unknown> {
    // the whole help behind a message would push it off the screen; the message names --help
    if (error.oclif !== undefined || error.code === "EEXIT")
      return super.catch(Object.assign(error, { showHelp: false }));
    const failure = toQaError(error);
    const cause = failure.code === "internal" ? `\n${(failure.cause as Error | undefined)?.stack ?? ""}` : "";
    process.stderr.write(`qa: ${failure.message}${cause}\n`);
    process.exitCode = ERROR_KINDS[failure.code].exit;
    return undefined;
  }
}

/**
 * Aborted at the first SIGINT or SIGTERM. The second ends the process as if nobody listened: an orderly `process.exit` would
 * tear down the runtime under the feet of workers that are still in it.
 */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => {
      if (!stop.signal.aborted) return stop.abort();
      process.removeAllListeners(name);
      process.kill(process.pid, name);
    });
  return stop.signal;
}
