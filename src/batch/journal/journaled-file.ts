/**
 * A file of rows that a later run can go on with: it is opened where it was last known to be whole, what stands behind is
 * taken away, and it tells up to where it is whole now.
 */

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { QaError } from "../../errors.js";
import { openError, outputExists } from "../write/output-errors.js";
import { createFileSink } from "../write/output-sink.js";
import { PACKED_BLOCK, packingOf } from "../write/pack.js";
import { createRowQueue, type RowWriter } from "../write/row-queue.js";
import type { FileFacts } from "./sidecar.js";

export interface JournaledFile {
  /** Whether a run can go on from here: between any two rows, of a packed file between full blocks. */
  readonly isBlockEnd: boolean;
  write(text: string, rows?: number): Promise<void>;
  /** Takes note of this place, a block end; once flushed, the function says what a run that goes on from it has to know. */
  mark(): () => Promise<FileFacts>;
  /** Has the rows so far on the disk, of a packed file those in full blocks. @throws QaError `output_failed` */
  flush(): Promise<void>;
  /** @throws QaError `output_failed` */
  close(): Promise<FileFacts>;
  /** Closes; rows behind the last mark may be whole or not. */
  abort(): Promise<void>;
}

export type JournaledFileStart =
  /** A file that is not there. */
  | { readonly type: "new" }
  /** Whatever is there goes. */
  | { readonly type: "overwrite" }
  /** What stands behind the place goes; `rest` comes first, in the block that is begun there. */
  | { readonly type: "go_on"; readonly facts: FileFacts; readonly rest?: string };

/** Bytes before a place that are compared. */
const TAIL = 1024;
const FLAGS = { new: "wx+", overwrite: "w+" } as const;

/**
 * Opens a file for rows.
 * @throws QaError `output_exists`, `output_changed`: it is not the file that the facts tell of, `invalid_usage`,
 * `output_failed`
 */
export async function openJournaledFile(path: string, start: JournaledFileStart): Promise<JournaledFile> {
  const handle = await (start.type === "go_on" ? openAgain(path, "r+") : openNew(path, FLAGS[start.type]));
  try {
    const from = start.type === "go_on" ? start.facts.bytes : 0;
    if (start.type === "go_on") await assertSame(path, handle, start.facts);
    await handle.truncate(from);
    return journaled({ path, handle, from, rest: start.type === "go_on" ? start.rest : undefined });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Holds a file to its facts, and leaves it as it is.
 * @throws QaError `output_changed`, `output_failed`
 */
export async function assertUnchanged(path: string, facts: FileFacts): Promise<void> {
  const handle = await openAgain(path, "r");
  try {
    await assertSame(path, handle, facts);
  } finally {
    await handle.close();
  }
}

/**
 * The text of a packed file between two places, the second being its end.
 * @throws QaError `output_changed`, `output_failed`
 */
export async function readPackedRest(path: string, from: FileFacts, to: FileFacts): Promise<string> {
  const handle = await openAgain(path, "r");
  try {
    await assertSame(path, handle, from);
    await assertSame(path, handle, to);
    const packed = await readAt(handle, from.bytes, to.bytes);
    return (await packingOf(path)?.unpack(packed))?.toString() ?? "";
  } finally {
    await handle.close();
  }
}

function openNew(path: string, flags: string): Promise<FileHandle> {
  return open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "EEXIST" ? outputExists(path, "begin anew with --restart") : openError(path, cause);
  });
}

/** Opens a file that was there. */
function openAgain(path: string, flags: "r" | "r+"): Promise<FileHandle> {
  return open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "ENOENT" ? outputChanged(path) : openError(path, cause);
  });
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Length of what is kept. */
  readonly from: number;
  readonly rest: string | undefined;
}

function journaled({ path, handle, from, rest = "" }: OpenFile): JournaledFile {
  const packing = packingOf(path);
  const blockEnds = [from];
  const onBlock = (bytes: number) => void blockEnds.push(bytes);
  const sink = createFileSink(handle, { isRegular: true, pack: packing?.pack, from, onBlock });
  const queue = createRowQueue(
    { ...sink, close: async () => sink.sync?.() }, // the handle is read once more before it is closed
    { name: path, begun: rest, ...(packing === undefined ? {} : { blockLength: PACKED_BLOCK }) },
  );
  let length = from;
  const factsAt = async (bytes: number): Promise<FileFacts> => ({ bytes, tail: await tailOf(handle, bytes) });
  return {
    get isBlockEnd() {
      return queue.isBlockEnd;
    },
    write(text, rows) {
      length += Buffer.byteLength(text);
      return queue.write(text, rows);
    },
    mark() {
      const [block, bytes] = [queue.fullBlocks, length];
      return () => factsAt(packing === undefined ? bytes : (blockEnds[block] as number));
    },
    flush: () => queue.flush(),
    async close() {
      try {
        await queue.close();
        return await factsAt(blockEnds.at(-1) as number);
      } finally {
        await handle.close();
      }
    },
    abort: () => abort(queue, handle),
  };
}

async function abort(queue: RowWriter, handle: FileHandle): Promise<void> {
  try {
    await queue.abort();
  } finally {
    await handle.close();
  }
}

async function assertSame(path: string, handle: FileHandle, { bytes, tail }: FileFacts): Promise<void> {
  const { size } = await handle.stat();
  if (size >= bytes && (await tailOf(handle, bytes)) === tail) return;
  throw outputChanged(path);
}

function outputChanged(path: string): QaError {
  const message = `${path} is not as qa last wrote it; restore it, name another output, or begin anew with --restart`;
  return new QaError("output_changed", message, { details: { file: path } });
}

async function tailOf(handle: FileHandle, bytes: number): Promise<string> {
  const tail = await readAt(handle, Math.max(0, bytes - TAIL), bytes);
  return createHash("sha256").update(tail).digest("base64url").slice(0, 22);
}

async function readAt(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let read = 0;
  while (read < bytes.length) {
    const { bytesRead } = await handle.read(bytes, read, bytes.length - read, from + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
