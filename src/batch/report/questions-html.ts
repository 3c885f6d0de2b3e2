/** The questions of the report's page: a table of all, then a card for each with its answers and its histogram. Pure. */

import { type Html, html } from "../../html.js";
import { countOf, countText, shareText } from "../progress/amounts.js";
import type { Band } from "../review/band.js";
import { drawHistogram } from "./draw-histogram.js";
import { drawParts } from "./draw-parts.js";
import type { OptionReport, QuestionReport } from "./question-report.js";
import { numberCell, tableHtml } from "./table-html.js";

const TYPES: Record<QuestionReport["type"], string> = { noul: "yes/no", choice: "choice", score: "score" };

/** Options that a card shows at once; the others fold out. */
const MAX_OPTIONS = 12;

/** All questions, a line each; nothing where there are none. */
export function questionTable(questions: readonly QuestionReport[]): Html | readonly Html[] {
  if (questions.length === 0) return [];
  const hasBand = questions.some(({ uncertain }) => uncertain !== undefined);
  const table = tableHtml({
    name: "Questions at a glance",
    caption: "The most frequent answer to each question, the mean of P(yes) or of the score, and the mean confidence.",
    heads: [
      "Question",
      "Type",
      "Most frequent",
      "Mean#",
      "Confidence#",
      ...(hasBand ? ["Uncertain#"] : []),
      "Answers#",
    ],
    lines: questions.map((question, i) => questionLine(question, i)),
  });
  return html`<section aria-labelledby="questions"><h2 id="questions">Questions</h2>
${table}</section>`;
}

function questionLine(question: QuestionReport, at: number): Html {
  const { id, type, answers, mean, meanConfidence, uncertain } = question;
  const top = topOf(question);
  const numbers = [
    decimals(answers === 0 ? undefined : mean),
    decimals(meanConfidence),
    ...(uncertain === undefined ? [] : [countText(uncertain)]),
    countText(answers),
  ];
  const said = html`${type === "score" ? "level " : ""}${top?.label ?? ""} <span class="soft">${shareText(top?.share ?? 0).trim()}</span>`;
  return html`<tr><th scope="row"><a href="#q${at + 1}">${id}</a></th><td>${TYPES[type]}</td><td>${top === undefined ? [] : said}</td>${numbers.map(numberCell)}</tr>
`;
}

function topOf({ options, answers }: QuestionReport): OptionReport | undefined {
  return answers === 0 ? undefined : options.toSorted((a, b) => b.answers - a.answers)[0];
}

/** The card of one question; `at` from 0. */
export function questionCard(question: QuestionReport, at: number, band: Band | undefined): Html {
  const { id, type, instructions, answers } = question;
  return html`<section class="card" aria-labelledby="q${at + 1}">
<h3 id="q${at + 1}">${id} <span class="tag">${TYPES[type]}</span></h3>
${instructions === undefined ? [] : html`<p class="hint">${instructions}</p>`}
<div class="answer">
${optionTables(question)}
${answers === 0 ? [] : histogramFigure(question, band)}
</div>
</section>
`;
}

function histogramFigure(
  { type, histogram, answers, mean, meanConfidence, uncertain = 0 }: QuestionReport,
  band?: Band,
) {
  const isNoul = type === "noul";
  const of = isNoul ? "P(yes)" : "Confidence";
  const unsure = band === undefined ? "" : `; shaded, ${band.low} to ${band.high}: ${countText(uncertain)} uncertain`;
  return html`<figure>${drawHistogram({ counts: histogram, of, band })}
<figcaption>${of} of ${countOf(answers, "answer")}, mean ${decimals(isNoul ? mean : meanConfidence)}${unsure}</figcaption></figure>`;
}

function optionTables({ id, type, options, answers, mean }: QuestionReport): Html {
  const ordered = type === "choice" ? options.toSorted((a, b) => b.answers - a.answers) : options;
  const ofMean = type === "score" && answers > 0 ? `, mean score ${decimals(mean)}` : "";
  const caption = `${countOf(answers, "answer")}${ofMean}`;
  const more = ordered.slice(MAX_OPTIONS);
  const rest =
    more.length === 0
      ? []
      : html`<details><summary>and ${more.length} more</summary>${optionTable(`${id}: the other options`, more, "unseen")}</details>`;
  return html`<div>${optionTable(caption, ordered.slice(0, MAX_OPTIONS), "")}${rest}</div>`;
}

function optionTable(caption: string, options: readonly OptionReport[], kind: string): Html {
  return html`<table class="options"><caption class="${kind}">${caption}</caption>
<thead class="unseen"><tr><th scope="col">Answer</th><th scope="col">Share</th><th scope="col">Answers</th></tr></thead>
<tbody>${options.map(optionLine)}</tbody></table>`;
}

function optionLine({ label, description, share, answers }: OptionReport): Html {
  const about = description === undefined ? [] : html` <small>${description}</small>`;
  return html`<tr><th scope="row">${label}${about}${drawParts([{ name: "sure", share }])}</th>${numberCell(shareText(share).trim())}${numberCell(countText(answers))}</tr>
`;
}

function decimals(value: number | undefined): string {
  return value === undefined ? "" : value.toFixed(2);
}
