/** The room of each question, the route and the cost, as the page words and draws them. */

import type { MeasuredRoom, QuestionRoomReply } from "../room-reply.js";
import { byId, countText, h } from "./dom.js";

/** One question's share of its window. */
export interface Gauge {
  readonly id: string;
  /** Tokens that are left beside the state; negative where the state does not fit. */
  readonly free: number;
  readonly text: string;
  readonly detail: string;
  readonly questionShare: number;
  readonly stateShare: number;
  readonly isOver: boolean;
}

/** A gauge for each question, in order. */
export function gaugesOf({ checkpoints, state }: MeasuredRoom): Gauge[] {
  const read = checkpoints.find(({ checkpoint }) => checkpoint === state.checkpoint) ?? checkpoints[0];
  return (read?.questions ?? []).map((question) => gaugeOf(question, read?.window ?? 1, state.stateTokens));
}

function gaugeOf(question: QuestionRoomReply, window: number, stateTokens: number): Gauge {
  const free = question.room - stateTokens;
  const options = question.options.reduce((sum, { tokens }) => sum + tokens, 0);
  const same = question.collisions.map((labels) => labels.join(" = ")).join("; ");
  const parts = [
    `question ${countText(question.head)} + options ${countText(options)} + state ${countText(stateTokens)} + 2 borders, of a window of ${countText(window)} tokens`,
    ...(same === "" ? [] : [`cut to the same text: ${same}`]),
  ];
  return {
    id: question.id,
    free,
    text: textOf(question, free, window),
    detail: parts.join("; "),
    questionShare: question.prefix / window,
    stateShare: Math.max(0, stateTokens / window),
    isOver: free < 0 || question.fit !== "fits",
  };
}

function textOf({ fit, prefix, room }: QuestionRoomReply, free: number, window: number): string {
  if (fit === "too_many_options") return `too many options: ${countText(prefix)} tokens, window ${countText(window)}`;
  if (fit === "question_too_long") return `too long: ${countText(prefix)} tokens, window ${countText(window)}`;
  if (free < 0) return `room for ${countText(room)}, state over by ${countText(-free)}`;
  return `${countText(free)} of ${countText(window)} tokens free`;
}

/** A gauge with nothing in it yet; it takes the same space. */
export function roomGauge(id: string): HTMLElement {
  const window = h(
    "span",
    { class: "window", "aria-hidden": "true" },
    h("span", { class: "used" }),
    h("span", { class: "state" }),
  );
  return h("span", { class: "room", id }, h("span", { class: "room-text" }, BLANK), window);
}

/** Fills a gauge of the page, or empties it. */
export function fillGauge(id: string, gauge: Gauge | undefined): void {
  const room = byId(id, HTMLElement);
  const put = (part: string, share: number) => {
    room.querySelector<HTMLElement>(part)?.style.setProperty("width", `${Math.min(1, share) * 100}%`);
  };
  room.querySelector(".room-text")?.replaceChildren(gauge?.text ?? BLANK);
  room.classList.toggle("over", gauge?.isOver ?? false);
  room.title = gauge?.detail ?? "";
  put(".used", gauge?.questionShare ?? 0);
  put(".state", gauge?.stateShare ?? 0);
}

const BLANK = "\u00a0";
const NONE = "\u2013";

/** Lists gauges with their questions' ids, where there is no card to show them in. */
export function listGauges(list: HTMLElement, gauges: readonly Gauge[]): void {
  const items = gauges.map(({ id }, at) =>
    h("li", {}, h("span", { class: "room-id" }, id), roomGauge(`json-room-${at}`)),
  );
  list.replaceChildren(...items);
  gauges.forEach((gauge, at) => {
    fillGauge(`json-room-${at}`, gauge);
  });
}

/** Fills the panel of the call: which checkpoint reads the text and why, the tightest room, and the cost. */
export function showCall(reply: MeasuredRoom | undefined, note: string): void {
  const put = (id: string, text: string) => {
    byId(id, HTMLElement).textContent = text;
  };
  const state = reply?.state;
  const tightest = reply && gaugesOf(reply).reduce((least, gauge) => (gauge.free < least.free ? gauge : least));
  put("call-checkpoint", state?.checkpoint ?? NONE);
  put("call-reason", state?.reason ?? (note || BLANK));
  put("call-state", state === undefined ? NONE : `${countText(state.stateTokens)} tokens`);
  put("call-room", tightest?.text ?? NONE);
  put("call-tightest", tightest === undefined ? BLANK : `the tightest question, ${tightest.id}`);
  put("call-cost", state === undefined ? NONE : `${countText(state.cost)} of ${countText(state.cap)} tokens`);
  const isOver = state !== undefined && state.cost > state.cap;
  put("call-note", isOver ? `over the cap: ask them in ${state.calls} calls` : (state && note) || BLANK);
  const share = state === undefined ? 0 : state.cost / state.cap;
  const bar = byId("call-bar", HTMLElement);
  bar.classList.toggle("over", isOver);
  bar.querySelector("span")?.style.setProperty("width", `${Math.min(1, share) * 100}%`);
}
