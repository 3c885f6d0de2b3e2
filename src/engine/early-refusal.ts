/**
 * Refuses by its start what is far too long: tokenising a mebibyte takes seconds, during which a service answers nobody. Texts
 * of everyday length are not touched. Numbers in the errors are then those of what was read: `at_least` so many.
 */

import type { Question } from "../decision/question.js";
import { headText, optionTexts } from "../decision/sequence.js";
import { QaError } from "../errors.js";
import type { Model } from "./model.js";
import { type Reading, roomsOf } from "./reading.js";

/** Characters that are tokenised in some 50 ms, and that fill any window several times over. */
const START_CHARACTERS = 16_384;
/** Tokens by which a text cut off within a word may differ from the same part of the whole. */
const CUT_SLACK_TOKENS = 64;

/** @throws QaError `question_too_long`, `processed_tokens_exceeded` */
export function assertQuestionsStartFit(
  questions: readonly Question[],
  { tokenizer, limits, checkpoint }: Model,
): void {
  const texts = questions.map((question) => [headText(question), ...optionTexts(question)]);
  if (texts.flat().reduce((sum, { length }) => sum + length, 0) <= START_CHARACTERS) return;
  let total = 0;
  for (const [i, { id }] of questions.entries()) {
    let tokens = 0;
    for (const text of texts[i] ?? []) {
      tokens += tokenizer.tokenize(text.slice(0, START_CHARACTERS)).length;
      if (tokens > limits.window + CUT_SLACK_TOKENS)
        throw new QaError(
          "question_too_long",
          `question "${id}" takes more than the ${limits.window} tokens of ${checkpoint.name} and leaves no room for a state; shorten its texts`,
          { details: { question: id, tokens, at_least: true, window: limits.window } },
        );
    }
    total += tokens;
    if (total > limits.cap + CUT_SLACK_TOKENS)
      throw new QaError(
        "processed_tokens_exceeded",
        `the questions alone cost more than the cap of ${limits.cap} processed tokens; ask fewer questions a call`,
        { details: { cost: total, at_least: true, cap: limits.cap, questions: questions.length } },
      );
  }
}

/** @throws QaError `state_too_long` */
export function assertStateStartFits(
  text: string,
  { request: { questions }, model, set }: Omit<Reading, "stateIds">,
): void {
  if (text.length <= START_CHARACTERS || set.room <= 0) return;
  const tokens = model.tokenizer.tokenize(text.slice(0, START_CHARACTERS)).length;
  if (tokens <= set.room + CUT_SLACK_TOKENS) return;
  throw new QaError(
    "state_too_long",
    `the state has more than ${tokens} tokens and the tightest question leaves room for ${set.room}; shorten the state, or ask of its parts`,
    { details: { state_tokens: tokens, at_least: true, questions: roomsOf(questions, set, tokens) } },
  );
}
