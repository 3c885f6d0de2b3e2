/**
 * One piece of synchronous work in each turn of the event loop. Reading a request takes milliseconds of tokenising; a burst of
 * a hundred that was read in one go would keep everyone else, `/healthz` too, waiting for all of it.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn of its own, in the order of the calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
