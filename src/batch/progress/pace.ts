/** How fast a run goes and when it will be done, from the tally and a clock. Pure but for what it remembers of the last seconds. */

import type { TallyCounts } from "./tally.js";

/** Time as the progress needs it; handed in, so that tests have their own. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Calls back every `ms` until the function that it returns is called; keeps no process alive. */
  every(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  every(ms, call) {
    const timer = setInterval(call, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** What is said of a run that was told to stop. */
export const STOPPING = "stopping behind the rows in hand; Ctrl-C again: at once";

/** What shows how a run goes. */
export interface Progress {
  /** Takes note; cheap, draws later. `fractionRead`: bytes of the input read so far over all, where known. */
  update(counts: TallyCounts, fractionRead: number | undefined): void;
  /** Draws no more and leaves the stream clean. */
  close(): Promise<void>;
}

export interface Pace {
  readonly elapsedMs: number;
  /** Over the last seconds; `undefined` until there is something to measure. */
  readonly rowsPerSecond: number | undefined;
  readonly tokensPerSecond: number | undefined;
  /** 0 to 1, `undefined` where the input's length is not known. */
  readonly fractionDone: number | undefined;
  /** `undefined` where it cannot be known, or not yet. */
  readonly remainingMs: number | undefined;
}

type Seen = Pick<TallyCounts, "rows" | "rowsRead" | "inputTokens">;

interface Mark {
  readonly atMs: number;
  readonly rows: number;
  readonly inputTokens: number;
}

/** Answers come in batches: over fewer seconds the rate would jump. */
const WINDOW_MS = 10_000;
const MARK_MS = 250;
const FIRST_RATE_MS = 500;
/** What must be done for a time left to be told before the first answers are a window old: loading the checkpoints is most of it. */
const FIRST_FRACTION = 0.05;

/** Measures from `startMs` on; `observe` returns the pace at a time. */
export function createPace(startMs: number): {
  observe(seen: Seen, fractionRead: number | undefined, nowMs: number): Pace;
} {
  const marks: Mark[] = [{ atMs: startMs, rows: 0, inputTokens: 0 }];
  let firstAtMs = Infinity;
  return {
    observe(seen, fractionRead, nowMs) {
      if (seen.rows > 0) firstAtMs = Math.min(firstAtMs, nowMs);
      while (marks.length > 1 && (marks[1]?.atMs ?? nowMs) <= nowMs - WINDOW_MS) marks.shift();
      const perSecond = rateSince(marks[0], nowMs);
      if (nowMs - (marks.at(-1)?.atMs ?? 0) >= MARK_MS)
        marks.push({ atMs: nowMs, rows: seen.rows, inputTokens: seen.inputTokens });
      const tokensPerSecond = perSecond(seen.inputTokens, "inputTokens");
      const fractionDone = doneOf(seen, fractionRead);
      return {
        elapsedMs: nowMs - startMs,
        rowsPerSecond: perSecond(seen.rows, "rows"),
        tokensPerSecond,
        fractionDone,
        remainingMs:
          nowMs - firstAtMs < WINDOW_MS && (fractionDone ?? 0) < FIRST_FRACTION
            ? undefined
            : remainingOf(seen.inputTokens, fractionDone, tokensPerSecond),
      };
    },
  };
}

function rateSince(mark: Mark | undefined, nowMs: number) {
  return (total: number, of: "rows" | "inputTokens"): number | undefined => {
    if (mark === undefined || nowMs - mark.atMs < FIRST_RATE_MS || total === 0) return undefined;
    return ((total - mark[of]) * 1000) / (nowMs - mark.atMs);
  };
}

/** The bytes read stand for the rows read, of which some have no answer yet. */
function doneOf({ rows, rowsRead }: Seen, fractionRead: number | undefined): number | undefined {
  if (fractionRead === undefined) return undefined;
  return rowsRead === 0 ? 0 : Math.min(1, fractionRead * Math.min(1, rows / rowsRead));
}

/** Tokens to come, as many for each byte as there were so far, at the present rate. */
function remainingOf(
  tokens: number,
  fractionDone: number | undefined,
  tokensPerSecond: number | undefined,
): number | undefined {
  if (fractionDone === undefined || fractionDone === 0 || tokensPerSecond === undefined || tokensPerSecond === 0)
    return undefined;
  return (((tokens * (1 - fractionDone)) / fractionDone) * 1000) / tokensPerSecond;
}
