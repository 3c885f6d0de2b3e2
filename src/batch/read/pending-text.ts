/** Text of an input that no whole row has been made of yet. */

const EAGER_LENGTH = 65_536;

/**
 * Joins chunks to the text that waits. A long wait is joined only when it has doubled, so that a row over n chunks
 * costs O(n) copying and rescanning, not O(n²).
 */
export class PendingText {
  text = "";
  readonly #chunks: string[] = [];
  #chunksLength = 0;

  /** Adds a chunk; false while `text` need not be looked at again. */
  add(chunk: string): boolean {
    this.#chunks.push(chunk);
    this.#chunksLength += chunk.length;
    if (this.text.length > EAGER_LENGTH && this.#chunksLength < this.text.length) return false;
    this.join();
    return true;
  }

  /** Makes `text` all that waits. */
  join(): void {
    this.text += this.#chunks.join("");
    this.#chunks.length = 0;
    this.#chunksLength = 0;
  }

  /** Forgets the first `length` characters of `text`. */
  drop(length: number): void {
    this.text = this.text.slice(length);
  }
}
