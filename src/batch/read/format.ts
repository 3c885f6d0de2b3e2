/** Which format an input has: told by `--from`, else by its name, else (stdin only) by its first character. */

import { QaError } from "../../errors.js";
import { withoutCodec } from "../codecs.js";
import type { RowFormat, TextFormat } from "./row.js";
import { nameOf } from "./row-reader.js";

const EXTENSIONS: ReadonlyMap<string, RowFormat> = new Map([
  ["csv", "csv"],
  ["tsv", "tsv"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["json", "json"],
  ["txt", "text"],
  ["log", "text"],
  ["parquet", "parquet"],
]);

/** The values that `--from` takes. */
export const FROM_VALUES = ["csv", "tsv", "ndjson", "jsonl", "json", "text", "parquet"] as const;

/**
 * The format that a value of `--from` names.
 * @throws QaError `invalid_usage`
 */
export function parseFrom(value: string): RowFormat {
  const format = value.toLowerCase() === "text" ? "text" : EXTENSIONS.get(value.toLowerCase());
  if (format !== undefined) return format;
  throw new QaError("invalid_usage", `--from does not know this format; it takes ${FROM_VALUES.join(", ")}`);
}

/**
 * The format of an input by `from` or its extension (`.gz` and `.zst` looked through); `undefined` for stdin without `from`,
 * whose text decides.
 * @throws QaError `input_unsupported` for an unknown extension
 */
export function formatOfInput(file: string, from?: RowFormat): RowFormat | undefined {
  if (from !== undefined) return from;
  if (file === "-") return undefined;
  const extension = /\.([^./\\]+)$/.exec(withoutCodec(file))?.[1]?.toLowerCase() ?? "";
  const format = EXTENSIONS.get(extension);
  if (format !== undefined) return format;
  throw new QaError("input_unsupported", `${file}: the name does not tell its format; ${passFrom()}`, {
    details: { file },
  });
}

/**
 * The format of a text from stdin: `{` begins NDJSON, `[` a JSON array; `undefined` while it is blank.
 * @throws QaError `input_unsupported` for any other beginning
 */
export function sniffFormat(text: string): TextFormat | undefined {
  const first = text.trimStart().charAt(0);
  if (first === "") return undefined;
  if (first === "{") return "ndjson";
  if (first === "[") return "json";
  throw new QaError("input_unsupported", `${nameOf("-")} does not tell its format; ${passFrom()}`);
}

function passFrom(): string {
  return `pass --from ${FROM_VALUES.join(", --from ").replace(/, (?=[^,]*$)/, " or ")}`;
}
