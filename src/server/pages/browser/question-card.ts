/** One question of the form: a card that folds, drawn from its draft. Typing changes the draft in place; all else is an action. */

import { h } from "./dom.js";
import { maxRows, type Place, type QuestionDraft, type TextDraft } from "./draft.js";
import { roomGauge } from "./room-view.js";

export interface CardActions {
  /** A text was typed into. */
  readonly changed: () => void;
  readonly move: (at: number, by: -1 | 1) => void;
  readonly remove: (at: number) => void;
  readonly retype: (at: number, type: QuestionDraft["type"]) => void;
  readonly addRow: (at: number) => void;
  readonly removeRow: (at: number, row: number) => void;
}

interface Card {
  readonly draft: QuestionDraft;
  /** Place in the list. */
  readonly at: number;
  readonly isLast: boolean;
  readonly actions: CardActions;
}

const TYPE_NAMES: readonly (readonly [QuestionDraft["type"], string])[] = [
  ["noul", "yes or no"],
  ["choice", "choice"],
  ["score", "score"],
];

/** Id of the control that a place means; its error stands in the element of that id and `-problem`. */
export function controlId({ question, field, row }: Place): string {
  return field === "criteria" && row !== undefined ? `q${question}-row${row}` : `q${question}-${field}`;
}

export function questionCard(card: Card): HTMLElement {
  const { draft, at } = card;
  const title = h("span", { class: "fold-id" });
  const showTitle = () => {
    title.textContent = draft.id || "no id";
  };
  showTitle();
  const fold = h(
    "summary",
    { id: `q${at}-fold` },
    h("span", { class: "fold-title" }, title, h("span", { class: "tag" }, summaryOf(draft))),
    roomGauge(`q${at}-room`),
  );
  const details = h("details", { class: "question", open: draft.isOpen }, fold, body(card, showTitle));
  details.addEventListener("toggle", () => {
    draft.isOpen = details.open;
  });
  return h("li", {}, details);
}

function summaryOf({ type, labels, levels }: QuestionDraft): string {
  if (type === "noul") return "yes or no";
  return type === "choice" ? `choice of ${labels.length}` : `score 0\u2013${levels.length - 1}`;
}

function body(card: Card, showTitle: () => void): HTMLElement {
  const { draft, at } = card;
  const instructions = textBox(card, draft.instructions, { id: `q${at}-instructions`, rows: "2" });
  const name = draft.instructions.isJson ? "Instructions, as JSON" : "Instructions";
  return h(
    "div",
    { class: "question-body", role: "group", "aria-label": `Question ${at + 1}` },
    problem(`q${at}-question`),
    h("div", { class: "pair" }, field("Id", idBox(card, showTitle)), field("Type", typeBox(card))),
    field(name, instructions),
    criteria(card),
    cardButtons(card),
  );
}

function idBox({ draft, at, actions }: Card, showTitle: () => void): HTMLInputElement {
  const id = `q${at}-id`;
  const box = h("input", { id, value: draft.id, autocomplete: "off", spellcheck: "false", ...described(id) });
  box.addEventListener("input", () => {
    draft.id = box.value;
    showTitle();
    actions.changed();
  });
  return box;
}

function typeBox({ draft, at, actions }: Card): HTMLSelectElement {
  const options = TYPE_NAMES.map(([type, name]) => h("option", { value: type, selected: type === draft.type }, name));
  const box = h("select", { id: `q${at}-type`, ...described(`q${at}-type`) }, ...options);
  box.addEventListener("change", () => {
    const [type] = TYPE_NAMES[box.selectedIndex] ?? [draft.type];
    actions.retype(at, type);
  });
  return box;
}

const CRITERIA_NAMES = {
  choice: "Labels and what they mean",
  score: "Levels, lowest first",
  noul: "What yes and no mean (optional)",
} as const;

function criteria(card: Card): HTMLElement {
  const { draft, at, actions } = card;
  const { type } = draft;
  const rows = criteriaRows(card);
  const add = button(type === "choice" ? "Add a label" : "Add a level", { id: `q${at}-add-row` }, () =>
    actions.addRow(at),
  );
  add.disabled = rows.length >= maxRows(type);
  return h(
    "fieldset",
    { id: `q${at}-criteria`, tabindex: "-1" },
    h("legend", {}, CRITERIA_NAMES[type]),
    problem(`q${at}-criteria`),
    h("ol", { class: `criteria ${type}` }, ...rows),
    ...(type === "noul" ? [] : [add]),
  );
}

function criteriaRows(card: Card): HTMLElement[] {
  const { draft } = card;
  switch (draft.type) {
    case "choice":
      return draft.labels.map((_, row) => labelRow(card, row));
    case "score":
      return draft.levels.map((level, row) => textRow(card, level, { row, name: `Level ${row}`, mark: String(row) }));
    case "noul":
      return [
        textRow(card, draft.noul.true, { row: 0, name: "What yes means", mark: "Yes" }),
        textRow(card, draft.noul.false, { row: 1, name: "What no means", mark: "No" }),
      ];
    default:
      return draft.type satisfies never;
  }
}

function labelRow(card: Card, row: number): HTMLElement {
  const { draft, at, actions } = card;
  const option = draft.labels[row];
  if (option === undefined) throw new Error("a label has no draft; this is a bug in qa");
  const id = `q${at}-row${row}`;
  const names = { "aria-label": `Label ${row + 1}`, placeholder: "label" };
  const box = h("input", { id, value: option.label, autocomplete: "off", ...names, ...described(id) });
  box.addEventListener("input", () => {
    option.label = box.value;
    actions.changed();
  });
  const about = textBox(card, option.description, {
    id: `q${at}-about${row}`,
    rows: "2",
    placeholder: "what it means (optional)",
    "aria-label": `What label ${row + 1} means`,
  });
  return h("li", {}, box, about, removeButton(card, row, `Remove label ${row + 1}`), problem(id));
}

function textRow(
  card: Card,
  text: TextDraft,
  { row, name, mark }: { row: number; name: string; mark: string },
): HTMLElement {
  const id = `q${card.at}-row${row}`;
  const box = textBox(card, text, { id, rows: "2", "aria-label": name });
  const canGo = card.draft.type === "score";
  const level = h("span", { class: "level", "aria-hidden": "true" }, mark);
  return h("li", {}, level, box, ...(canGo ? [removeButton(card, row, `Remove level ${row}`)] : []), problem(id));
}

function removeButton({ at, actions }: Card, row: number, name: string): HTMLButtonElement {
  return button("\u00d7", { class: "quiet cross", "aria-label": name, title: name }, () => actions.removeRow(at, row));
}

function cardButtons({ at, isLast, actions }: Card): HTMLElement {
  return h(
    "div",
    { class: "row-buttons" },
    button("Move up", { id: `q${at}-up`, disabled: at === 0 }, () => actions.move(at, -1)),
    button("Move down", { id: `q${at}-down`, disabled: isLast }, () => actions.move(at, 1)),
    button("Remove question", { id: `q${at}-remove`, class: "quiet last" }, () => actions.remove(at)),
  );
}

function textBox(
  { actions }: Card,
  text: TextDraft,
  attributes: { id: string } & Record<string, string>,
): HTMLTextAreaElement {
  const box = h("textarea", { ...attributes, ...described(attributes.id) });
  box.value = text.text;
  box.addEventListener("input", () => {
    text.text = box.value;
    actions.changed();
  });
  return box;
}

function field(name: string, control: HTMLElement): HTMLElement {
  return h("div", { class: "field" }, h("label", { for: control.id }, name), control, problem(control.id));
}

/** The line of a field's error, which a screen reader reads with the field. */
function problem(id: string): HTMLElement {
  return h("p", { class: "problem", id: `${id}-problem` });
}

function described(id: string): { "aria-describedby": string } {
  return { "aria-describedby": `${id.replace("about", "row")}-problem` };
}

function button(text: string, attributes: Record<string, string | boolean>, act: () => void): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
}
