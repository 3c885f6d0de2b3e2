/** What a dry run found, for a person. Pure. */

import { countOf, countText, durationText } from "../progress/amounts.js";
import { drawRowsOf } from "../room/draw-survey.js";
import { wrapText } from "../room/wrap-text.js";
import type { DryRun } from "./dry-run.js";

export interface DrawDryRunOptions {
  readonly columns: number;
  /** How messages name the output. */
  readonly out: string;
  /** Whether states over the room are answered in chunks. */
  readonly isChunked: boolean;
}

const MOST_COLUMNS = 100;
const LEAST_COLUMNS = 60;

/** Lines of text, at most `columns` wide; of columns, 60 to 100 are used. */
export function drawDryRun(found: DryRun, { columns, out, isChunked }: DrawDryRunOptions): string {
  const width = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns));
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["To answer", answeredText(found)],
    ["Tokens", tokensText(found, isChunked)],
    ["Too long", unfitText(found, isChunked)],
    ["Over a call", overCapText(found)],
    ["Duplicates", duplicatesText(found)],
    ["Time", timeText(found)],
    ["Output", `some ${bytesText(found.outputBytes)} ${out === "-" ? "on stdout" : `in ${out}`}`],
  ];
  const size = Math.max(...facts.map(([name]) => name.length)) + 2;
  const lines = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [wrapText(text, { width, lead: name.padEnd(size) })],
  );
  return [...drawRowsOf(found.survey, width), lines.join("\n"), "Nothing was answered or written."].join("\n\n");
}

function answeredText({ answered, survey: { rows } }: DryRun): string {
  const failed = rows - answered;
  const others = failed === 0 ? "" : `, ${countOf(failed, "other")} would be ${failed === 1 ? "an error" : "errors"}`;
  return countOf(answered, "row") + others;
}

function tokensText({ survey }: DryRun, isChunked: boolean): string {
  const states = [...survey.checkpoints.values()].reduce((sum, own) => sum + own.states.total, 0);
  const sequences = survey.totals.inputTokens + (isChunked ? survey.chunked.inputTokens : 0);
  return `${countText(states)} of the texts, ${countText(sequences)} of all sequences (usage.input_tokens)`;
}

function unfitText({ survey: { unfit, chunked } }: DryRun, isChunked: boolean): string | undefined {
  if (unfit.count === 0) return undefined;
  const rows = countOf(unfit.count, "row");
  const chunks = `some ${countOf(chunked.chunks, "chunk")}`;
  return isChunked ? `${rows}, answered in ${chunks}` : `${rows}; with --long chunk answered in ${chunks}`;
}

function overCapText({ survey: { overCap } }: DryRun): string | undefined {
  if (overCap.count === 0) return undefined;
  return `${countOf(overCap.count, "row")} over the cap or the questions of one call, split over ${countText(overCap.calls)} calls`;
}

function duplicatesText({ duplicates: { rows, isExact } }: DryRun): string | undefined {
  if (rows === 0 && isExact) return undefined;
  return `${isExact ? "" : "at least "}${countOf(rows, "row")} equal to an earlier one, answered once`;
}

function timeText({ time: { fromMs, toMs }, measured }: DryRun): string {
  if (measured.rows === 0) return "nothing to answer";
  const [from, to] = [durationText(fromMs), durationText(toMs)];
  const range = from === to ? from : `${from} to ${to}`;
  const how = `${countOf(measured.rows, "row")} answered in ${durationText(measured.ms)} by ${countOf(measured.workers, "worker")}`;
  return `${range} on this machine, judged by ${how}`;
}

/** `812 bytes`, `61 kB`, `1.2 GB`. */
function bytesText(bytes: number): string {
  if (bytes < 1000) return countOf(bytes, "byte");
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 ? value.toFixed(1) : countText(value)} ${["", "kB", "MB", "GB"][power]}`;
}
