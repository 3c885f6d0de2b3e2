/** Progress where there is no terminal: one plain line every few seconds. */

import type { Writable } from "node:stream";
import { countOf, countText, remainingText, shareText, shortText } from "./amounts.js";
import { type Clock, createPace, type Pace, type Progress, STOPPING } from "./pace.js";
import type { TallyCounts } from "./tally.js";

export interface LineOptions {
  readonly stream: Writable;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Progress in lines; none where the run ends before the first is due. */
export function createLineProgress({ stream, clock, everyMs, signal }: LineOptions): Progress {
  const pace = createPace(clock.now());
  let seen: { counts: TallyCounts; fractionRead: number | undefined } | undefined;
  const stopClock = clock.every(everyMs, () => {
    if (seen === undefined) return;
    const { counts, fractionRead } = seen;
    stream.write(`${progressLine(counts, pace.observe(counts, fractionRead, clock.now()))}\n`);
  });
  const sayStopping = () => stream.write(`${STOPPING}\n`);
  signal?.addEventListener("abort", sayStopping, { once: true });
  return {
    update(counts, fractionRead) {
      seen = { counts, fractionRead };
    },
    async close() {
      stopClock();
      signal?.removeEventListener("abort", sayStopping);
    },
  };
}

/** One line: rows, rates, share and time left where known, failures by code. */
export function progressLine(counts: TallyCounts, pace: Pace): string {
  const { rowsPerSecond, tokensPerSecond, fractionDone, remainingMs } = pace;
  return [
    countOf(counts.rows, "row"),
    ...(rowsPerSecond === undefined ? [] : [`${shortText(rowsPerSecond)} rows/s`]),
    ...(tokensPerSecond === undefined ? [] : [`${shortText(tokensPerSecond)} tokens/s`]),
    ...(fractionDone === undefined ? [] : [shareText(fractionDone).trim()]),
    ...(remainingMs === undefined ? [] : [`about ${remainingText(remainingMs)} left`]),
    ...(counts.failed === 0 ? [] : [failuresText(counts)]),
  ].join(", ");
}

/** `3 failed (state_too_long 2, malformed_row 1)`. */
function failuresText({ failed, failures }: TallyCounts): string {
  const codes = [...failures].map(([code, { count }]) => `${code} ${countText(count)}`);
  return `${countText(failed)} failed (${codes.join(", ")})`;
}
