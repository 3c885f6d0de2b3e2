/** A table of the report's page, in a card that scrolls by itself where the page is narrow. Pure. */

import { type Html, html } from "../../html.js";

export interface TablePlan {
  /** What those hear who come to it by keyboard. */
  readonly name: string;
  readonly caption: string;
  /** Column heads; one that ends in `#` is of numbers, an empty one of pictures. */
  readonly heads: readonly string[];
  readonly lines: readonly Html[];
}

/** The table; its class, where it needs one, is `kind`. */
export function tableHtml({ name, caption, heads, lines }: TablePlan, kind = ""): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table class="${kind}">
<caption>${caption}</caption>
<thead><tr>${heads.map(headHtml)}</tr></thead>
<tbody>${lines}</tbody></table></div>`;
}

function headHtml(head: string): Html {
  if (head === "") return html`<td></td>`;
  return head.endsWith("#")
    ? html`<th scope="col" class="number">${head.slice(0, -1)}</th>`
    : html`<th scope="col">${head}</th>`;
}

/** A cell of a number. */
export function numberCell(text: string): Html {
  return html`<td class="number">${text}</td>`;
}
