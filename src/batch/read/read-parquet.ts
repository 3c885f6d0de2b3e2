/**
 * Rows of a Parquet file (docs/decisions/0009-parquet.md): JSON objects, columns in the file's order. Reads a slice of a row group
 * at a time, so that memory is bounded by a compressed row group and the slice.
 */

import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { parseJson } from "../../decision/json.js";
import { QaError } from "../../errors.js";
import { type OpenOptions, openError } from "./bytes.js";
import { openParquetFile, type ParquetFile } from "./parquet-file.js";
import { createParquetPrinter, PARSERS } from "./parquet-json.js";
import { nameOf, type ReadRow } from "./row-reader.js";

const MAGIC = "PAR1";
/** Of a slice, unpacked; a row group may have a million rows. */
const SLICE_BYTES = 16 * 2 ** 20;
const MAX_SLICE_ROWS = 16_384;

/**
 * Rows of a file in order; the line of a row is its number in the file.
 * @throws QaError `input_missing`, `input_unsupported` for stdin and for what the reader does not know, `input_damaged`, `aborted`
 */
export async function* readParquet(
  name: string,
  { signal, onBytes }: OpenOptions = {},
): AsyncGenerator<ReadRow, void, undefined> {
  if (name === "-")
    throw new QaError("input_unsupported", "Parquet is read from its end, which stdin does not have; name the file");
  const file = await openParquetFile(name).catch((error) => {
    throw openError(name, error);
  });
  try {
    yield* readRowGroups(name, file, { signal, onBytes });
  } finally {
    await file.close();
  }
}

async function* readRowGroups(
  name: string,
  file: ParquetFile,
  { signal, onBytes }: OpenOptions,
): AsyncGenerator<ReadRow, void, undefined> {
  const metadata = await metadataOf(name, file);
  const print = createParquetPrinter(metadata);
  let line = 0;
  let told = 0;
  for (const { from, to, bytes, isFirst } of slicesOf(metadata)) {
    if (signal?.aborted === true) throw new QaError("aborted", "reading was stopped");
    if (isFirst) file.forget();
    const rows = await readSlice(name, { file, metadata, from, to });
    for (const row of rows) {
      const raw = print(row);
      yield { line: ++line, content: { type: "json", raw, value: parseJson(raw) } };
    }
    told += bytes;
    onBytes?.(bytes);
  }
  onBytes?.(Math.max(0, file.byteLength - told));
}

async function metadataOf(name: string, file: AsyncBuffer): Promise<FileMetaData> {
  const head = Buffer.from(await file.slice(0, Math.min(4, file.byteLength))).toString("latin1");
  if (head !== MAGIC)
    throw new QaError("input_unsupported", `${nameOf(name)} is no Parquet file; pass --from with its format`);
  return parquetMetadataAsync(file, { parsers: PARSERS, geoparquet: false }).catch((error) => {
    throw parquetError(name, error);
  });
}

interface Slice {
  readonly from: number;
  readonly to: number;
  /** Its share of the file. */
  readonly bytes: number;
  /** Of its row group. */
  readonly isFirst: boolean;
}

/** Slices of each row group, of as many rows as are some 16 MiB. */
function* slicesOf({ row_groups: groups }: FileMetaData): Generator<Slice> {
  let start = 0;
  for (const { num_rows, total_byte_size, columns } of groups) {
    const rows = Number(num_rows);
    const packed = columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_compressed_size ?? 0), 0);
    const fitting = Math.floor(SLICE_BYTES / Math.max(1, Number(total_byte_size) / Math.max(1, rows)));
    const size = Math.min(MAX_SLICE_ROWS, Math.max(1, fitting));
    for (let from = 0; from < rows; from += size) {
      const to = Math.min(rows, from + size);
      yield {
        from: start + from,
        to: start + to,
        bytes: Math.floor((packed * (to - from)) / rows),
        isFirst: from === 0,
      };
    }
    start += rows;
  }
}

async function readSlice(
  name: string,
  {
    file,
    metadata,
    from,
    to,
  }: Pick<Slice, "from" | "to"> & { readonly file: AsyncBuffer; readonly metadata: FileMetaData },
): Promise<readonly (readonly unknown[])[]> {
  let rows: readonly (readonly unknown[])[] = [];
  try {
    await parquetRead({
      file,
      metadata,
      rowStart: from,
      rowEnd: to,
      compressors,
      parsers: PARSERS,
      geoparquet: false,
      onComplete: (read) => {
        rows = read;
      },
    });
  } catch (error) {
    throw parquetError(name, error);
  }
  return rows;
}

/** The messages of the reader name types and codecs, never values. */
function parquetError(name: string, cause: unknown): QaError {
  const why = cause instanceof Error ? cause.message : "unknown error";
  if (/unsupported|not supported|unknown/i.test(why)) {
    const remedy = "write it anew without that, or export it as NDJSON";
    return new QaError("input_unsupported", `${nameOf(name)}: ${why}; ${remedy}`, { cause });
  }
  return new QaError("input_damaged", `${nameOf(name)} holds damaged Parquet data; fetch or write it again`, { cause });
}
