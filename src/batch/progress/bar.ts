/** Bars of text: eighths of a block, so that a narrow terminal still tells 0.41 from 0.44. */

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of `width` columns, filled by a share between 0 and 1, padded with spaces. */
export function drawBar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const bar = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return bar.padEnd(width);
}
