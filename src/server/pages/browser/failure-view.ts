/** Puts every message of a failure where it belongs. */

import { byId, h } from "./dom.js";
import { type Failure, MEND } from "./failure.js";
import type { QuestionForm } from "./question-form.js";

/** The controls that issues of the whole are shown beside; each has an element of its id and `-error`. */
const CONTROLS = { state: "state", model: "model", questions: "questions-json" } as const;

/** Shows a failure and goes to the first field that has an issue; `undefined` takes all messages away. */
export function showFailure(failure: Failure | undefined, form: QuestionForm): void {
  const parts = failure === undefined ? [] : alertParts(failure, form);
  byId("alert", HTMLElement).replaceChildren(...parts);
  const texts = {
    state: failure?.state ?? "",
    model: failure?.model ?? "",
    questions: failure?.questions.join("\n") ?? "",
  };
  for (const [name, text] of Object.entries(texts)) {
    byId(`${name}-error`, HTMLElement).textContent = text;
    const control = byId(CONTROLS[name as keyof typeof CONTROLS], HTMLElement);
    if (text === "") control.removeAttribute("aria-invalid");
    else control.setAttribute("aria-invalid", "true");
  }
  form.showIssues(failure?.placed ?? []);
  if (failure !== undefined) goToFirst(failure, form);
}

function goToFirst({ state, model, placed, questions }: Failure, form: QuestionForm): void {
  const [first] = placed;
  const json = byId(CONTROLS.questions, HTMLElement);
  if (state !== "") byId(CONTROLS.state, HTMLElement).focus();
  else if (model !== "") byId(CONTROLS.model, HTMLElement).focus();
  else if (first !== undefined) form.focus(first.place);
  else if (questions.length > 0 && json.checkVisibility()) json.focus();
}

/** The message, and where there is something to mend a way to each field. */
function alertParts({ message, placed, questions, state, model }: Failure, form: QuestionForm): HTMLElement[] {
  const summary = h("p", {}, message);
  if (message !== MEND) return [summary];
  const links = placed.map(({ place, message: issue }) => {
    const id = form.drafts()[place.question]?.id || "no id";
    const link = h("button", { type: "button", class: "jump" }, `${id}: ${issue}`);
    link.addEventListener("click", () => form.focus(place));
    return link;
  });
  const others = [...questions, ...(state ? [`state: ${state}`] : []), ...(model ? [`model: ${model}`] : [])];
  const items = [...links, ...others].map((item) => h("li", {}, item));
  return items.length === 0 ? [summary] : [summary, h("ul", {}, ...items)];
}
