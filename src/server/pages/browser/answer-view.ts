/** Answers as bars: one card a question, its options in the order of the criteria. */

import { entriesOf, isJsonObject, type JsonValue, renderText, valueAt } from "../../../decision/json.js";
import { h, percentText } from "./dom.js";

/** A reply's answers as list items; what is no answer is left out. */
export function answerCards(response: JsonValue): HTMLElement[] {
  const answers = isJsonObject(response) ? valueAt(response, "answers") : undefined;
  if (!isJsonObject(answers)) return [];
  return entriesOf(answers).map(([id, answer]) => {
    const { verdict, note, bars } = readAnswer(answer);
    return h(
      "li",
      { class: "answer" },
      h("h3", {}, id),
      h("p", { class: "verdict" }, h("strong", {}, verdict), h("span", {}, note)),
      h(
        "ul",
        {
          class: "bars",
          ...(bars.length > 12 ? { tabindex: "0", "aria-label": `${bars.length} options of ${id}` } : {}),
        },
        ...drawBars(bars),
      ),
    );
  });
}

interface Bar {
  readonly label: string;
  readonly share: number;
}

interface ReadAnswer {
  readonly verdict: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

function readAnswer(answer: JsonValue): ReadAnswer {
  if (!isJsonObject(answer)) return { verdict: "", note: "", bars: [] };
  const number = (key: string) => Number(valueAt(answer, key) ?? 0);
  const sure = `confidence ${percentText(number("confidence"))}`;
  switch (valueAt(answer, "type")) {
    case "noul": {
      const yes = number("noul");
      return { verdict: yes >= 0.5 ? "Yes" : "No", note: "", bars: [{ label: "probability of yes", share: yes }] };
    }
    case "choice":
      return { verdict: String(valueAt(answer, "choice")), note: sure, bars: barsOf(answer) };
    default: {
      const bars = barsOf(answer);
      return { verdict: number("score").toFixed(2), note: `on a scale of 0 to ${bars.length - 1}, ${sure}`, bars };
    }
  }
}

function barsOf(answer: JsonValue): Bar[] {
  if (!isJsonObject(answer)) return [];
  const probabilities = valueAt(answer, "probabilities");
  const legend = valueAt(answer, "legend");
  if (!isJsonObject(probabilities)) return [];
  return entriesOf(probabilities).map(([label, share]) => {
    const meaning = isJsonObject(legend) ? (valueAt(legend, label) ?? null) : null;
    return { label: meaning === null ? label : `${label}: ${renderText(meaning)}`, share: Number(share) };
  });
}

function drawBars(bars: readonly Bar[]): HTMLElement[] {
  const top = Math.max(...bars.map(({ share }) => share));
  return bars.map(({ label, share }) => {
    const fill = h("span");
    fill.style.setProperty("width", `${share * 100}%`);
    return h(
      "li",
      { class: share === top ? "top" : undefined },
      h("span", { class: "bar-label" }, label),
      h("span", { class: "bar-value" }, percentText(share)),
      h("span", { class: "bar", "aria-hidden": "true" }, fill),
    );
  });
}
