/** Progress on a terminal: a quiet screen of a few lines on stderr that is gone when the run ends. */

import { styleText } from "node:util";
import { Box, render, Text } from "ink";
import type { ReactNode } from "react";
import { countOf, countText, durationText, remainingText, shareText, shortText } from "./amounts.js";
import { type Clock, createPace, type Pace, type Progress, STOPPING } from "./pace.js";
import { mixLines, type Paint } from "./progress-mix.js";
import type { TallyCounts } from "./tally.js";
import { cutText, fitText, textWidth } from "./text-width.js";

export interface ScreenProps {
  readonly files: readonly string[];
  readonly counts: TallyCounts;
  readonly pace: Pace;
  readonly columns: number;
  readonly rows: number;
  readonly colors: boolean;
  readonly isStopping?: boolean;
}

const MARGIN = 1;
const OTHER_LINES = 8; // all but the mix, and one that stays free: a full terminal makes ink clear and redraw all of it
const REMAINING_WIDTH = 19; // "  about 9m 55s left"
const REDRAW_MS = 125;
const UP_A_LINE = "\u001b[1A";

/** The screen at one moment; no line is wider than the terminal, and there are fewer than it has. */
export function ProgressScreen({
  files,
  counts,
  pace,
  columns,
  rows,
  colors,
  isStopping = false,
}: ScreenProps): ReactNode {
  const width = Math.max(1, columns - 2 * MARGIN);
  // ink's own colours follow stdout, which is often redirected while stderr is a terminal
  const paint: Paint = (style, text) =>
    colors && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  const mix = mixLines(counts.distributions, { width, paint, maxLines: rows - OTHER_LINES });
  const lines = [
    titleLine(files, pace, width, paint),
    ...(pace.fractionDone === undefined ? [] : [gaugeLine(pace.fractionDone, pace.remainingMs, width, paint)]),
    rateLine(counts, pace, width),
    ...(counts.failed === 0 ? [] : [failureLine(counts, width, paint)]),
    ...(isStopping ? [paint("bold", cutText(STOPPING, width))] : []),
    ...(mix.length === 0 ? [] : ["", ...mix]),
  ];
  return (
    <Box flexDirection="column" paddingX={MARGIN}>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
        <Text key={at} wrap="truncate-end">
          {line === "" ? " " : line}
        </Text>
      ))}
    </Box>
  );
}

function titleLine(files: readonly string[], { elapsedMs }: Pace, width: number, paint: Paint): string {
  const elapsed = durationText(Math.floor(elapsedMs / 1000) * 1000).replace(/\.0 s$/, " s");
  const name = files[0] === "-" ? "stdin" : (files[0] ?? "");
  const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
  const titleWidth = width - elapsed.length - 1;
  const title = cutText(name, titleWidth - more.length) + more;
  return `${paint("bold", fitText(title, titleWidth))} ${paint("dim", elapsed)}`;
}

function gaugeLine(fraction: number, remainingMs: number | undefined, width: number, paint: Paint): string {
  const remaining = remainingMs === undefined ? "" : `about ${remainingText(remainingMs)} left`;
  const isNarrow = width < 40;
  const barWidth = Math.max(1, width - 5 - (isNarrow ? 0 : REMAINING_WIDTH));
  const filled = Math.floor(fraction * barWidth);
  const bar = paint("cyan", "━".repeat(filled)) + paint("dim", "─".repeat(barWidth - filled));
  return `${bar} ${shareText(fraction)}${isNarrow ? "" : fitText(remaining, REMAINING_WIDTH, "right")}`;
}

function rateLine(counts: TallyCounts, { rowsPerSecond, tokensPerSecond }: Pace, width: number): string {
  if (counts.rows === 0) return cutText("waiting for the first answers", width);
  const rates = [
    countOf(counts.rows, "row"),
    rowsPerSecond === undefined ? "" : `${shortText(rowsPerSecond)} rows/s`,
    tokensPerSecond === undefined ? "" : `${shortText(tokensPerSecond)} tokens/s`,
  ];
  return cutText(rates.map((rate) => fitText(rate, 16)).join(""), width);
}

function failureLine({ failed, failures }: TallyCounts, width: number, paint: Paint): string {
  const text = cutText(`${countText(failed)} failed`, width);
  const codes = [...failures].map(([code, { count }]) => `  ${code} ${countText(count)}`).join("");
  return paint("red", text) + cutText(codes, width - textWidth(text));
}

export interface ScreenOptions {
  readonly stream: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly files: readonly string[];
  readonly colors: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Progress on a terminal, drawn from the first update on, at most eight times a second. */
export function createScreenProgress({ stream, clock, files, colors, signal }: ScreenOptions): Progress {
  const pace = createPace(clock.now());
  let seen: { counts: TallyCounts; fractionRead: number | undefined } | undefined;
  const screen = render(<Text> </Text>, { stdout: stream, exitOnCtrlC: false, patchConsole: false, maxFps: 30 });
  const stopClock = clock.every(REDRAW_MS, () => {
    if (seen === undefined) return;
    const { counts, fractionRead } = seen;
    const size = { columns: stream.columns || 80, rows: stream.rows || 24 }; // 0 where a terminal does not tell
    const now = pace.observe(counts, fractionRead, clock.now());
    const shown = { files, counts, pace: now, colors, isStopping: signal?.aborted ?? false, ...size };
    screen.rerender(<ProgressScreen {...shown} />);
  });
  return {
    update(counts, fractionRead) {
      seen = { counts, fractionRead };
    },
    async close() {
      stopClock();
      const exited = screen.waitUntilExit();
      screen.rerender(null);
      screen.unmount();
      await exited;
      stream.write(UP_A_LINE); // ink ends even an empty frame with a line break
    },
  };
}
