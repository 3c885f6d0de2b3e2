/** The questions of a checkpoint as a table: their tokens, their room, and each window as a bar. Pure. */

import type { CheckpointRoom, QuestionTokens } from "../../engine/room-report.js";
import { countText } from "../progress/amounts.js";
import { fitText, textWidth } from "../progress/text-width.js";
import { nameText } from "./explain-advice.js";
import { drawWindow, WINDOW_BAR } from "./room-bar.js";
import { wrapText } from "./wrap-text.js";

const MOST_ID_COLUMNS = 24;
/** More columns of bar tell no more. */
const MOST_BAR_COLUMNS = 48;
/** Below this, bars get the room of the columns that they show anyway. */
const LEAST_BAR_COLUMNS = 20;
const GAP = "  ";

export interface TableOptions {
  readonly width: number;
  /** Tokens of a state, shown in every bar. */
  readonly state?: number;
  /** A last column. */
  readonly verdict?: (question: QuestionTokens) => string;
}

/** A line a question, between a header and a legend; where the bars would be short, without the tokens of head and options. */
export function drawQuestionTable(checkpoint: CheckpointRoom, options: TableOptions): string {
  const whole = layTable(checkpoint, options, ["head", "options", "room"]);
  return drawRows(
    checkpoint,
    options,
    whole.barSize < LEAST_BAR_COLUMNS ? layTable(checkpoint, options, ["room"]) : whole,
  );
}

type Column = "head" | "options" | "room";

interface Layout {
  readonly columns: readonly { readonly name: Column; readonly size: number }[];
  readonly idSize: number;
  readonly barSize: number;
}

function layTable({ questions }: CheckpointRoom, { width, verdict }: TableOptions, names: readonly Column[]): Layout {
  const longest = (texts: readonly string[], least: number) => Math.max(least, ...texts.map(textWidth));
  const columns = names.map((name) => ({
    name,
    size: longest(
      questions.map((q) => countOfColumn(q, name)),
      name.length,
    ),
  }));
  const verdictSize = verdict === undefined ? 0 : GAP.length + longest(questions.map(verdict), 0);
  const fixed = columns.reduce((sum, { size }) => sum + size + GAP.length, 2 * GAP.length) + verdictSize;
  const longestId = longest(
    questions.map(({ id }) => id),
    8,
  );
  const idSize = Math.min(longestId, MOST_ID_COLUMNS, Math.floor((width - fixed) / 2));
  return { columns, idSize, barSize: Math.min(MOST_BAR_COLUMNS, width - fixed - idSize) };
}

function countOfColumn({ head, prefix, room }: QuestionTokens, column: Column): string {
  return countText({ head, options: prefix - head, room }[column]);
}

function drawRows(
  { window, questions }: CheckpointRoom,
  { width, state, verdict }: TableOptions,
  layout: Layout,
): string {
  const { columns, idSize, barSize } = layout;
  const lineOf = (id: string, cellOf: (column: Column) => string, ...rest: string[]) => {
    const cells = columns.map(({ name, size }) => cellOf(name).padStart(size));
    return [fitText(`  ${id}`, idSize + 2), ...cells, ...rest].join(GAP).trimEnd();
  };
  const rows = questions.map((question) => {
    const bar = drawWindow({ ...question, window, state }, barSize);
    return lineOf(question.id, (column) => countOfColumn(question, column), bar, verdict?.(question) ?? "");
  });
  const legend = legendOf(state !== undefined);
  return [lineOf("tokens", (column) => column), ...rows, legend, ...warningsOf(questions, width)].join("\n");
}

function legendOf(hasState: boolean): string {
  const { head, options, state, end, room, over } = WINDOW_BAR;
  const space = hasState ? `${state}${end} state  ${room} left  ${over} past the window` : `${room} room for the state`;
  return `  ${head} head  ${options} options  ${space}`;
}

/** Options that the checkpoint's own limits cut to the same text: it cannot tell them apart. */
function warningsOf(questions: readonly QuestionTokens[], width: number): string[] {
  return questions.flatMap(({ id, collisions }) =>
    collisions.map((labels) => {
      const names = labels.map((label) => `"${nameText(label)}"`).join(", ");
      const text = `${nameText(id)}: this checkpoint reads only the beginning of ${names}, where they are the same; let them differ earlier.`;
      return wrapText(text, { width, lead: "  ! " });
    }),
  );
}
