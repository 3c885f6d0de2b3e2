/** What a run comes to, as plain text for its end. Pure. */

import { barText, countOf, countText, durationText, shareText, shortText } from "./amounts.js";
import type { Distribution } from "./distribution.js";
import type { RouteCounts } from "./route-counter.js";
import { meanOf, sharesOf } from "./shares.js";
import type { TallyCounts } from "./tally.js";
import { cutText, fitText, packTexts, textWidth } from "./text-width.js";

export interface SummaryOptions {
  readonly elapsedMs: number;
  /** Of the terminal; at most 100 are used. */
  readonly columns: number;
}

const MAX_WIDTH = 100;
const MAX_QUESTIONS = 40;
const MAX_LABELS = 12;
const MAX_NAME_WIDTH = 28;
const MAX_BAR_WIDTH = 30;
const INDENT = "  ";

/** The summary: rows, failures, tokens and time, models and why, then the answers to each question. Ends with a line end. */
export function summaryText(counts: TallyCounts, { elapsedMs, columns }: SummaryOptions): string {
  const width = Math.min(MAX_WIDTH, Math.max(20, columns));
  const sections = [
    [...headline(counts, elapsedMs, width), ...failureLines(counts, width), ...replacedLines(counts, width)],
    routeLines([...counts.routes.values()], width),
    ...distributionSections(counts, width),
  ].filter((lines) => lines.length > 0);
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function headline(counts: TallyCounts, elapsedMs: number, width: number): readonly string[] {
  const { rows, answered, inputTokens, chunked, uncertain, duplicates, cached } = counts;
  const perSecond = (total: number) => shortText(elapsedMs > 0 ? (total * 1000) / elapsedMs : 0);
  const all = answered === rows ? "" : `${countText(answered)} of `;
  const texts = [
    `${all}${countOf(rows, "row")} answered in ${durationText(elapsedMs)}`,
    `${perSecond(rows)} rows/s`,
    `${countOf(inputTokens, "token")}`,
    `${perSecond(inputTokens)} tokens/s`,
    ...(chunked === 0 ? [] : [`${countOf(chunked, "row")} in chunks`]),
    ...(duplicates === 0 ? [] : [`${countOf(duplicates, "duplicate row")} answered once`]),
    ...(cached === 0 ? [] : [`${countOf(cached, "row")} from the cache`]),
    ...(uncertain === 0 ? [] : [`${countOf(uncertain, "row")} uncertain`]),
  ];
  return packTexts(texts, { width, gap: ", " });
}

function failureLines({ failures }: TallyCounts, width: number): readonly string[] {
  const codeWidth = Math.max(0, ...[...failures.keys()].map((code) => code.length));
  return [...failures].map(([code, { count, firstRows }]) => {
    const more = count > firstRows.length ? ", ..." : "";
    const where = `${count === 1 ? "row" : "rows"} ${firstRows.join(", ")}${more}`;
    return cutText(`${countText(count).padStart(7)} failed: ${code.padEnd(codeWidth)}${INDENT}${where}`, width);
  });
}

function replacedLines({ replaced }: TallyCounts, width: number): readonly string[] {
  return [...replaced].map(([key, count]) =>
    cutText(`note: ${key}, a field of ${countOf(count, "row")}, gave way to qa's own`, width),
  );
}

function routeLines(routes: readonly RouteCounts[], width: number): readonly string[] {
  const models = [...new Set(routes.map(({ model }) => model))];
  const nameWidth = Math.min(width, Math.max(0, ...models.map(textWidth)));
  return models.flatMap((model) => {
    const own = routes.filter((route) => route.model === model).toSorted((a, b) => b.count - a.count);
    const count = own.reduce((sum, route) => sum + route.count, 0);
    const reasons = own.map((route) => (own.length === 1 ? route.reason : `${route.reason} ${countText(route.count)}`));
    const line = `${fitText(model, nameWidth)}${countOf(count, "row").padStart(12)}`;
    const whole = `${line}${INDENT}${reasons.join(", ")}`;
    if (textWidth(whole) <= width) return [whole];
    const packed = packTexts(reasons, { width: width - INDENT.length, gap: ", " });
    return [cutText(line, width), ...packed.map((text) => INDENT + text)];
  });
}

function distributionSections(counts: TallyCounts, width: number): readonly (readonly string[])[] {
  const shown = counts.distributions.slice(0, MAX_QUESTIONS);
  const nameWidth = Math.min(
    width < 80 ? Math.min(18, width - 16) : MAX_NAME_WIDTH,
    Math.max(0, ...shown.flatMap((each) => sharesOf(each).map(({ label }) => textWidth(label)))),
  );
  const left = counts.distributions.length - shown.length + (counts.otherAnswers > 0 ? 1 : 0);
  const more = left === 0 ? [] : [["and more questions, each in the output"]];
  return [...shown.map((each) => distributionLines(each, nameWidth, width)), ...more];
}

function distributionLines(distribution: Distribution, nameWidth: number, width: number): readonly string[] {
  const { id, type, count } = distribution;
  const mean = meanOf(distribution);
  const ofMean = mean === undefined ? "" : `, mean ${type === "noul" ? "P(yes)" : "score"} ${mean.toFixed(2)}`;
  const title = `, ${countOf(count, "answer")}${ofMean}`;
  const shares = sharesOf(distribution);
  const ordered = type === "choice" ? shares.toSorted((a, b) => b.count - a.count) : shares;
  const countWidth = Math.max(...shares.map((share) => countText(share.count).length));
  const barWidth = Math.max(1, Math.min(MAX_BAR_WIDTH, width - nameWidth - countWidth - 10));
  const bars = ordered.slice(0, MAX_LABELS).map((share) => {
    const counted = countText(share.count).padStart(countWidth);
    const name = fitText(share.label, nameWidth);
    return `${INDENT}${name}${INDENT}${barText(share.share, barWidth - 1)} ${shareText(share.share)}${INDENT}${counted}`;
  });
  const left = shares.length - bars.length;
  const more = left > 0 ? [`${INDENT}and ${left} more labels`] : [];
  return [cutText(cutText(id, width - title.length) + title, width), ...bars, ...more];
}
