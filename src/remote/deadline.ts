/**
 * The time that a row may take. It runs from the row's first try on: what waits its turn loses none. An outage, when no host
 * can be reached, does not count, so that no row fails of a service that is restarted; but it may not last longer either.
 */
export class Deadline {
  readonly ms: number;
  #startedMs: number | undefined;
  #outSinceMs: number | undefined;
  #forgivenMs = 0;

  constructor(ms: number) {
    this.ms = ms;
  }

  start(nowMs: number): void {
    this.#startedMs ??= nowMs;
  }

  /** No host could be reached by the row. */
  noteOutage(nowMs: number): void {
    this.#outSinceMs ??= nowMs;
  }

  /** Some host could be, by whomever. */
  noteContact(atMs: number): void {
    if (this.#outSinceMs === undefined || atMs <= this.#outSinceMs) return;
    this.#forgivenMs += atMs - this.#outSinceMs;
    this.#outSinceMs = undefined;
  }

  get isOut(): boolean {
    return this.#outSinceMs !== undefined;
  }

  /** Of the row, or of the outage that it is in. */
  elapsedMs(nowMs: number): number {
    if (this.#outSinceMs !== undefined) return nowMs - this.#outSinceMs;
    return this.#startedMs === undefined ? 0 : nowMs - this.#startedMs - this.#forgivenMs;
  }

  leftMs(nowMs: number): number {
    return this.ms - this.elapsedMs(nowMs);
  }
}
