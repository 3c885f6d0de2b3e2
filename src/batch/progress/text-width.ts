/** How many columns of a terminal a text takes, and texts cut or filled to a number of them. Pure. */

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;
const ZERO = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;
const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Columns that a text takes. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOf(segment);
  return width;
}

/** The text cut to at most `width` columns, with `…` where something is missing; control characters show as spaces. */
export function cutText(text: string, width: number): string {
  const plain = text.replace(CONTROL, " ");
  if (width <= 0) return "";
  if (textWidth(plain) <= width) return plain;
  let cut = "";
  let used = 0;
  for (const { segment } of graphemes.segment(plain)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}

/** The text cut or filled with spaces to exactly `width` columns. */
export function fitText(text: string, width: number, align: "left" | "right" = "left"): string {
  const cut = cutText(text, width);
  const fill = " ".repeat(Math.max(0, width - textWidth(cut)));
  return align === "left" ? cut + fill : fill + cut;
}

/** The texts put on lines of at most `width` columns, broken between texts only; the first line indented by none. */
export function packTexts(texts: readonly string[], { width, gap }: { width: number; gap: string }): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const longer = `${lines.at(-1) ?? ""}${gap}${text}`;
    if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(cutText(text, width));
  }
  return lines;
}

function widthOf(grapheme: string): number {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
