/** How far a queue is: parts by what became of them, and why those that failed did. */

import { countOf, countText, shareText } from "../batch/progress/amounts.js";
import { drawBar } from "../batch/progress/bar.js";
import type { OpenedQueue } from "./open-queue.js";
import { nameOfJob } from "./part-job.js";

export interface QueueStatus {
  readonly queue: string;
  /** Rows of the input; 0 where the queue holds nothing. */
  readonly rows: number;
  readonly parts: { readonly all: number } & Record<PartState, number>;
  /** The first failed parts. */
  readonly failures: readonly { readonly part: string; readonly reason: string; readonly attempts: number }[];
}

type PartState = "answered" | "in_hand" | "waiting" | "failed";

const SHOWN_FAILURES = 20;

/** Reads how far a queue is. */
export async function readStatus({ queue, name }: OpenedQueue): Promise<QueueStatus> {
  const counts = await queue.getJobCounts("completed", "active", "wait", "delayed", "prioritized", "failed");
  const of = (...states: string[]) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const waiting = of("wait", "delayed", "prioritized");
  const parts = { answered: of("completed"), in_hand: of("active"), waiting, failed: of("failed") };
  const all = parts.answered + parts.in_hand + parts.waiting + parts.failed;
  const [any] = all === 0 ? [] : await queue.getJobs(undefined, 0, 0);
  const failed = await queue.getFailed(0, SHOWN_FAILURES - 1);
  const failures = failed.map(({ data, failedReason, attemptsMade }) => {
    return { part: nameOfJob(data), reason: failedReason ?? "", attempts: attemptsMade };
  });
  return { queue: name, rows: any?.data.facts.rows ?? 0, parts: { all, ...parts }, failures };
}

/** The exit code that tells it to a script: 0 all answered, 1 a part has failed, 3 not yet done. */
export function exitCodeOfStatus({ parts }: QueueStatus): 0 | 1 | 3 {
  if (parts.failed > 0) return 1;
  return parts.all > 0 && parts.answered === parts.all ? 0 : 3;
}

/** A bar, the counts, and the failures with their reasons. */
export function drawStatus({ queue, rows, parts, failures }: QueueStatus, barWidth = 40): string {
  if (parts.all === 0) return `queue ${queue} holds no parts; push a run: qa queue push`;
  const share = parts.answered / parts.all;
  const head = `${drawBar(share, barWidth)} ${shareText(share)}  ${countText(parts.answered)} of ${countOf(parts.all, "part")}`;
  const counts = `${countOf(rows, "row")}; ${parts.in_hand} in hand, ${countText(parts.waiting)} waiting, ${parts.failed} failed`;
  const lines = failures.map(({ part, reason, attempts }) => {
    return `  ${part}, after ${countOf(attempts, "attempt")}: ${reason}`;
  });
  const more = parts.failed - failures.length;
  return [head, counts, ...lines, ...(more > 0 ? [`  and ${countText(more)} more`] : [])].join("\n");
}
