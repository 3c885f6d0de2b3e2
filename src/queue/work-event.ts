/** What happens to a worker, and the line that it says about it. */

import { countOf, durationText } from "../batch/progress/amounts.js";
import { nameOfJob, type PartJob, type PartResult } from "./part-job.js";

export type WorkEvent =
  | { readonly type: "answered"; readonly job: PartJob; readonly result: PartResult; readonly elapsedMs: number }
  /** Told to stop, the worker put the part back for others. */
  | { readonly type: "given_back"; readonly job: PartJob }
  /** The lease ran out; the part is another worker's. */
  | { readonly type: "lost"; readonly job: PartJob }
  | { readonly type: "failed"; readonly job: PartJob; readonly reason: string; readonly isFinal: boolean }
  | { readonly type: "trouble"; readonly reason: string };

/** An event as one line. */
export function lineOf(event: WorkEvent): string {
  switch (event.type) {
    case "answered": {
      const { failed, rows } = event.result;
      const failures = failed === 0 ? "" : `, ${failed} of them as errors`;
      return `${nameOfJob(event.job)}: ${countOf(rows, "row")} in ${durationText(event.elapsedMs)}${failures}`;
    }
    case "given_back":
      return `${nameOfJob(event.job)}: given back`;
    case "lost":
      return `${nameOfJob(event.job)}: lost to another worker, since its lease was not renewed in time`;
    case "failed":
      return `${nameOfJob(event.job)}: ${event.isFinal ? "failed" : "failed, will be tried again"}: ${event.reason}`;
    case "trouble":
      return `queue: ${event.reason}`;
    default:
      return event satisfies never;
  }
}
