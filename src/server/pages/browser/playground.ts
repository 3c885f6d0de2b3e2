/**
 * The playground: reads the form or the JSON, measures room while a person types, asks on request, and shows answers, code and
 * errors. What is wrong with a request is found by the very parser that the server uses, before anything is sent.
 */

import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../../decision/json.js";
import { parseRequest } from "../../../decision/request.js";
import type { PageData } from "../page-data.js";
import type { RoomReply } from "../room-reply.js";
import { answerCards } from "./answer-view.js";
import { callServer } from "./api.js";
import { type CodeLanguage, callCode } from "./call-code.js";
import { copyText } from "./copy-text.js";
import { byId, countText, debounce, h } from "./dom.js";
import { draftsOf, type QuestionDraft, questionsOf } from "./draft.js";
import { type Failure, failureOf, failureOfIssues, MEND, type PathIssue } from "./failure.js";
import { createKeyBox } from "./key-box.js";
import { prettyJson } from "./pretty-json.js";
import { createQuestionForm } from "./question-form.js";
import { gaugesOf, showCall } from "./room-view.js";
import { createTabs } from "./tabs.js";

const MEASURE_PAUSE_MS = 300;

const data = JSON.parse(byId("page-data", HTMLScriptElement).textContent ?? "{}") as PageData;
const page = {
  state: byId("state", HTMLTextAreaElement),
  stateError: byId("state-error", HTMLElement),
  json: byId("questions-json", HTMLTextAreaElement),
  questionsError: byId("questions-error", HTMLElement),
  model: byId("model", HTMLSelectElement),
  modelError: byId("model-error", HTMLElement),
  ask: byId("ask", HTMLButtonElement),
  undo: byId("undo", HTMLButtonElement),
  status: byId("status", HTMLElement),
  alert: byId("alert", HTMLElement),
  answers: byId("answers", HTMLElement),
  raw: byId("raw", HTMLElement),
  code: byId("code", HTMLElement),
  samples: byId("samples", HTMLElement),
};

const key = createKeyBox(() => measureSoon());
const form = createQuestionForm(byId("questions", HTMLElement), { changed, announce: say });
let editor: "form" | "json" = "form";
let language: CodeLanguage = "curl";
let areAnswersFresh = false;
let replaced: JsonValue | undefined;
let untouchedState = "";
let measuring: AbortController | undefined;
let asking: AbortController | undefined;

/** The drafts that issues may be shown beside: none while the JSON is edited. */
function shownDrafts(): readonly QuestionDraft[] {
  return editor === "form" ? form.drafts() : [];
}

function say(message: string): void {
  page.status.textContent = message;
}

/** The request as the page holds it now, and what is wrong with it. */
function currentRequest(): { body: Map<string, JsonValue>; failure: Failure | undefined } {
  const state = readState();
  const questions = readQuestions();
  const body = new Map<string, JsonValue>();
  if (page.model.value !== "") body.set("model", page.model.value);
  body.set("state", state.value);
  body.set("questions", questions.value);
  const parsed = parseRequest(body, { choiceNeedsInstructions: data.choiceNeedsInstructions });
  const issues: PathIssue[] = parsed.type === "issues" ? [...parsed.issues] : [];
  const own = [...state.faults, ...questions.faults];
  const isWhole = issues.length === 0 && own.length === 0 && questions.placed.length === 0;
  if (isWhole) return { body, failure: undefined };
  const unreadable = new Set(own.map(({ path }) => path));
  const failure = failureOfIssues([...own, ...issues.filter(({ path }) => !unreadable.has(path))], shownDrafts());
  return { body, failure: { ...failure, placed: [...questions.placed, ...failure.placed] } };
}

function readState(): { value: JsonValue; faults: PathIssue[] } {
  const text = page.state.value;
  if (!byId("state-json", HTMLInputElement).checked) return { value: text, faults: [] };
  try {
    return { value: parseJson(text), faults: [] };
  } catch {
    return { value: null, faults: [{ path: "state", message: "is not JSON; mend it, or have it read as text" }] };
  }
}

function readQuestions(): { value: JsonValue; faults: PathIssue[]; placed: ReturnType<typeof questionsOf>["issues"] } {
  if (editor === "form") {
    const { questions, issues } = questionsOf(form.drafts());
    return { value: questions, faults: [], placed: issues };
  }
  try {
    return { value: parseJson(page.json.value), faults: [], placed: [] };
  } catch {
    return { value: null, faults: [{ path: "questions", message: "are not JSON yet" }], placed: [] };
  }
}

function changed(): void {
  measureSoon();
  writeCode();
  if (areAnswersFresh) say("Changed since these answers; ask again.");
  areAnswersFresh = false;
  const { value } = readQuestions();
  const count = isJsonObject(value) ? (value instanceof Map ? value.size : Object.keys(value).length) : 0;
  page.ask.textContent = asking ? "Asking…" : count === 1 ? "Ask 1 question" : `Ask ${count} questions`;
}

function measureSoon(): void {
  measureAfterPause();
}
const measureAfterPause = debounce(MEASURE_PAUSE_MS, () => void measure());

/** Shows the room of what stands in the form now; what cannot be measured yet shows nothing. */
async function measure(): Promise<void> {
  measuring?.abort();
  measuring = new AbortController();
  const { body, failure } = currentRequest();
  if (failure !== undefined || key.isMissing()) return showRoom(undefined);
  const reply = await callServer({
    path: "/app/room",
    key: key.key(),
    body: stringifyJson(body),
    signal: measuring.signal,
  });
  if (reply.type === "aborted") return;
  showRoom(reply.type === "ok" ? (reply.body as unknown as RoomReply) : undefined);
}

function showRoom(reply: RoomReply | undefined): void {
  const gauges = reply === undefined ? [] : gaugesOf(reply);
  if (editor === "form") form.showRoom(gauges);
  showCall(reply, key.isMissing() ? "shown once the key is there" : "\u00a0");
}

async function ask(): Promise<void> {
  if (asking !== undefined) return;
  const { body, failure } = currentRequest();
  showFailure(failure);
  if (failure !== undefined) return;
  if (key.isMissing()) return key.reject("a key is needed to ask; paste one here");
  asking = new AbortController();
  page.ask.setAttribute("aria-disabled", "true");
  changed();
  say("Asking…");
  const reply = await callServer({
    path: "/v1/systemone",
    key: key.key(),
    body: stringifyJson(body),
    signal: asking.signal,
  });
  asking = undefined;
  page.ask.removeAttribute("aria-disabled");
  changed();
  if (reply.type === "error") return showFailure(failureOf(reply.error, shownDrafts()));
  if (reply.type === "ok") showAnswers(reply.body, reply.elapsedMs);
}

function showAnswers(response: JsonValue, elapsedMs: number): void {
  const cards = answerCards(response);
  page.answers.replaceChildren(...cards);
  page.raw.textContent = prettyJson(response);
  byId("raw-box", HTMLElement).hidden = false;
  byId("no-answers", HTMLElement).hidden = true;
  const { model, usage } = response as unknown as { model?: string; usage?: { input_tokens?: number } };
  areAnswersFresh = true;
  const answers = cards.length === 1 ? "1 answer" : `${cards.length} answers`;
  say(`${answers} by ${model} in ${Math.round(elapsedMs)} ms, ${countText(usage?.input_tokens ?? 0)} tokens read.`);
}

/** Puts every message where it belongs and goes to the first; `undefined` takes all away. */
function showFailure(failure: Failure | undefined): void {
  const put = (target: HTMLElement, text: string, control?: HTMLElement) => {
    target.textContent = text;
    if (text === "") control?.removeAttribute("aria-invalid");
    else control?.setAttribute("aria-invalid", "true");
  };
  page.alert.replaceChildren(...(failure === undefined ? [] : alertParts(failure)));
  put(page.stateError, failure?.state ?? "", page.state);
  put(page.modelError, failure?.model ?? "", page.model);
  put(page.questionsError, failure?.questions.join("\n") ?? "", page.json);
  form.showIssues(failure?.placed ?? []);
  if (failure === undefined) return;
  say("");
  const [first] = failure.placed;
  if (failure.key) key.reject(failure.message);
  else if (failure.state !== "") page.state.focus();
  else if (failure.model !== "") page.model.focus();
  else if (first !== undefined) form.focus(first.place);
  else if (failure.questions.length > 0 && editor === "json") page.json.focus();
}

/** The message, and under it a way to every field that has an issue. */
function alertParts({ message, placed, questions, state, model }: Failure): HTMLElement[] {
  const links = placed.map(({ place, message: issue }) => {
    const button = h(
      "button",
      { type: "button", class: "jump" },
      `${form.drafts()[place.question]?.id || "no id"}: ${issue}`,
    );
    button.addEventListener("click", () => form.focus(place));
    return button;
  });
  const isListed = message === MEND;
  const rest = isListed
    ? [...questions, ...(state ? [`state ${state}`] : []), ...(model ? [`model ${model}`] : [])]
    : [];
  const items = [...(isListed ? links : []), ...rest].map((item) => h("li", {}, item));
  return [h("p", {}, message), ...(items.length === 0 ? [] : [h("ul", {}, ...items)])];
}

function writeCode(): void {
  const { body } = currentRequest();
  page.code.textContent = callCode(language, {
    origin: location.origin,
    model: page.model.value || undefined,
    state: body.get("state") ?? "",
    questions: body.get("questions") ?? {},
    keyRequired: data.keyRequired,
  });
}

/** Puts questions into whichever editor is shown. */
function putQuestions(questions: JsonValue): void {
  showFailure(undefined);
  page.json.value = prettyJson(questions);
  const drafts = draftsOf(questions);
  if (drafts === undefined) return;
  const [first] = drafts;
  if (first) first.isOpen = true;
  form.replace(drafts);
}

function choosePreset(name: string): void {
  const preset = data.presets.find((known) => known.name === name);
  if (preset === undefined) return;
  const before = readQuestions().value;
  replaced = isJsonObject(before) && stringifyJson(before) !== "{}" ? before : undefined;
  page.undo.disabled = replaced === undefined;
  putQuestions(parseJson(preset.questions));
  showSamples(preset);
  const [sample] = preset.samples;
  if (sample !== undefined && page.state.value === untouchedState) putSample(sample);
  byId("preset-about", HTMLElement).textContent = `${preset.title}: ${preset.about}`;
  say(`Questions of the preset ${preset.title} are in the form.`);
}

function showSamples({ samples }: PageData["presets"][number]): void {
  const buttons = samples.map((sample) => {
    const button = h("button", { type: "button", class: "chip" }, sample.title);
    button.addEventListener("click", () => putSample(sample));
    return h("li", {}, button);
  });
  page.samples.replaceChildren(...buttons);
}

function putSample({ text, isJson }: PageData["presets"][number]["samples"][number]): void {
  page.state.value = text;
  untouchedState = text;
  byId(isJson ? "state-json" : "state-text", HTMLInputElement).checked = true;
  changed();
}

/** Changes between form and JSON; JSON that the form cannot hold stays JSON. */
function chooseEditor(name: string): boolean {
  if (name === editor) return true;
  const { value, faults } = readQuestions();
  if (name === "json") {
    page.json.value = prettyJson(value);
    editor = "json";
    return true;
  }
  const drafts = faults.length > 0 ? undefined : draftsOf(value);
  if (drafts === undefined) {
    const why = faults.length > 0 ? "This is not JSON yet" : "The form cannot hold all of this";
    page.questionsError.textContent = `${why}; mend it to go back to the form.`;
    return false;
  }
  page.questionsError.textContent = "";
  editor = "form";
  form.replace(drafts);
  return true;
}

function start(): void {
  createTabs(byId("editor-tabs", HTMLElement), chooseEditor);
  createTabs(byId("code-tabs", HTMLElement), (name) => {
    language = name as CodeLanguage;
    byId("code-panel", HTMLElement).setAttribute("aria-labelledby", `tab-${name}`);
    writeCode();
    return true;
  });
  for (const box of [page.state, page.json]) box.addEventListener("input", changed);
  for (const id of ["state-text", "state-json", "model"]) byId(id, HTMLElement).addEventListener("change", changed);
  for (const chip of document.querySelectorAll<HTMLElement>("[data-preset]"))
    chip.addEventListener("click", () => choosePreset(chip.dataset.preset ?? ""));
  byId("add-question", HTMLButtonElement).addEventListener("click", form.add);
  page.ask.addEventListener("click", () => void ask());
  page.undo.addEventListener("click", () => {
    if (replaced !== undefined) putQuestions(replaced);
    replaced = undefined;
    page.undo.disabled = true;
    say("Your questions are back.");
  });
  byId("copy", HTMLButtonElement).addEventListener("click", () => {
    void copyText(page.code).then((isCopied) =>
      say(isCopied ? "Copied." : "The text is marked; copy it with the keyboard."),
    );
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void ask();
  });
  choosePreset(data.presets[0]?.name ?? "");
  say("");
}

start();
