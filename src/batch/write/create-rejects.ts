/** The file of `--rejects`: each failed row whole, as NDJSON that `qa run` takes again, with its error behind it. Pure. */

import { QaError } from "../../errors.js";
import type { Row } from "../read/row.js";
import { fieldAt, inputObject } from "./input-fields.js";
import { withEntries } from "./json-spans.js";
import type { Outcome } from "./output-record.js";

/** The row of a failure with its line end, `undefined` for a row that is answered; a field `error` of the row's own stays. */
export function rejectRecord(row: Row, outcome: Outcome): string | undefined {
  if (!(outcome instanceof QaError)) return undefined;
  const error = fieldAt(row, "error") === undefined ? [`"error":${JSON.stringify(outcome)}`] : [];
  return `${withEntries(inputObject(row), error)}\n`;
}
