/** The one way to a progress: a screen on a terminal, lines elsewhere, nothing when quiet. */

import { type Clock, type Progress, systemClock } from "./pace.js";
import { createLineProgress } from "./progress-lines.js";

type ProgressKind = "screen" | "lines" | "none";

export interface ProgressOptions {
  readonly kind: ProgressKind;
  /** stderr. */
  readonly stream: NodeJS.WriteStream;
  /** Names of the inputs, `-` for stdin. */
  readonly files: readonly string[];
  /** Colours on the screen; without NO_COLOR. */
  readonly colors: boolean;
  /** Aborted where the run is told to stop, which takes as long as the rows in hand. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  /** Between two lines; default 5 s. */
  readonly everyMs?: number;
}

/** Shows how a run goes; the screen (ink, React) is loaded only where it is shown. */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const { kind, clock = systemClock, everyMs = 5000 } = options;
  switch (kind) {
    case "screen": {
      const { createScreenProgress } = await import("./progress.js");
      return createScreenProgress({ ...options, clock });
    }
    case "lines":
      return createLineProgress({ ...options, clock, everyMs });
    case "none":
      return { update() {}, async close() {} };
    default:
      return kind satisfies never;
  }
}
