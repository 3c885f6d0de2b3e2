/** What the report's page says behind the questions: errors, routes, notes, and what the run was. Pure. */

import { type Html, html } from "../../html.js";
import { countOf, countText, durationText, shareText, shortText } from "../progress/amounts.js";
import { drawParts } from "./draw-parts.js";
import type { ErrorReport, Report, RouteReport } from "./report.js";
import { numberCell, tableHtml } from "./table-html.js";

/** Failed rows by code. */
export function errorSection(errors: readonly ErrorReport[]): Html | readonly Html[] {
  if (errors.length === 0) return [];
  const lines = errors.map(({ code, rows, share, firstRows }) => {
    const first = `${firstRows.join(", ")}${rows > firstRows.length ? ", …" : ""}`;
    return html`<tr><th scope="row"><code>${code}</code></th>${numberCell(countText(rows))}${numberCell(shareText(share).trim())}<td>${first}</td></tr>
`;
  });
  const caption = "Rows that were not answered, by code. Each says in the output what is wrong with it.";
  const heads = ["Code", "Rows#", "Share#", "First rows"];
  return html`<section aria-labelledby="errors"><h2 id="errors">Errors</h2>
${tableHtml({ name: "Errors by code", caption, heads, lines }, "errors")}</section>`;
}

/** Who answered, and why. */
export function routeSection(routes: readonly RouteReport[]): Html | readonly Html[] {
  if (routes.length === 0) return [];
  const lines = routes.map(({ model, reason, rows, share }) => {
    const bar = drawParts([{ name: "sure", share }]);
    return html`<tr><th scope="row">${model}</th><td>${reason}</td><td class="bar">${bar}</td>${numberCell(shareText(share).trim())}${numberCell(countText(rows))}</tr>
`;
  });
  const caption = "The checkpoint that read a row, and why it did.";
  const heads = ["Checkpoint", "Reason", "", "Share#", "Rows#"];
  return html`<section aria-labelledby="routes"><h2 id="routes">Who answered</h2>
${tableHtml({ name: "Checkpoints and reasons", caption, heads, lines })}</section>`;
}

/** What a reader of the output should know besides. */
export function noteSection({ replacedFields, otherAnswers, rows }: Report): Html | readonly Html[] {
  const notes = [
    ...replacedFields.map(
      ({ field, rows: count }) =>
        html`<li><code>${field}</code>, a field of ${countOf(count, "row")}, gave way to qa’s own of that name.</li>`,
    ),
    ...(rows.malformed === 0 ? [] : [html`<li>${countOf(rows.malformed, "row")} could not be read.</li>`]),
    ...(otherAnswers === 0
      ? []
      : [html`<li>${countOf(otherAnswers, "answer")} to further questions stand in the output only.</li>`]),
  ];
  if (notes.length === 0) return [];
  return html`<section aria-labelledby="notes"><h2 id="notes">Notes</h2><ul class="notes">${notes}</ul></section>`;
}

/** What the run was, so that it can be told from others and made again. */
export function identitySection(report: Report): Html {
  const { inputs, output, review, checkpoints, startedAt, writtenAt, sittings, allSittings, thisSitting } = report;
  const files = html`<ul class="files">${inputs.map((file) => html`<li>${file === "-" ? "standard input" : html`<code>${file}</code>`}</li>`)}</ul>`;
  const pace = `${durationText(allSittings.elapsedMs)}, ${shortText(allSittings.rowsPerSecond)} rows/s`;
  const sitting = `${countOf(thisSitting.rows, "row")}, ${durationText(thisSitting.elapsedMs)}, ${shortText(thisSitting.rowsPerSecond)} rows/s`;
  const options = Object.entries(report.options).map(
    ([name, value]) => html`<li><code>--${name}${value === true ? "" : ` ${value}`}</code></li>`,
  );
  return html`<section aria-labelledby="run"><h2 id="run">The run</h2>
<dl class="facts">
${fact("Input", files)}
${fact("Output", html`${output === "-" ? "standard output" : html`<code>${output}</code>`}`)}
${review === undefined ? [] : fact("For review", html`<code>${review}</code>`)}
${checkpoints.length === 0 ? [] : fact("Checkpoints", html`${checkpoints.join(", ")}`)}
${options.length === 0 ? [] : fact("Options", html`<ul class="files">${options}</ul>`)}
${fact(sittings === 1 ? "Started" : "Last sitting", timeOf(startedAt))}
${fact("Written", timeOf(writtenAt))}
${fact("Time", html`${pace}`)}
${sittings === 1 ? [] : fact("Sittings", html`${sittings}; ${sitting} in the last one`)}
${fact("qa", html`${report.version}`)}
</dl></section>`;
}

function fact(name: string, value: Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function timeOf(date: Date): Html {
  const iso = date.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}
