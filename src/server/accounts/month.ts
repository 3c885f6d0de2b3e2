/** Months and days of the calendar in UTC: when an allowance starts and when it resets (CONTRACT 8). Pure. */

/** `2026-11-21`: the day of an instant, in UTC. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** `2026-11`: the month of an instant, in UTC. */
export function monthOf(timeMs: number): string {
  return dayOf(timeMs).slice(0, 7);
}

/** Whether a text names a month, e.g. `2026-11`. */
export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

/** 00:00 UTC on the first of the next month, as `2026-12-01T00:00:00Z`. */
export function resetOf(month: string): string {
  return `${monthAfter(month)}-01T00:00:00Z`;
}

function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, number, 1));
}

/** The month before a month. */
export function monthBefore(month: string): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return monthOf(Date.UTC(year, number - 2, 1));
}

/** Every day of a month, up to and including `lastDay` where that lies in it. */
export function daysOf(month: string, lastDay?: string): string[] {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const days = Array.from({ length: count }, (_, i) => `${month}-${String(i + 1).padStart(2, "0")}`);
  return lastDay?.startsWith(month) ? days.filter((day) => day <= lastDay) : days;
}
