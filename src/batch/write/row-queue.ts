/**
 * Rows on their way to a sink: one block is being written while the next one fills, so that a slow run shows every row at
 * once and a fast one writes large blocks. Owns backpressure and the count of rows that are whole behind the sink.
 */

import type { QaError } from "../../errors.js";
import { codeOf, outputFailed } from "./output-errors.js";

/** Takes blocks of whole rows; a block that fails leaves nothing of it behind. */
export interface Sink {
  write(block: Buffer): Promise<void>;
  /** Has all that is written on the disk; absent where there is none. */
  sync?(): Promise<void>;
  close(): Promise<void>;
}

export interface RowQueueOptions {
  /** How messages name the output. */
  readonly name: string;
  /**
   * Characters with which a block is full. Blocks are then cut by the rows alone, never by time, and the last one may be
   * shorter. Default: what waits is a block.
   */
  readonly blockLength?: number;
  /** Text that the first block begins with. */
  readonly begun?: string;
}

/** Characters that may wait before `write` does. */
const MAX_PENDING = 1024 * 1024;

export interface RowWriter {
  /** Rows that are written whole. */
  readonly rows: number;
  /** Blocks that are full, written or not; without `blockLength` none. */
  readonly fullBlocks: number;
  /** Whether every row so far is in a full block; always without `blockLength`. */
  readonly isBlockEnd: boolean;
  /** Aborted once the reader of the output has gone (`| head`): nothing more need be written, and that is success. */
  readonly readerGone: AbortSignal;
  /** Takes a row with its line end, or the header (`rows: 0`); waits while too much is pending. @throws QaError `output_failed` */
  write(text: string, rows?: number): Promise<void>;
  /** Has on the disk what is in full blocks now. @throws QaError `output_failed` */
  flush(): Promise<void>;
  /** Writes what is pending and closes. @throws QaError `output_failed` */
  close(): Promise<void>;
  /** Closes with the rows that are written; drops what is pending. */
  abort(): Promise<void>;
}

interface Block {
  readonly text: string[];
  length: number;
  rows: number;
}

/** A writer of rows to a sink. */
export function createRowQueue(sink: Sink, { name, blockLength, begun = "" }: RowQueueOptions): RowWriter {
  const gone = new AbortController();
  let open: Block = { text: [begun], length: begun.length, rows: 0 };
  let full: Block[] = []; // with a block length; else what waits is all in the open one
  let pending = begun.length;
  let fullBlocks = 0;
  let written = 0;
  let failure: QaError | undefined;
  let flushing = Promise.resolve();
  let isFlushing = false;
  let closing: Promise<void> | undefined;

  function takeOpen(): Block | undefined {
    if (open.length === 0) return undefined;
    const block = open;
    open = { text: [], length: 0, rows: 0 };
    return block;
  }

  function sealFull(): void {
    if (blockLength === undefined || open.length < blockLength) return;
    full.push(takeOpen() as Block);
    fullBlocks++;
  }

  function next(): Block | undefined {
    return full.shift() ?? (blockLength === undefined || closing !== undefined ? takeOpen() : undefined);
  }

  async function flushAll(): Promise<void> {
    while (failure === undefined && !gone.signal.aborted) {
      const block = next();
      if (block === undefined) break;
      pending -= block.length;
      try {
        await sink.write(Buffer.from(block.text.join("")));
        written += block.rows;
      } catch (error) {
        note(error);
      }
    }
    isFlushing = false;
  }

  function note(error: unknown): void {
    if (codeOf(error) === "EPIPE") gone.abort();
    else failure ??= outputFailed(name, written, error);
  }

  /** Starts writing unless that goes on already; what comes meanwhile is written by the same loop. */
  function start(): Promise<void> {
    if (isFlushing) return flushing;
    isFlushing = true;
    flushing = flushAll();
    return flushing;
  }

  return {
    get rows() {
      return written;
    },
    get fullBlocks() {
      return fullBlocks;
    },
    get isBlockEnd() {
      return blockLength === undefined || open.length === 0;
    },
    readerGone: gone.signal,
    async write(text, rows = 1) {
      if (failure !== undefined) throw failure;
      if (gone.signal.aborted || closing !== undefined) return;
      open.text.push(text);
      open.length += text.length;
      open.rows += rows;
      pending += text.length;
      sealFull();
      const flushed = start();
      if (pending > MAX_PENDING) await flushed;
    },
    async flush() {
      await start();
      await sink.sync?.().catch(note);
      if (failure !== undefined) throw failure;
    },
    async close() {
      closing ??= (async () => {
        await flushing;
        await start();
        await sink.close().catch(note);
      })();
      await closing;
      if (failure !== undefined) throw failure;
    },
    async abort() {
      full = [];
      takeOpen();
      closing ??= (async () => {
        await flushing;
        await sink.close().catch(note);
      })();
      await closing;
    },
  };
}
