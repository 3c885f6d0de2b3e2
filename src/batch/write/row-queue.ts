/**
 * Rows on their way to a sink: one block is being written while the next one fills, so that a slow run shows every row at
 * once and a fast one writes large blocks. Owns backpressure and the count of rows that are whole behind the sink.
 */

import { QaError } from "../../errors.js";

/** Takes blocks of whole rows; a block that fails leaves nothing of it behind. */
export interface Sink {
  write(block: Buffer): Promise<void>;
  close(): Promise<void>;
}

export interface RowQueueOptions {
  /** How messages name the output. */
  readonly name: string;
  /** Characters that a block has at least, but for the last; 1 writes at once. */
  readonly minBlock?: number;
}

/** Characters that may wait before `write` does. */
const MAX_PENDING = 1024 * 1024;

export interface RowWriter {
  /** Rows that are written whole. */
  readonly rows: number;
  /** Aborted once the reader of the output has gone (`| head`): nothing more need be written, and that is success. */
  readonly readerGone: AbortSignal;
  /** Takes a row with its line end, or the header (`rows: 0`); waits while too much is pending. @throws QaError `output_failed` */
  write(text: string, rows?: number): Promise<void>;
  /** Writes what is pending and closes. @throws QaError `output_failed` */
  close(): Promise<void>;
  /** Closes with the rows that are written; drops what is pending. */
  abort(): Promise<void>;
}

/** A writer of rows to a sink. */
export function createRowQueue(sink: Sink, { name, minBlock = 1 }: RowQueueOptions): RowWriter {
  const gone = new AbortController();
  let pending = { text: [] as string[], length: 0, rows: 0 };
  let written = 0;
  let failure: QaError | undefined;
  let flushing = Promise.resolve();
  let isFlushing = false;
  let closing: Promise<void> | undefined;

  async function flushAll(min: number): Promise<void> {
    while (pending.length >= min && failure === undefined && !gone.signal.aborted) {
      const block = pending;
      pending = { text: [], length: 0, rows: 0 };
      try {
        await sink.write(Buffer.from(block.text.join("")));
        written += block.rows;
      } catch (error) {
        if (codeOf(error) === "EPIPE") gone.abort();
        else failure = outputFailed(name, written, error);
      }
    }
    isFlushing = false;
  }

  /** Starts writing unless that goes on already; what comes meanwhile is written by the same loop. */
  function flush(min: number): Promise<void> {
    if (isFlushing) return flushing;
    isFlushing = true;
    flushing = flushAll(min);
    return flushing;
  }

  async function end(): Promise<void> {
    try {
      await sink.close();
    } catch (error) {
      if (codeOf(error) === "EPIPE") gone.abort();
      else failure ??= outputFailed(name, written, error);
    }
  }

  return {
    get rows() {
      return written;
    },
    readerGone: gone.signal,
    async write(text, rows = 1) {
      if (failure !== undefined) throw failure;
      if (gone.signal.aborted || closing !== undefined) return;
      pending.text.push(text);
      pending.length += text.length;
      pending.rows += rows;
      const flushed = pending.length >= minBlock ? flush(minBlock) : flushing;
      if (pending.length > MAX_PENDING) await flushed;
    },
    async close() {
      closing ??= (async () => {
        await flushing;
        await flush(1);
        await end();
      })();
      await closing;
      if (failure !== undefined) throw failure;
    },
    async abort() {
      pending = { text: [], length: 0, rows: 0 };
      closing ??= (async () => {
        await flushing;
        await end();
      })();
      await closing;
    },
  };
}

/** The `code` of a system error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

function outputFailed(name: string, rows: number, cause: unknown): QaError {
  const code = codeOf(cause);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const why = isFull ? "no space is left; make room" : `it could not be written (${code ?? "unknown error"}); check it`;
  const message = `${name}: ${why} and run again; ${rows} ${rows === 1 ? "row was" : "rows were"} written whole`;
  return new QaError("output_failed", message, { details: { rows }, cause });
}
