/** `qa room` drawn for a person: questions as bars of the window, a state in them, or what a file's rows take. Pure. */

import type { CheckpointRoom, QuestionTokens, RoomReport, StateRoom } from "../../engine/room-report.js";
import { barText, countOf, countText } from "../progress/amounts.js";
import { drawQuestionTable } from "./draw-question-table.js";
import { drawSurvey } from "./draw-survey.js";
import { explainAdvice, nameText } from "./explain-advice.js";
import type { RoomStudy } from "./room-study.js";
import { wrapText } from "./wrap-text.js";

const MOST_COLUMNS = 100;
const LEAST_COLUMNS = 60;
/** 0.71 on the English, 0.69 on the multilingual checkpoint, measured on fixtures/mails.txt. */
const WORDS_PER_TOKEN = 0.7;
const COST_BAR_COLUMNS = 20;

/** Lines of text, at most `columns` wide; of columns, 60 to 100 are used. */
export function drawRoom(study: RoomStudy, columns: number): string {
  const width = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, columns));
  const { report, survey, advice } = study;
  const parts =
    survey === undefined ? drawReport(report, width) : drawSurvey(survey, { checkpoints: report.checkpoints, width });
  const lines = advice.map((piece) => wrapText(explainAdvice(piece), { width, lead: "- " }));
  return [...parts, ...(lines.length === 0 ? [] : [["What to change", ...lines].join("\n")])].join("\n\n");
}

function drawReport({ checkpoints, state }: RoomReport, width: number): string[] {
  if (state === undefined) return checkpoints.map((checkpoint) => drawQuestionsOnly(checkpoint, width));
  const checkpoint = checkpoints.find(({ role }) => role === state.role);
  const text = `State: ${countOf(state.stateTokens, "token")}, read by ${state.checkpoint}: ${state.reason}`;
  const title = wrapText(text, { width, indent: 2 });
  if (checkpoint === undefined) return [title];
  const table = drawQuestionTable(checkpoint, { width, state: state.stateTokens, verdict: (q) => verdictOf(q, state) });
  return [title, `${titleOf(checkpoint)}\n${table}`, drawCost(state, width)];
}

function drawQuestionsOnly(checkpoint: CheckpointRoom, width: number): string {
  const lines = [titleOf(checkpoint), drawQuestionTable(checkpoint, { width })];
  return [...lines, ...explainRoom(checkpoint).map((line) => wrapText(line, { width, lead: "  " }))].join("\n");
}

function titleOf({ checkpoint, window }: CheckpointRoom): string {
  return `${checkpoint}: window of ${countText(window)} tokens a question`;
}

/** The state that all questions hold, and the state that one call holds. */
function explainRoom({ questions, cap, maxQuestions }: CheckpointRoom): string[] {
  const room = Math.min(...questions.map((question) => question.room));
  const tightest = questions.find((question) => question.room === room);
  if (tightest === undefined) return [];
  const name = nameText(tightest.id);
  if (room <= 0) return [`No state fits: ${name} takes ${countText(tightest.prefix)} tokens and leaves no room.`];
  const words = Math.floor((room * WORDS_PER_TOKEN) / 10) * 10;
  const inWords = words === 0 ? "" : ` (some ${countText(words)} words of English)`;
  const setBy = questions.length === 1 ? "" : `, set by ${name}`;
  const inOneCall = Math.floor(cap / questions.length) - Math.max(...questions.map(({ prefix }) => prefix)) - 1;
  const callsOf = () => {
    if (questions.length > maxQuestions || inOneCall < 1)
      return "The questions are more than one call takes: qa run and qa ask split them by themselves.";
    if (inOneCall >= room) return `All in one call: the cap of ${countText(cap)} processed tokens is never reached.`;
    return `In one call up to ${countText(inOneCall)} tokens of state (cap ${countText(cap)} processed tokens); longer ones are split.`;
  };
  return [`Longest state that fits: ${countOf(room, "token")}${inWords}${setBy}.`, callsOf()];
}

function verdictOf({ room }: QuestionTokens, { stateTokens }: StateRoom): string {
  if (stateTokens <= room) return "fits";
  return room <= 0 ? "no room" : `${countText(stateTokens - room)} over`;
}

function drawCost({ cost, cap, calls, fits }: StateRoom, width: number): string {
  const lead = `Cost  ▕${barText(cost / cap, COST_BAR_COLUMNS)}▏ `;
  const made = calls === 1 ? "1 call" : `split over ${countOf(calls, "call")}`;
  const counts = `${countText(cost)} of ${countText(cap)} processed tokens a call`;
  return wrapText(fits ? `${counts}: ${made}` : counts, { width, lead });
}
