/**
 * The playground: reads the form or the JSON, measures room while a person types, asks on request, and shows answers, code and
 * errors. The parts are in the files beside this one; here they are wired together.
 */

import { isJsonObject, type JsonValue, parseJson, stringifyJson, valueAt } from "../../../decision/json.js";
import type { PageData, PagePreset, Sample } from "../page-data.js";
import type { MeasuredRoom, RoomReply } from "../room-reply.js";
import { answerCards } from "./answer-view.js";
import { callServer } from "./api.js";
import { type CodeLanguage, callCode } from "./call-code.js";
import { copyText } from "./copy-text.js";
import { byId, countText, debounce } from "./dom.js";
import { draftsOf } from "./draft.js";
import { type Failure, failureOf } from "./failure.js";
import { showFailure } from "./failure-view.js";
import { createKeyBox } from "./key-box.js";
import { finishedOf, type PageRequest, readRequest } from "./page-request.js";
import { createPresetChips } from "./preset-chips.js";
import { prettyJson } from "./pretty-json.js";
import { createQuestionForm } from "./question-form.js";
import { gaugesOf, listGauges, showCall } from "./room-view.js";
import { createTabs } from "./tabs.js";

const MEASURE_PAUSE_MS = 300;

const data = JSON.parse(byId("page-data", HTMLScriptElement).textContent ?? "{}") as PageData;
const stateBox = byId("state", HTMLTextAreaElement);
const jsonBox = byId("questions-json", HTMLTextAreaElement);
const modelBox = byId("model", HTMLSelectElement);
const askButton = byId("ask", HTMLButtonElement);
const undoButton = byId("undo", HTMLButtonElement);

const measureSoon = debounce(MEASURE_PAUSE_MS, () => void measure());
const key = createKeyBox(measureSoon);
const form = createQuestionForm(byId("questions", HTMLElement), { changed, announce: say });
const chips = createPresetChips(data.presets, { onPreset: putPreset, onSample: putSample });

let editor: "form" | "json" = "form";
let language: CodeLanguage = "curl";
let isAsking = false;
let areAnswersFresh = false;
let measuring = new AbortController();
/** Questions that a preset took the place of. */
let replaced: JsonValue | undefined;
/** The state that a sample put in; a person's own is never replaced by a preset. */
let sampleText = "";

function say(message: string): void {
  byId("status", HTMLElement).textContent = message;
}

function currentRequest(): PageRequest {
  return readRequest({
    model: modelBox.value,
    state: { text: stateBox.value, isJson: byId("state-json", HTMLInputElement).checked },
    questions: editor === "form" ? form.drafts() : jsonBox.value,
    choiceNeedsInstructions: data.choiceNeedsInstructions,
  });
}

function changed(): void {
  const request = currentRequest();
  const { count } = finishedOf(request.questions);
  askButton.textContent = isAsking ? "Asking…" : count === 1 ? "Ask 1 question" : `Ask ${count} questions`;
  if (areAnswersFresh) say("Changed since these answers; ask again.");
  areAnswersFresh = false;
  writeCode(request);
  measureSoon();
}

/** Shows the room of what stands in the fields now; a question that is not finished is left out. */
async function measure(): Promise<void> {
  measuring.abort();
  measuring = new AbortController();
  const { body, questions, failure } = currentRequest();
  if (key.isMissing()) return showRoom(undefined, "shown once the key is there");
  const { count, finished } = finishedOf(questions);
  const finishedCount = finishedOf(finished).count;
  if (finishedCount === 0 || failure?.state) return showRoom(undefined, "shown once state and questions can be read");
  const measured = new Map([...(body as Map<string, JsonValue>), ["questions", finished] as const]);
  const call = { path: "/app/room", key: key.key(), body: stringifyJson(measured), signal: measuring.signal };
  const reply = await callServer(call);
  if (reply.type === "error") showRoom(undefined, reply.error.message);
  if (reply.type !== "ok") return;
  const left = count - finishedCount;
  const room = reply.body as unknown as RoomReply;
  if (room.type === "refused") showRoom(undefined, room.message);
  else showRoom(room, left === 0 ? "" : `without ${left} unfinished`);
}

function showRoom(reply: MeasuredRoom | undefined, note: string): void {
  const gauges = reply === undefined ? [] : gaugesOf(reply);
  form.showRoom(gauges);
  listGauges(byId("json-room", HTMLElement), gauges);
  showCall(reply, note);
}

async function ask(): Promise<void> {
  if (isAsking) return;
  const { body, failure } = currentRequest();
  show(failure);
  if (failure !== undefined) return;
  if (key.isMissing()) {
    key.reject("a key is needed to ask; paste one here");
    return;
  }
  setAsking(true);
  say("Asking…");
  const reply = await callServer({ path: "/v1/systemone", key: key.key(), body: stringifyJson(body) });
  setAsking(false);
  if (reply.type === "error") show(failureOf(reply.error, editor === "form" ? form.drafts() : []));
  if (reply.type === "ok") showAnswers(reply.body, reply.elapsedMs);
}

function setAsking(isSo: boolean): void {
  isAsking = isSo;
  askButton.setAttribute("aria-disabled", String(isSo));
  changed();
}

function show(failure: Failure | undefined): void {
  showFailure(failure, form);
  if (failure !== undefined) say("");
  if (failure?.key) key.reject(failure.message);
}

function showAnswers(response: JsonValue, elapsedMs: number): void {
  const cards = answerCards(response);
  byId("answers", HTMLElement).replaceChildren(...cards);
  byId("raw", HTMLElement).textContent = prettyJson(response);
  byId("raw-box", HTMLElement).hidden = false;
  byId("no-answers", HTMLElement).hidden = true;
  areAnswersFresh = true;
  const answers = cards.length === 1 ? "1 answer" : `${cards.length} answers`;
  const usage = isJsonObject(response) ? valueAt(response, "usage") : undefined;
  const tokens = isJsonObject(usage) ? Number(valueAt(usage, "input_tokens")) : 0;
  const model = isJsonObject(response) ? String(valueAt(response, "model")) : "";
  say(`${answers} by ${model} in ${Math.round(elapsedMs)} ms, ${countText(tokens)} tokens read.`);
  bringIntoView(byId("answers-card", HTMLElement));
}

/** Scrolls to an element only where nothing of it is to be seen. */
function bringIntoView(element: HTMLElement): void {
  const { top, bottom } = element.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight * 0.8) element.scrollIntoView({ block: "start" });
}

function writeCode({ state, questions }: PageRequest): void {
  const model = modelBox.value || undefined;
  const call = { origin: location.origin, model, state, questions, keyRequired: data.keyRequired };
  byId("code", HTMLElement).textContent = callCode(language, call);
}

/** Puts questions into whichever editor is shown. */
function putQuestions(questions: JsonValue): void {
  showFailure(undefined, form);
  jsonBox.value = prettyJson(questions);
  const drafts = draftsOf(questions);
  const [first] = drafts ?? [];
  if (first) first.isOpen = true;
  if (drafts) form.replace(drafts);
}

function putPreset(preset: PagePreset): void {
  const { questions } = currentRequest();
  replaced = finishedOf(questions).count > 0 ? questions : undefined;
  undoButton.disabled = replaced === undefined;
  putQuestions(parseJson(preset.questions));
  const [sample] = preset.samples;
  if (sample !== undefined && stateBox.value === sampleText) putSample(sample);
  say(`The questions of ${preset.title} are in the form.`);
}

function putSample({ text, isJson }: Sample): void {
  stateBox.value = text;
  sampleText = text;
  byId(isJson ? "state-json" : "state-text", HTMLInputElement).checked = true;
  changed();
}

function undo(): void {
  if (replaced !== undefined) putQuestions(replaced);
  replaced = undefined;
  undoButton.disabled = true;
  say("Your questions are back.");
}

/** Changes between form and JSON; JSON that the form cannot hold stays JSON. */
function chooseEditor(name: string): boolean {
  if (name === editor) return true;
  const { questions } = currentRequest();
  showFailure(undefined, form);
  if (name === "json") {
    jsonBox.value = prettyJson(questions);
    editor = "json";
    return true;
  }
  const drafts = draftsOf(questions);
  if (drafts === undefined) {
    const why = questions === null ? "This is not JSON yet" : "The form cannot hold all of this";
    byId("questions-error", HTMLElement).textContent = `${why}; mend it to go back to the form.`;
    return false;
  }
  editor = "form";
  form.replace(drafts);
  return true;
}

function chooseLanguage(name: string): boolean {
  language = name as CodeLanguage;
  byId("code-panel", HTMLElement).setAttribute("aria-labelledby", `tab-${name}`);
  writeCode(currentRequest());
  return true;
}

async function copy(): Promise<void> {
  const isCopied = await copyText(byId("code", HTMLElement));
  say(isCopied ? "Copied." : "The code is marked; copy it with the keyboard.");
}

function start(): void {
  createTabs(byId("editor-tabs", HTMLElement), chooseEditor);
  createTabs(byId("code-tabs", HTMLElement), chooseLanguage);
  for (const box of [stateBox, jsonBox]) box.addEventListener("input", changed);
  for (const id of ["state-text", "state-json", "model"]) byId(id, HTMLElement).addEventListener("change", changed);
  byId("add-question", HTMLElement).addEventListener("click", form.add);
  askButton.addEventListener("click", () => void ask());
  undoButton.addEventListener("click", undo);
  byId("copy", HTMLElement).addEventListener("click", () => void copy());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void ask();
  });
  const [first] = data.presets;
  if (first === undefined) form.add();
  else chips.choose(first);
  say("");
}

start();
