/**
 * The file of `--review`: a line for each unsure answer, with an empty field for what a person says instead, and the row it
 * is about. qa's fields stand before the input, so that they stay in sight beside a long text; the input is whole also with
 * `--only-answers`, since a person must read it. Pure.
 */

import type { Answer } from "../../decision/answer.js";
import { type JsonValue, stringifyJson } from "../../decision/json.js";
import { QaError } from "../../errors.js";
import { columnNames } from "../read/read-delimited.js";
import type { Row } from "../read/row.js";
import { type CsvSource, namesOf, planInput } from "../write/csv-plan.js";
import { csvLine, inputCells } from "../write/csv-record.js";
import { inputObject } from "../write/input-fields.js";
import type { OutputFormat } from "../write/output-format.js";
import { type Outcome, ROW_NUMBER } from "../write/output-record.js";
import { answeredOf, probabilitiesOf, probabilityWords } from "./answer-words.js";
import { type Band, isUncertain } from "./band.js";

export interface ReviewOptions {
  readonly format: OutputFormat;
  readonly band: Band;
}

export interface Review {
  /** What stands before the first line, written once. */
  readonly head: string;
  /** The lines of a row with their line ends, `undefined` for a row without an unsure answer. */
  record(row: Row, outcome: Outcome): string | undefined;
}

/** Columns that a review has before those of the input; an input column of such a name becomes `question_2`. */
const COLUMNS = [ROW_NUMBER, "question", "answered", "confidence", "probabilities", "your_answer"] as const;

/** Without it, Excel takes UTF-8 for the code page of its machine. */
const BYTE_ORDER_MARK = "\uFEFF";

/** The form of the lines for review. */
export function createReview(source: Pick<CsvSource, "sample" | "mayVary">, { format, band }: ReviewOptions): Review {
  const { head, line } = format === "csv" ? csvReview(source) : ndjsonReview;
  return {
    head,
    record(row, outcome) {
      if (outcome instanceof QaError) return undefined;
      const unsure = [...outcome.answers].filter(([, answer]) => isUncertain(answer, band));
      return unsure.length === 0 ? undefined : unsure.map(([id, answer]) => line(row, id, answer)).join("");
    },
  };
}

interface ReviewForm {
  readonly head: string;
  readonly line: (row: Row, id: string, answer: Answer) => string;
}

function csvReview(source: Pick<CsvSource, "sample" | "mayVary">): ReviewForm {
  const input = planInput(source);
  return {
    head: BYTE_ORDER_MARK + csvLine(columnNames([...COLUMNS, ...namesOf(input)])),
    line: (row, id, answer) =>
      csvLine([
        String(row.place.index + 1),
        id,
        String(answeredOf(answer)),
        answer.type === "noul" ? "" : String(answer.confidence),
        probabilityWords(answer),
        "",
        ...inputCells(input, row),
      ]),
  };
}

const ndjsonReview: ReviewForm = {
  head: "",
  line(row, id, answer) {
    const fields = new Map<string, JsonValue>([
      [ROW_NUMBER, row.place.index + 1],
      ["question", id],
      ["answered", answeredOf(answer)],
      ["confidence", answer.type === "noul" ? null : answer.confidence],
      ["probabilities", probabilitiesOf(answer)],
      ["your_answer", null],
    ]);
    return `${stringifyJson(fields).slice(0, -1)},"input":${inputObject(row)}}\n`;
  },
};
