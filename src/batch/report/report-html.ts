/** The report as one page: no script, nothing loaded, readable in light and dark, on a phone and on paper. Pure. */

import { type Html, html } from "../../html.js";
import { countOf, countText, durationText, shareText, shortText } from "../progress/amounts.js";
import { drawParts } from "./draw-parts.js";
import { questionCard, questionTable } from "./questions-html.js";
import type { Report, ReportEnd } from "./report.js";
import { shareOf } from "./report.js";
import { errorSection, identitySection, noteSection, routeSection } from "./sections-html.js";

/** What a page says of the end of its run, and whether it is one to look at. */
const ENDS: Record<ReportEnd, { readonly name: string; readonly isWhole: boolean; readonly text: string }> = {
  finished: { name: "Finished", isWhole: true, text: "" },
  interrupted: {
    name: "Interrupted",
    isWhole: false,
    text: "The run was interrupted. What follows is about the rows before that; the others have no answer yet.",
  },
  reader_gone: {
    name: "Stopped reading",
    isWhole: false,
    text: "Whoever read the output stopped reading, so the run ended early. What follows is about the rows before that.",
  },
  failed: {
    name: "Failed",
    isWhole: false,
    text: "The run ended with an error. What follows is about the rows before that.",
  },
};

/** By which a page is known as a report. */
export const GENERATOR = "qa run report";

/** The page; `style` is its style sheet. */
export function reportHtml(report: Report, style: string): string {
  const { questions, version } = report;
  const title = titleOf(report.inputs);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="${GENERATOR}">
<title>${title} · qa run report</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
${{ html: style }}</style>
</head>
<body>
<header>
<p class="brand">qa run report</p>
<h1>${title}</h1>
<p class="lead">${lead(report)}</p>
${endNotice(report)}
</header>
<main>
${overview(report)}
${questionTable(questions)}
${questions.map((question, i) => questionCard(question, i, report.band))}
${errorSection(report.errors)}
${routeSection(report.routes)}
${noteSection(report)}
${identitySection(report)}
</main>
<footer><p>Made by qa ${version}. This page is one file: it loads nothing and sends nothing.</p></footer>
</body>
</html>
`.html;
}

/** `tickets.csv`, `tickets.csv and 3 more`. */
function titleOf(inputs: readonly string[]): string {
  const [first = ""] = inputs;
  const name = first === "-" ? "standard input" : (first.split(/[\\/]/).at(-1) ?? first);
  return inputs.length > 1 ? `${name} and ${inputs.length - 1} more` : name;
}

function lead({ end, rows, allSittings, sittings, output, startedAt }: Report): Html {
  const { name, isWhole } = ENDS[end];
  const to = output === "-" ? "standard output" : html`<code>${output}</code>`;
  return html`<span class="pill${isWhole ? "" : " wrong"}">${name}</span> ${countOf(rows.total, "row")} to ${to} in ${durationText(allSittings.elapsedMs)}, ${sittings === 1 ? "started" : `sitting ${sittings} started`} ${minuteOf(startedAt)}`;
}

/** `2026-11-21 18:43 UTC`. */
function minuteOf(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function endNotice({ end, error }: Report): Html | readonly Html[] {
  const { isWhole, text } = ENDS[end];
  if (isWhole) return [];
  const why = error === undefined ? [] : html` <code>${error.code}</code> ${error.message}`;
  return html`<p class="notice">${text}${why}</p>`;
}

function overview(report: Report): Html {
  const { rows, inputTokens, allSittings } = report;
  const { total, answered, failed, uncertain, chunked } = rows;
  const of = (part: number) => shareText(shareOf(part, total)).trim();
  const tokensPerSecond = allSittings.elapsedMs > 0 ? (inputTokens * 1000) / allSittings.elapsedMs : 0;
  const tiles = [
    tile("Answered", countText(answered), `${of(answered)} of ${countOf(total, "row")}`, "sure"),
    ...(uncertain === undefined
      ? []
      : [tile("Uncertain", countText(uncertain), `${of(uncertain)} of the rows`, "unsure")]),
    tile("Failed", countText(failed), failed === 0 ? "no row failed" : `${of(failed)} of the rows`, "failed"),
    ...(chunked === 0 ? [] : [tile("In chunks", countText(chunked), "rows with a long text")]),
    ...memoryTile(rows),
    tile("Pace", `${shortText(allSittings.rowsPerSecond)}/s`, `rows, ${durationText(allSittings.elapsedMs)} in all`),
    tile("Tokens", shortText(inputTokens), `${countText(inputTokens)}, ${shortText(tokensPerSecond)}/s`),
  ];
  const unsure = uncertain ?? 0;
  const label = `Of ${countOf(total, "row")}, ${countText(answered)} answered, ${countText(failed)} failed${uncertain === undefined ? "" : `, ${countText(unsure)} of the answered uncertain`}`;
  const parts = [
    { name: "sure", share: shareOf(answered - unsure, total) },
    { name: "unsure", share: shareOf(unsure, total) },
    { name: "failed", share: shareOf(failed, total) },
  ];
  return html`<section aria-labelledby="overview"><h2 id="overview">Rows</h2>
<dl class="tiles">${tiles}</dl>
<div class="all-rows">${drawParts(parts, label)}</div>
</section>`;
}

/** Rows that were answered without being read by a model; none where every row was. */
function memoryTile({ duplicates, cached }: Report["rows"]): readonly Html[] {
  if (duplicates + cached === 0) return [];
  const about = [
    ...(duplicates === 0 ? [] : [`${countText(duplicates)} equal to another row`]),
    ...(cached === 0 ? [] : [`${countText(cached)} kept by an earlier run`]),
  ];
  return [tile("From memory", countText(duplicates + cached), about.join(", "))];
}

function tile(name: string, value: string, about: string, mark?: string): Html {
  const dot = mark === undefined ? [] : html`<span class="dot ${mark}"></span>`;
  return html`<div><dt>${dot}${name}</dt><dd class="value">${value}</dd><dd class="about">${about}</dd></div>`;
}
