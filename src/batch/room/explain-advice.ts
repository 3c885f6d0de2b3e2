/** Advice in words. */

import { countOf, countText } from "../progress/amounts.js";
import { cutText } from "../progress/text-width.js";
import type { Advice, Shortening } from "./room-advice.js";

const SHORTENINGS = 3;
const NAMES = 5;
const NAME_COLUMNS = 32;

/** One piece of advice as a sentence or a few. */
export function explainAdvice(advice: Advice): string {
  switch (advice.type) {
    case "shorten": {
      const [first, ...others] = advice.questions
        .slice(0, SHORTENINGS)
        .map((question) => explainShortening(question, advice.states));
      const more = advice.questions.length - SHORTENINGS;
      const rest = more > 0 ? `; and ${countText(more)} more questions` : "";
      return `For ${advice.checkpoint}, shorten ${[first, ...others].join("; ")}${rest}.`;
    }
    case "other_checkpoint": {
      const { states, unfit, measured, checkpoint } = advice;
      const which = unfit === 1 ? "The state that does not fit would fit" : `${shareOf(states, unfit)} would fit`;
      const all = measured === 1 ? "" : "; it then reads all of them";
      return `${which} the window of ${checkpoint}: pass --model ${checkpoint}${all}.`;
    }
    case "chunk": {
      const { states, unfit, chunks } = advice;
      const which = unfit === 1 ? "The state that does not fit can" : `${shareOf(states, unfit)} can`;
      return `${which} be answered in chunks, about ${countText(chunks)} or a few more: pass --long chunk to qa run or qa ask.`;
    }
    case "set_apart": {
      const { questions, fitting, checkpoint } = advice;
      const [own, them] = questions.length === 1 ? ["its", "it"] : ["their", "them"];
      const others = fitting === 1 ? "the other question leaves" : `the other ${countText(fitting)} leave`;
      return `Ask ${namesOf(questions)} in a questions file of ${own} own: ${others} enough room on ${checkpoint} and need not fail with ${them}.`;
    }
    case "split_calls": {
      const { checkpoint, questions, cost, cap, perCall } = advice;
      const over =
        cost > cap ? `${countText(cost)} processed tokens, over the cap of ${countText(cap)}` : "too many for one call";
      return `All ${questions} questions of the longest state on ${checkpoint} are ${over}. qa run and qa ask split them by themselves; over the API ask at most ${countOf(perCall, "question")} a call.`;
    }
    default:
      return advice satisfies never;
  }
}

function explainShortening({ question, tokens, removals, longest }: Shortening, states: number): string {
  const goals = removals.map(({ share, remove }) => `by ${countText(remove)} ${goalText(share, states)}`);
  const parts = longest
    .map(({ part, tokens: own }) => `${part === undefined ? "instructions" : `"${nameText(part)}"`} ${countText(own)}`)
    .join(", ");
  return `${nameText(question)} (${countText(tokens)} tokens) ${goals.join(", ")}; its longest parts: ${parts}`;
}

function goalText(share: number, states: number): string {
  if (states === 0) return "to leave any room";
  if (states === 1) return "for the state to fit";
  return share === 1 ? "for every state to fit" : `for ${share * 100} % of them`;
}

/** An id or a label inside a sentence. */
export function nameText(name: string): string {
  return cutText(name, NAME_COLUMNS);
}

function shareOf(states: number, unfit: number): string {
  return states === unfit
    ? `All ${countText(unfit)} states that do not fit`
    : `${countText(states)} of the ${countText(unfit)} states that do not fit`;
}

function namesOf(questions: readonly string[]): string {
  const more = questions.length - NAMES;
  return questions.slice(0, NAMES).map(nameText).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
