/** The mix of answers so far as lines of small bars, one a question, that fit their width. Pure. */

import { barText, shareText } from "./amounts.js";
import type { Distribution, ScoreDistribution } from "./distribution.js";
import { meanOf, type Share, sharesOf } from "./shares.js";
import { cutText, fitText, textWidth } from "./text-width.js";

type Style = "cyan" | "red" | "dim" | "bold";
export type Paint = (style: Style, text: string) => string;

export interface MixOptions {
  /** Columns that no line is wider than. */
  readonly width: number;
  readonly maxLines: number;
  readonly paint: Paint;
}

const BAR_WIDTH = 4;
const SHARE_WIDTH = 4;
const MAX_CELL_WIDTH = 26;
const GAP = "  ";
const WIDE = { fromWidth: 98, maxIdWidth: 16, minCellWidth: 22 };
const NARROW = { maxIdWidth: 14, minCellWidth: 18 };
const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A line for each question, as many as there is room for. */
export function mixLines(distributions: readonly Distribution[], { width, maxLines, paint }: MixOptions): string[] {
  const fit = distributions.length <= maxLines ? distributions.length : Math.max(0, maxLines - 1);
  const shown = distributions.slice(0, fit);
  const { maxIdWidth, minCellWidth } = width < WIDE.fromWidth ? NARROW : WIDE;
  const idWidth = Math.min(maxIdWidth, Math.floor(width / 3), Math.max(0, ...shown.map(({ id }) => textWidth(id))));
  const mixWidth = width - idWidth - GAP.length;
  const count = Math.max(1, Math.floor((mixWidth + GAP.length) / (minCellWidth + GAP.length)));
  const lines = shown.map(
    (distribution) =>
      `${fitText(distribution.id, idWidth)}${GAP}${mixOf(distribution, { width: mixWidth, count, paint })}`,
  );
  const more = distributions.length - shown.length;
  return more === 0 || maxLines < 1 ? lines : [...lines, paint("dim", cutText(`and ${more} more questions`, width))];
}

/** `count`: cells, all of one width, so that they stand below each other. */
function mixOf(
  distribution: Distribution,
  { width, count, paint }: { width: number; count: number; paint: Paint },
): string {
  if (width < NARROW.minCellWidth) return cutText(plainMixOf(distribution), width);
  const cellWidth = Math.min(MAX_CELL_WIDTH, Math.floor((width + GAP.length) / count) - GAP.length);
  const cell = (share: Share) => cellText(share, cellWidth, paint);
  const mean = meanOf(distribution);
  const meanText = fitText(mean === undefined ? "" : `mean ${mean.toFixed(2)}`, cellWidth);
  switch (distribution.type) {
    case "noul":
      return [...sharesOf(distribution).map(cell), meanText].slice(0, count).join(GAP);
    case "score":
      return [levelsText(distribution, cellWidth, paint), meanText].slice(0, count).join(GAP);
    case "choice": {
      const shares = sharesOf(distribution).toSorted((a, b) => b.count - a.count);
      return shares.slice(0, count).map(cell).join(GAP);
    }
    default:
      return distribution satisfies never;
  }
}

function plainMixOf(distribution: Distribution): string {
  if (distribution.type === "score") return `mean ${(meanOf(distribution) ?? 0).toFixed(2)}`;
  const [top] = sharesOf(distribution).toSorted((a, b) => b.count - a.count);
  return top === undefined ? "" : `${shareText(top.share).trim()} ${top.label}`;
}

function cellText({ label, share }: Share, width: number, paint: Paint): string {
  const labelWidth = width - BAR_WIDTH - SHARE_WIDTH - 2;
  return `${fitText(label, labelWidth)} ${paint("cyan", barText(share, BAR_WIDTH))} ${paint("dim", shareText(share))}`;
}

/** `0 ▂▂██▅▅▁▁ 3`: the levels from the lowest to the highest, as high as they are frequent. */
function levelsText({ levels }: ScoreDistribution, width: number, paint: Paint): string {
  const top = Math.max(1, ...levels);
  const columns = levels.length * 2 + 4 <= width ? 2 : 1;
  const bars = levels.map((count) => {
    const height = count === 0 ? 0 : Math.max(1, Math.round((count / top) * (LEVELS.length - 1)));
    return (LEVELS[height] ?? "").repeat(columns);
  });
  const last = String(levels.length - 1);
  const fill = " ".repeat(Math.max(0, width - levels.length * columns - last.length - 3));
  return `${paint("dim", "0")} ${paint("cyan", bars.join(""))} ${paint("dim", last)}${fill}`;
}
