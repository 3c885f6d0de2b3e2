/** The report of `qa run`: the file that its flags name, and what the command knows of the run. */

import { type ReportEnd, type RunFacts, reportOf } from "../batch/report/report.js";
import { prepareReport } from "../batch/report/report-file.js";
import { reportedOptions } from "../batch/report/report-options.js";
import type { RunEnd } from "../batch/run.js";
import type { AskedRun, Sitting } from "../batch/sitting.js";
import { toQaError } from "../errors.js";
import type { RunFlags } from "./run-flags.js";

export interface RunReport {
  /** Waits for the end of a sitting and reports it, however it ends. @throws QaError that of the sitting, `output_failed` */
  follow(sitting: Sitting, running: Promise<RunEnd>): Promise<RunEnd>;
}

export interface ReportedCommand {
  /** Of qa. */
  readonly version: string;
  /** Whether a flag was not given. */
  readonly isDefault: (flag: string) => boolean;
}

/**
 * Makes sure that the report can be written; without `--report` there is none, and nothing to do.
 * @throws QaError `invalid_usage`, `output_exists`
 */
export async function openRunReport(
  flags: RunFlags,
  asked: AskedRun,
  { version, isDefault }: ReportedCommand,
): Promise<RunReport> {
  if (flags.report === undefined) return { follow: (_, running) => running };
  const { inputs, files, questions, output } = asked;
  const file = await prepareReport({ file: flags.report, others: [...inputs, ...Object.values(files)] });
  const known = {
    version,
    inputs,
    output: files.out,
    review: files.review,
    questions,
    options: reportedOptions(flags, isDefault),
    band: output.band,
    startedAt: new Date(),
  };
  const write = (sitting: Sitting, end: ReportEnd, error?: RunFacts["error"]) => {
    const { sittings, elapsedMs, thisRows, thisMs } = sitting.timing;
    const thisSitting = { rows: thisRows, elapsedMs: thisMs };
    const facts = { ...known, end, error, writtenAt: new Date(), sittings, elapsedMs, thisSitting };
    return file.write(reportOf(sitting.tally.counts, facts));
  };
  return {
    async follow(sitting, running) {
      const end = await running.catch(async (error: unknown) => {
        const isNews = sitting.timing.thisRows > 0 && !flags["retry-failed"]; // a retry that fails changes nothing
        if (isNews) await write(sitting, "failed", toQaError(error)).catch(() => {}); // what came first is what is told
        throw error;
      });
      await write(sitting, end);
      return end;
    },
  };
}
