/** One part while it is merged: its records one by one, and that they are as many as its sidecar says. */

import { QaError } from "../../errors.js";
import { openBytes } from "../read/bytes.js";
import { splitRecords } from "../read/split-records.js";
import type { OutputFormat } from "../write/output-format.js";

export interface PartSource {
  readonly file: string;
  /** Rows that it has to have. */
  readonly rows: number;
  readonly format: OutputFormat;
  readonly signal?: AbortSignal | undefined;
}

export interface PartReader {
  readonly file: string;
  /** The header of a CSV, to be read first; nothing of NDJSON. */
  header(): Promise<string>;
  /** The next row with its line end. @throws QaError `input_damaged` where there is none */
  row(): Promise<string>;
  /** @throws QaError `input_damaged` where rows are left */
  assertEnd(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a part, plain or compressed; all that reading it can throw is told of its file. */
export function openPart({ file, rows, format, signal }: PartSource): PartReader {
  const stop = signal && AbortSignal.any([signal]); // of its own: a thousand parts are a thousand listeners
  const records = splitRecords(openBytes(file, { signal: stop }), format);
  let taken = 0;
  async function next(): Promise<string> {
    const { value } = await records.next();
    const text = value?.toString("utf8");
    if (text?.endsWith("\n")) return text;
    const message = `${file} ends after ${taken} rows, and its run wrote ${rows}; it was changed or cut off: make it again`;
    throw new QaError("input_damaged", message, { details: { file } });
  }
  return {
    file,
    header: async () => (format === "csv" ? next() : ""),
    async row() {
      const text = await next();
      taken++;
      return text;
    },
    async assertEnd() {
      if ((await records.next()).done === true) return;
      const message = `${file} goes on after the ${rows} rows that its run wrote; it was changed: make it again`;
      throw new QaError("input_damaged", message, { details: { file } });
    },
    close: async () => void (await records.return()),
  };
}
