/** Rows of CSV output after a plan of columns. Pure. Cells are the data as it is: also one that a spreadsheet takes for a formula. */

import { stringify } from "csv-stringify/sync";
import type { Answer } from "../../decision/answer.js";
import type { Question } from "../../decision/question.js";
import { QaError } from "../../errors.js";
import type { Row } from "../read/row.js";
import { answerColumns, type CsvOptions, type CsvPlan } from "./csv-plan.js";
import { cellOf, fieldAt, fieldsOf, restCell } from "./input-fields.js";
import { type Outcome, ROW_NUMBER } from "./output-record.js";

/** The header with its line end. */
export function csvHeader({ columns }: CsvPlan): string {
  return line(columns);
}

/** A row of CSV output with its line end; a failed row keeps its input, its answers are empty. */
export function csvRecord(plan: CsvPlan, row: Row, outcome: Outcome): string {
  return line([...inputCells(plan, row), ...outcomeCells(plan, outcome)]);
}

function line(cells: readonly string[]): string {
  return stringify([cells], { record_delimiter: "\n" });
}

function inputCells({ options, inputColumns, restColumn }: CsvPlan, row: Row): readonly string[] {
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
  const error = isFailed ? [outcome.code, outcome.message] : ["", ""];
  return [...answers, model, ...(options.chunks === true ? [chunks] : []), ...error];
}

function answerCells(question: Question, answer: Answer | undefined, { probabilities }: CsvOptions): readonly string[] {
  if (answer?.type !== question.type) throw new Error("an answer does not fit the CSV columns; this is a bug in qa");
  if (answer.type === "noul") return [String(answer.noul)];
  const said = answer.type === "choice" ? answer.choice : String(answer.score);
  const each =
    probabilities === true ? question.options.map(({ label }) => String(answer.probabilities.get(label) ?? "")) : [];
  return [said, String(answer.confidence), ...each];
}
