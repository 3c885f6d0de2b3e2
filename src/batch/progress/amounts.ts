/** Numbers as the progress and the summary show them. Pure. */

import { drawBar } from "./bar.js";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** `12,345`. */
export function countText(count: number): string {
  return whole.format(count);
}

/** `1 row`, `12,345 rows`. */
export function countOf(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A rate or a large count in five characters or less: `0.4`, `81.3`, `812`, `10.2k`, `1.3M`. */
export function shortText(value: number): string {
  if (value < 99.95) return value === 0 ? "0" : value.toFixed(1);
  if (value < 999.5) return value.toFixed(0);
  for (const [unit, factor] of [
    ["k", 1e3],
    ["M", 1e6],
  ] as const) {
    const scaled = value / factor;
    if (scaled < 99.95) return `${scaled.toFixed(1)}${unit}`;
    if (scaled < 999.5) return `${scaled.toFixed(0)}${unit}`;
  }
  return `${(value / 1e9).toFixed(1)}G`;
}

/** `0.4 s`, `42 s`, `1m 12s`, `2h 05m`, `3d 04h`. */
export function durationText(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const pad = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${pad(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${pad(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${pad(hours % 24)}h`;
}

/** A time left, as coarse as its guess: whole seconds below a minute, then steps of 5 s, then minutes. */
export function remainingText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return durationText(Math.ceil(seconds / 5) * 5000);
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes}m` : durationText(minutes * 60_000);
}

/** A share in four columns: `  0%`, ` <1%`, ` 42%`, `100%`; below 100 unless it is all, above 0 unless it is none. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.005) return " <1%";
  const percent = share < 1 ? Math.min(99, Math.round(share * 100)) : 100;
  return `${percent}%`.padStart(4);
}

/** A bar as `drawBar` draws it, in which any share above 0 shows. */
export function barText(share: number, width: number): string {
  return drawBar(share > 0 ? Math.max(share, 1 / (8 * width)) : 0, width);
}
