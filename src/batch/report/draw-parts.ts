/** Bars that show parts of a whole, as inline pictures that take their colours from the page. Pure. */

import { type Html, html } from "../../html.js";

export interface Part {
  /** Class by which the page colours it. */
  readonly name: string;
  /** 0 to 1; the parts come to 1 at most. */
  readonly share: number;
}

/** Of a part that is there, however small. */
const MIN_WIDTH = 0.6;

/** A bar of parts beside each other. With `label` it is a picture of its own, without it the numbers stand beside it. */
export function drawParts(parts: readonly Part[], label?: string): Html {
  let x = 0;
  const rects = parts.map(({ name, share }) => {
    const width = share === 0 ? 0 : Math.max(MIN_WIDTH, share * 100);
    const rect = html`<rect class="${name}" x="${x.toFixed(2)}" width="${width.toFixed(2)}" height="8"/>`;
    x += width;
    return rect;
  });
  const role = label === undefined ? html`aria-hidden="true"` : html`role="img" aria-label="${label}"`;
  return html`<svg class="parts" viewBox="0 0 100 8" preserveAspectRatio="none" ${role}>${rects}</svg>`;
}
