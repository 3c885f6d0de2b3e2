/** Rows of CSV output after a plan of columns. Pure. Cells are the data as it is: also one that a spreadsheet takes for a formula. */

import { stringify } from "csv-stringify/sync";
import type { Answer } from "../../decision/answer.js";
import type { Question } from "../../decision/question.js";
import { QaError } from "../../errors.js";
import type { Row } from "../read/row.js";
import { uncertainIds } from "../review/band.js";
import { answerColumns, type CsvOptions, type CsvPlan, type InputPlan } from "./csv-plan.js";
import { cellOf, fieldAt, fieldsOf, restCell } from "./input-fields.js";
import { type Outcome, ROW_NUMBER } from "./output-record.js";

/** The header with its line end. */
export function csvHeader({ columns }: CsvPlan): string {
  return csvLine(columns);
}

/** A row of CSV output with its line end; a failed row keeps its input, its answers are empty. */
export function csvRecord(plan: CsvPlan, row: Row, outcome: Outcome): string {
  return csvLine([...inputCells(plan, row), ...outcomeCells(plan, outcome)]);
}

/** A record with its line end. */
export function csvLine(cells: readonly string[]): string {
  return stringify([cells], { record_delimiter: "\n" });
}

/** The cells that keep the input. */
export function inputCells({ options, inputColumns, restColumn }: InputPlan, row: Row): readonly string[] {
  if (options.onlyAnswers === true)
    return inputColumns.map((column) =>
      column === ROW_NUMBER && options.idColumn !== ROW_NUMBER
        ? String(row.place.index + 1)
        : cellOf(fieldAt(row, column)),
    );
  const { content } = row;
  const isPlain = restColumn === undefined && content.type === "record";
  if (
    isPlain &&
    content.columns.length === inputColumns.length &&
    content.columns.every((c, i) => c === inputColumns[i])
  )
    return content.cells;
  const fields = fieldsOf(row);
  const cells = inputColumns.map((column) => cellOf(fields.get(column)));
  return restColumn === undefined ? cells : [...cells, restCell(row, new Set(inputColumns))];
}

function outcomeCells({ questions, options }: CsvPlan, outcome: Outcome): readonly string[] {
  const isFailed = outcome instanceof QaError;
  const answers = questions.flatMap((question) =>
    isFailed
      ? answerColumns(question, options).map(() => "")
      : answerCells(question, outcome.answers.get(question.id), options),
  );
  const model = isFailed ? "" : outcome.model;
  const chunks = isFailed || outcome.chunked === undefined ? "" : String(outcome.chunked.chunks.length);
  const { band } = options;
  const uncertain = isFailed || band === undefined ? "" : uncertainIds(outcome.answers, band).join(" ");
  const error = isFailed ? [outcome.code, outcome.message] : ["", ""];
  return [
    ...answers,
    model,
    ...(options.chunks === true ? [chunks] : []),
    ...(band === undefined ? [] : [uncertain]),
    ...error,
  ];
}

function answerCells(question: Question, answer: Answer | undefined, { probabilities }: CsvOptions): readonly string[] {
  if (answer?.type !== question.type) throw new Error("an answer does not fit the CSV columns; this is a bug in qa");
  if (answer.type === "noul") return [String(answer.noul)];
  const said = answer.type === "choice" ? answer.choice : String(answer.score);
  const each =
    probabilities === true ? question.options.map(({ label }) => String(answer.probabilities.get(label) ?? "")) : [];
  return [said, String(answer.confidence), ...each];
}
