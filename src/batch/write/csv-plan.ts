/**
 * The columns of a CSV output, settled before the first row is answered: those of the input, then the flattened answers.
 * Pure. What a later row holds beyond them goes, as JSON, to a last input column `other_keys`: nothing is lost, nothing
 * stops a long run, and the column is there only where later rows may differ.
 */

import type { Question } from "../../decision/question.js";
import { QaError } from "../../errors.js";
import { columnNames } from "../read/read-delimited.js";
import type { Row } from "../read/row.js";
import type { Band } from "../review/band.js";
import { fieldAt, fieldNames } from "./input-fields.js";
import { OUTPUT_KEYS, ROW_NUMBER } from "./output-record.js";

export interface CsvOptions {
  readonly onlyAnswers?: boolean | undefined;
  readonly idColumn?: string | undefined;
  /** A column `<id>.<label>` for each option of choices and scores (a noul's column is its probability). */
  readonly probabilities?: boolean | undefined;
  /** A column `chunks`, the number of chunks of a long state: for runs that may chunk. */
  readonly chunks?: boolean | undefined;
  /** A column `uncertain`, the ids of the questions whose answers lie in it, with spaces between them. */
  readonly band?: Band | undefined;
}

export interface CsvSource {
  /** First rows of the input; their fields, in the order first seen, are the input columns. */
  readonly sample: readonly Row[];
  /** Whether rows behind the sample may have other fields: there are some, and they are JSON or of a further file. */
  readonly mayVary: boolean;
  /** The run's question set, or those of the sample's rows where rows carry their own. */
  readonly questionSets: readonly (readonly Question[])[];
}

export interface InputPlan {
  readonly options: Pick<CsvOptions, "onlyAnswers" | "idColumn">;
  readonly inputColumns: readonly string[];
  /** Name of the column for fields that are no column, where there may be any. */
  readonly restColumn: string | undefined;
}

export interface CsvPlan extends InputPlan {
  readonly options: CsvOptions;
  readonly questions: readonly Question[];
  /** All columns, in order. */
  readonly columns: readonly string[];
}

const REMEDY = "write NDJSON instead (--to ndjson)";

/**
 * Settles the columns.
 * @throws QaError `invalid_usage`: two columns of one name, or question sets that differ
 */
export function planCsv(source: CsvSource, options: CsvOptions = {}): CsvPlan {
  const { questionSets } = source;
  const [questions = []] = questionSets;
  if (questions.length === 0)
    throw new QaError("invalid_usage", `CSV columns follow from the questions, and no row tells them; ${REMEDY}`);
  const input = planInput(source, options);
  const columns = [
    ...namesOf(input),
    ...questions.flatMap((question) => answerColumns(question, options)),
    "model",
    ...(options.chunks === true ? ["chunks"] : []),
    ...(options.band === undefined ? [] : ["uncertain"]),
    "error.code",
    "error.message",
  ];
  const repeated = [...new Set(columns.filter((column, i) => columns.indexOf(column) !== i))];
  if (repeated.length > 0) throw repeatedColumns(repeated);
  const plan = { ...input, options, questions, columns };
  for (const set of questionSets) {
    const misfit = csvMisfit(plan, set);
    if (misfit !== undefined) throw misfit;
  }
  return plan;
}

/** The columns that keep the input. */
export function planInput(
  { sample, mayVary }: Pick<CsvSource, "sample" | "mayVary">,
  options: InputPlan["options"] = {},
): InputPlan {
  const inputColumns = inputColumnsOf(sample, options);
  const isOpen = mayVary && options.onlyAnswers !== true;
  return {
    options,
    inputColumns,
    restColumn: isOpen ? columnNames([...inputColumns, "other_keys"]).at(-1) : undefined,
  };
}

/** Names of the input columns, in order. */
export function namesOf({ inputColumns, restColumn }: InputPlan): readonly string[] {
  return restColumn === undefined ? inputColumns : [...inputColumns, restColumn];
}

/** Columns of one answer: `<id>`, then for choice and score `<id>_confidence` and, where asked for, the probabilities. */
export function answerColumns({ id, type, options }: Question, { probabilities }: CsvOptions): readonly string[] {
  if (type === "noul") return [id];
  return [id, `${id}_confidence`, ...(probabilities === true ? options.map(({ label }) => `${id}.${label}`) : [])];
}

/** Why a row's own questions cannot be written to this plan's columns, `undefined` where they can. */
export function csvMisfit({ questions, options }: CsvPlan, own: readonly Question[]): QaError | undefined {
  const wanted = questions.map((question) => shapeOf(question, options)).sort();
  const given = own === questions ? wanted : own.map((question) => shapeOf(question, options)).sort();
  if (given.length === wanted.length && given.every((shape, i) => shape === wanted[i])) return undefined;
  const message = `the rows carry different questions, and CSV has one set of columns; ${REMEDY}`;
  return new QaError("invalid_usage", message);
}

function shapeOf(question: Question, options: CsvOptions): string {
  return JSON.stringify([question.type, ...answerColumns(question, options).toSorted()]);
}

/**
 * Makes sure that an id column names something and can be written.
 * @throws QaError `invalid_usage`
 */
export function checkIdColumn(idColumn: string, sample: readonly Row[]): void {
  if (OUTPUT_KEYS.some((key) => key === idColumn))
    throw new QaError("invalid_usage", `--id-column ${idColumn} is a name that the answers use; rename that column`);
  const readable = sample.filter((row) => row.content.type !== "malformed");
  if (readable.length === 0 || readable.some((row) => fieldAt(row, idColumn) !== undefined)) return;
  const names = unionOf(readable);
  const more = names.length > 50 ? ` and ${names.length - 50} more` : "";
  const message = `--id-column ${idColumn} is in none of the first rows; their columns are ${names.slice(0, 50).join(", ")}${more}`;
  throw new QaError("invalid_usage", message);
}

function inputColumnsOf(sample: readonly Row[], { onlyAnswers, idColumn }: InputPlan["options"]): readonly string[] {
  if (onlyAnswers !== true) return unionOf(sample);
  return idColumn === undefined || idColumn === ROW_NUMBER ? [ROW_NUMBER] : [ROW_NUMBER, idColumn];
}

function unionOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap(fieldNames))];
}

function repeatedColumns(names: readonly string[]): QaError {
  const which = names.length === 1 ? `the column ${names[0]}` : `the columns ${names.join(", ")}`;
  const message = `the CSV would have ${which} twice, from the input or from two questions; rename the question or the input's column, ${REMEDY}, or leave the input out (--only-answers --id-column NAME)`;
  return new QaError("invalid_usage", message, { details: { columns: [...names] } });
}
