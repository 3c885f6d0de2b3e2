/** Answers drawn for a person: every question with its answer, every option with its probability as a bar. */

import type { Answer, Answers } from "../decision/answer.js";
import { renderText } from "../decision/json.js";
import { drawBar } from "./progress/bar.js";

const BAR_WIDTH = 20;
const MAX_LABEL = 40;

/** Lines of text, at most some 90 columns wide. */
export function drawAnswers(answers: Answers): string {
  return [...answers].map(([id, answer]) => drawAnswer(id, answer).join("\n")).join("\n\n");
}

function drawAnswer(id: string, answer: Answer): string[] {
  switch (answer.type) {
    case "noul":
      return [`${id}: ${answer.noul >= 0.5 ? "yes" : "no"}`, ...drawOptions([["yes", answer.noul]])];
    case "choice":
      return [
        `${id}: ${answer.choice}  (confidence ${answer.confidence.toFixed(2)})`,
        ...drawOptions([...answer.probabilities]),
      ];
    case "score": {
      const named = [...answer.probabilities].map(([level, p]): [string, number] => {
        const criterion = answer.legend.get(level) ?? null;
        return [criterion === null ? level : `${level} ${renderText(criterion)}`, p];
      });
      const top = answer.probabilities.size - 1;
      const title = `${id}: ${answer.score.toFixed(2)} of ${top}  (confidence ${answer.confidence.toFixed(2)})`;
      return [title, ...drawOptions(named)];
    }
    default:
      return answer satisfies never;
  }
}

function drawOptions(options: readonly [string, number][]): string[] {
  const labels = options.map(([label]) => (label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label));
  const width = Math.max(...labels.map((label) => label.length));
  return options.map(([, p], i) => `  ${labels[i]?.padEnd(width)}  ${drawBar(p, BAR_WIDTH)} ${p.toFixed(4)}`);
}
