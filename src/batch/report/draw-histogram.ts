/** A histogram of numbers from 0 to 1 as an inline picture that takes its colours from the page. Pure. */

import { type Html, html } from "../../html.js";
import { countOf, countText } from "../progress/amounts.js";
import type { Band } from "../review/band.js";

export interface HistogramPicture {
  readonly counts: readonly number[];
  /** What the numbers are, for those who do not see the picture: `P(yes)`, `Confidence`. */
  readonly of: string;
  readonly band?: Band | undefined;
}

const WIDTH = 360;
const PLOT = { top: 18, bottom: 120 };
const HEIGHT = 142;
const GAP = 1.5;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
/** Of a bin that is not empty, however high the others are. */
const MIN_HEIGHT = 2;

/** The picture, with a text in its place that names every bin that is not empty. */
export function drawHistogram({ counts, of, band }: HistogramPicture): Html {
  const top = Math.max(1, ...counts);
  const step = WIDTH / counts.length;
  const bars = counts.flatMap((count, bin) => {
    if (count === 0) return [];
    const height = Math.max(MIN_HEIGHT, (count / top) * (PLOT.bottom - PLOT.top));
    const [x, y] = [bin * step + GAP / 2, PLOT.bottom - height];
    return html`<rect class="bin" x="${fixed(x)}" y="${fixed(y)}" width="${fixed(step - GAP)}" height="${fixed(height)}" rx="1.5"><title>${binText(bin, counts)}</title></rect>`;
  });
  return html`<svg class="histogram" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${describe({ counts, of })}">
${band === undefined ? [] : drawBand(band)}<line class="grid" x1="0" x2="${WIDTH}" y1="${PLOT.top}" y2="${PLOT.top}"/>
${bars}<line class="axis" x1="0" x2="${WIDTH}" y1="${PLOT.bottom}" y2="${PLOT.bottom}"/>
<text x="0" y="${PLOT.top - 5}">${countText(top)}</text>
${TICKS.map(drawTick)}</svg>`;
}

function drawBand({ low, high }: Band): Html {
  const width = Math.max(1, (high - low) * WIDTH);
  return html`<rect class="band" x="${fixed(low * WIDTH)}" y="${PLOT.top}" width="${fixed(width)}" height="${PLOT.bottom - PLOT.top}"/>
`;
}

function drawTick(at: number): Html {
  const anchor = at === 0 ? "start" : at === 1 ? "end" : "middle";
  const x = fixed(at * WIDTH);
  return html`<text x="${x}" y="${HEIGHT - 6}" text-anchor="${anchor}">${at}</text>`;
}

function describe({ counts, of }: Pick<HistogramPicture, "counts" | "of">): string {
  const filled = counts.flatMap((count, bin) => (count === 0 ? [] : [binText(bin, counts)]));
  return filled.length === 0 ? `${of}: no answers` : `${of}, answers by bin. ${filled.join("; ")}`;
}

/** `0.45 to 0.5: 12 answers`. */
function binText(bin: number, counts: readonly number[]): string {
  const border = (at: number) => Number((at / counts.length).toFixed(2));
  return `${border(bin)} to ${border(bin + 1)}: ${countOf(counts[bin] ?? 0, "answer")}`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(2)));
}
