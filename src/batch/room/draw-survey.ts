/** The rows of a data file as `qa room` draws them: routes, fits, histograms of state tokens, rows to look at, cost. Pure. */

import type { CheckpointRoom, QuestionTokens } from "../../engine/room-report.js";
import { barText, countOf, countText } from "../progress/amounts.js";
import { nameOf } from "../read/row-reader.js";
import { drawQuestionTable } from "./draw-question-table.js";
import { nameText } from "./explain-advice.js";
import type {
  CheckpointSurvey,
  RoomSurvey,
  RouteCount,
  RowList,
  RowMark,
  UnfitRow,
  UnreadableRow,
} from "./room-survey.js";
import { binsOf } from "./token-histogram.js";
import { wrapText } from "./wrap-text.js";

const ROUTE_BAR_COLUMNS = 16;
const HISTOGRAM_BAR_COLUMNS = 32;
/** Rows that are shown, of those that are known. */
const SHOWN_ROWS = 8;

interface SurveyOptions {
  readonly width: number;
  readonly checkpoints: readonly CheckpointRoom[];
}

/** Paragraphs of at most `width` columns, the last of them the cost. */
export function drawSurvey(survey: RoomSurvey, { width, checkpoints }: SurveyOptions): string[] {
  const drawn = checkpoints.flatMap((checkpoint) => {
    const rows = survey.checkpoints.get(checkpoint.role);
    return rows === undefined ? [] : [drawCheckpoint(checkpoint, rows, width)];
  });
  return [
    drawRoutes(survey, width),
    ...drawn,
    ...drawUnfit(survey, width),
    ...drawUnreadable(survey, width),
    drawTotals(survey, width),
  ];
}

/** Only where rows go and which of them cannot be answered, paragraphs of at most `width` columns. */
export function drawRowsOf(survey: RoomSurvey, width: number): string[] {
  return [drawRoutes(survey, width), ...drawUnfit(survey, width), ...drawUnreadable(survey, width)];
}

function drawRoutes({ rows, unfit, unreadable, routes }: RoomSurvey, width: number): string {
  const fit = rows - unreadable.count - unfit.count;
  const counts = [
    `${countText(fit)} fit`,
    `${countText(unfit.count)} too long`,
    `${countText(unreadable.count)} unreadable`,
  ];
  const title = `${countOf(rows, "row")}: ${counts.join(", ")}`;
  const groups = groupRoutes(routes);
  const most = Math.max(1, ...groups.map((group) => group.rows));
  const size = Math.max(0, ...groups.map((group) => countText(group.rows).length));
  const lines = groups.map((group) => {
    const bar = barText(group.rows / most, ROUTE_BAR_COLUMNS);
    const lead = `  ${bar} ${countText(group.rows).padStart(size)}  `;
    return wrapText(`${group.checkpoint}: ${group.text}`, { width, lead });
  });
  return [title, ...lines].join("\n");
}

/** Routes of like reason together, their languages after it, the most frequent first. */
function groupRoutes(routes: readonly RouteCount[]): { checkpoint: string; text: string; rows: number }[] {
  const groups = new Map<string, RouteCount[]>();
  for (const route of [...routes].sort((a, b) => b.rows - a.rows)) {
    const key = `${route.checkpoint} ${route.reason}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return [...groups.values()]
    .map((group) => ({
      checkpoint: group[0]?.checkpoint ?? "",
      text: [...new Set(group.map(({ reason }) => ROUTE_WORDS[reason])), ...languagesOf(group)].join(": "),
      rows: group.reduce((sum, { rows }) => sum + rows, 0),
    }))
    .sort((a, b) => b.rows - a.rows);
}

function languagesOf(group: readonly RouteCount[]): string[] {
  const known = group.filter(({ language }) => language !== undefined);
  if (known.length <= 1) return known.map(({ language }) => language ?? "");
  return [known.map(({ language, rows }) => `${language} ${countText(rows)}`).join(", ")];
}

const ROUTE_WORDS: Readonly<Record<RouteCount["reason"], string>> = {
  named: "asked for by name",
  script: "not in Latin script",
  language: "language detected",
  foreign_paragraph: "a paragraph in another language",
  few_letters: "looks English, too few letters to be sure",
  undecided: "language undecided",
};

function drawCheckpoint(checkpoint: CheckpointRoom, survey: CheckpointSurvey, width: number): string {
  const { states, own } = survey;
  const size = `window of ${countText(checkpoint.window)} tokens a question`;
  const title = `${checkpoint.checkpoint}: ${size}, ${countOf(states.count, "row")}`;
  const verdict = ({ id }: QuestionTokens) => fitOfRows(survey.questions.get(id));
  const asked = survey.questions.size === 0 ? [] : [drawQuestionTable(checkpoint, { width, verdict })];
  const owned = own.fit + own.unfit.count;
  const ownLine = `  ${countText(own.fit)} of ${countOf(owned, "row")} with questions of their own fit`;
  return [
    wrapText(title, { width, indent: 2 }),
    ...asked,
    ...(owned === 0 ? [] : [ownLine]),
    "",
    drawStates(checkpoint, survey, width),
  ].join("\n");
}

function fitOfRows(fit: { fit: number; unfit: RowList<number> } | undefined): string {
  if (fit === undefined) return "";
  const all = countText(fit.fit + fit.unfit.count);
  return fit.unfit.count === 0 ? `fits all ${all}` : `fits ${countText(fit.fit)} of ${all}`;
}

function drawStates(
  { questions }: CheckpointRoom,
  { states, questions: asked }: CheckpointSurvey,
  width: number,
): string {
  const borders = asked.size === 0 ? [] : roomsOf(questions);
  const bins = binsOf(
    states,
    borders.map(({ room }) => room),
  );
  const most = Math.max(1, ...bins.map((bin) => bin.rows));
  const labels = bins.map(({ from, to }) => (from === to ? countText(from) : `${countText(from)}-${countText(to)}`));
  const size = Math.max(...labels.map((label) => label.length));
  const barSize = Math.min(HISTOGRAM_BAR_COLUMNS, width - size - 16);
  const lines = bins.flatMap(({ to, rows }, i) => {
    const bar = barText(rows / most, barSize).trimEnd();
    const count = rows === 0 ? "" : ` ${countText(rows)}`;
    const line = `  ${(labels[i] ?? "").padStart(size)} ${bar}${count}`.trimEnd();
    return [line, ...borders.filter(({ room }) => room === to && to < states.max).map((border) => drawBorder(border))];
  });
  const beyond = borders
    .filter(({ room }) => room >= states.max)
    .slice(0, 1)
    .map((border) => drawBorder(border));
  const typical = [0.5, 0.95].map((share) => countText(states.atShare(share)));
  const title = `State tokens: median ${typical[0]}, 95 % at most ${typical[1]}, longest ${countText(states.max)}`;
  return [wrapText(title, { width, lead: "  " }), ...lines, ...beyond].join("\n");
}

interface Border {
  readonly room: number;
  readonly text: string;
}

/** The tightest and the widest room. */
function roomsOf(questions: readonly QuestionTokens[]): Border[] {
  const sorted = [...questions].sort((a, b) => a.room - b.room);
  const [tightest] = sorted;
  const widest = sorted.at(-1);
  if (tightest === undefined || widest === undefined) return [];
  const first = { room: tightest.room, text: `tightest room, ${nameText(tightest.id)}` };
  return widest.room === tightest.room
    ? [first]
    : [first, { room: widest.room, text: `widest room, ${nameText(widest.id)}` }];
}

function drawBorder({ room, text }: Border): string {
  return `  ──── ${countText(room)}: ${text}`;
}

function drawUnfit({ unfit }: RoomSurvey, width: number): string[] {
  if (unfit.count === 0) return [];
  const lineOf = (row: UnfitRow) =>
    `${placeOf(row)}: ${countOf(row.stateTokens, "token")}, ${countText(row.stateTokens - Math.max(0, row.room))} over the room of ${nameText(row.question)} on ${row.checkpoint}`;
  return [drawList("Rows that do not fit", unfit, { width, lineOf })];
}

function drawUnreadable({ unreadable }: RoomSurvey, width: number): string[] {
  if (unreadable.count === 0) return [];
  return [drawList("Rows that cannot be read", unreadable, { width, lineOf: unreadableLine })];
}

/** Some messages say the place themselves. */
function unreadableLine(row: UnreadableRow): string {
  if (!row.message.includes(`line ${row.line} of `)) return `${placeOf(row)}: ${row.message}`;
  return row.message.startsWith("row ") ? row.message : `row ${countText(row.row)}: ${row.message}`;
}

function drawList<T>(
  title: string,
  { count, first }: RowList<T>,
  { width, lineOf }: { width: number; lineOf: (row: T) => string },
): string {
  const shown = first.slice(0, SHOWN_ROWS);
  const more = count - shown.length;
  const lines = shown.map((row) => wrapText(lineOf(row), { width, lead: "  ", indent: 4 }));
  return [`${title} (${countText(count)})`, ...lines, ...(more > 0 ? [`  and ${countText(more)} more`] : [])].join(
    "\n",
  );
}

function placeOf({ row, file, line }: RowMark): string {
  return `row ${countText(row)} (line ${countText(line)} of ${nameOf(file)})`;
}

function drawTotals({ totals, overCap }: RoomSurvey, width: number): string {
  const { rows, calls, inputTokens, processedTokens } = totals;
  const lines = [
    `Cost of the ${countOf(rows, "row")} that fit${rows === 1 ? "s" : ""}: ${countOf(calls, "call")}, ${countText(inputTokens)} input tokens, ${countText(processedTokens)} processed tokens (questions x longest sequence, which the cap counts)`,
  ];
  if (overCap.count > 0)
    lines.push(
      `${countOf(overCap.count, "row")} over the cap of one call: ${countText(overCap.calls)} calls, at most ${countText(overCap.mostCalls)} a row`,
    );
  return lines.map((line) => wrapText(line, { width, indent: 2 })).join("\n");
}
