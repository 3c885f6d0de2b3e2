/**
 * The questions as a form: a list of cards over drafts. Typing leaves the DOM alone; adding, removing, moving and changing a
 * type draw the list anew and bring the focus back to where it was.
 */

import { emptyText, newLabel, newQuestion, type Place, type PlacedIssue, type QuestionDraft } from "./draft.js";
import { type CardActions, controlId, questionCard } from "./question-card.js";
import { fillGauge, type Gauge } from "./room-view.js";

export interface QuestionForm {
  readonly drafts: () => readonly QuestionDraft[];
  /** Puts other questions into the form. */
  readonly replace: (drafts: QuestionDraft[]) => void;
  readonly add: () => void;
  /** Shows issues beside their fields, and takes away all earlier ones. */
  readonly showIssues: (issues: readonly PlacedIssue[]) => void;
  /** Shows the room of the questions whose ids are among the gauges; the others' is empty. */
  readonly showRoom: (gauges: readonly Gauge[]) => void;
  /** Opens the card of a place and goes to its field. */
  readonly focus: (place: Place) => void;
}

export interface FormEvents {
  readonly changed: () => void;
  /** A sentence for a screen reader. */
  readonly announce: (message: string) => void;
}

export function createQuestionForm(list: HTMLElement, { changed, announce }: FormEvents): QuestionForm {
  let drafts: QuestionDraft[] = [];
  let gauges: readonly Gauge[] = [];

  function draw(): void {
    const cards = drafts.map((draft, at) => questionCard({ draft, at, isLast: at === drafts.length - 1, actions }));
    list.replaceChildren(...cards);
  }
  function showRoom(next: readonly Gauge[]): void {
    gauges = next;
    drafts.forEach(({ id: own }, at) => {
      const gauge = gauges.find(({ id }) => id === own);
      fillGauge(`q${at}-room`, gauge);
    });
  }
  /** Draws anew after a change of structure, then focuses; the room of the moment stands until it is measured again. */
  function restructure(focusId: string, message: string): void {
    draw();
    showRoom(gauges);
    document.getElementById(focusId)?.focus();
    announce(message);
    changed();
  }
  function rowsOf(draft: QuestionDraft): unknown[] {
    return draft.type === "choice" ? draft.labels : draft.levels;
  }
  function countRows(draft: QuestionDraft): string {
    return `${rowsOf(draft).length} ${draft.type === "choice" ? "labels" : "levels"}`;
  }

  const actions: CardActions = {
    changed,
    move: (at, by) => {
      const [moved] = drafts.splice(at, 1);
      if (moved === undefined) return;
      drafts.splice(at + by, 0, moved);
      const isUp = at + by === drafts.length - 1 || (by < 0 && at + by > 0);
      restructure(
        `q${at + by}-${isUp ? "up" : "down"}`,
        `${moved.id} is now question ${at + by + 1} of ${drafts.length}`,
      );
    },
    remove: (at) => {
      const [removed] = drafts.splice(at, 1);
      const next = Math.min(at, drafts.length - 1);
      restructure(next < 0 ? "add-question" : `q${next}-fold`, `${removed?.id ?? ""} removed`);
    },
    retype: (at, type) => {
      const draft = drafts[at];
      if (draft === undefined) return;
      draft.type = type;
      restructure(`q${at}-type`, `${draft.id} is now a ${type}`);
    },
    addRow: (at) => {
      const draft = drafts[at];
      if (draft === undefined) return;
      rowsOf(draft).push(draft.type === "choice" ? newLabel() : emptyText());
      restructure(`q${at}-row${rowsOf(draft).length - 1}`, countRows(draft));
    },
    removeRow: (at, row) => {
      const draft = drafts[at];
      if (draft === undefined) return;
      rowsOf(draft).splice(row, 1);
      const next = Math.min(row, rowsOf(draft).length - 1);
      restructure(next < 0 ? `q${at}-add-row` : `q${at}-row${next}`, countRows(draft));
    },
  };

  function open({ question }: Place): void {
    const details = list.children[question]?.querySelector("details");
    if (details) details.open = true;
  }

  return {
    drafts: () => drafts,
    replace: (next) => {
      drafts = next;
      draw();
      changed();
    },
    add: () => {
      const draft = newQuestion(drafts);
      drafts.push(draft);
      restructure(`q${drafts.length - 1}-id`, `${draft.id} added as question ${drafts.length}`);
    },
    showIssues: (issues) => {
      for (const shown of list.querySelectorAll(".problem")) shown.textContent = "";
      for (const invalid of list.querySelectorAll("[aria-invalid]")) invalid.removeAttribute("aria-invalid");
      for (const { place, message } of issues) {
        open(place);
        const shown = document.getElementById(`${controlId(place)}-problem`);
        if (shown !== null) shown.textContent = [shown.textContent, message].filter(Boolean).join("; ");
        document.getElementById(controlId(place))?.setAttribute("aria-invalid", "true");
      }
    },
    showRoom,
    focus: (place) => {
      open(place);
      const target = document.getElementById(place.field === "question" ? `q${place.question}-id` : controlId(place));
      target?.focus({ preventScroll: true });
      target?.scrollIntoView({ block: "center" });
    },
  };
}
