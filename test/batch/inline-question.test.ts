import { describe, expect, it } from "vitest";
import { parseInlineQuestions } from "../../src/batch/inline-question.js";

function shapeOf(texts: readonly string[]) {
  return parseInlineQuestions(texts).map(({ id, type, instructions, options }) => ({
    id,
    type,
    instructions,
    labels: options.map(({ label, description }) => description ?? label),
  }));
}

describe("a question on the command line", () => {
  it.each([
    ["is yes or no without options", "Is it urgent?", "noul", "Is it urgent?", ["false", "true"]],
    [
      "is a choice with options parted by |",
      "Which team? :: billing | sales|other",
      "choice",
      "Which team?",
      ["billing", "sales", "other"],
    ],
    [
      "is a score with levels parted by <",
      "How urgent? :: can wait < today",
      "score",
      "How urgent?",
      ["can wait", "today"],
    ],
    ["keeps integer-like labels in place", "How many? :: 10 | 2 | 1", "choice", "How many?", ["10", "2", "1"]],
    ["keeps an equals sign that names no id", "Does 1+1 = 2 hold?", "noul", "Does 1+1 = 2 hold?", ["false", "true"]],
  ])("%s", (_, text, type, instructions, labels) => {
    expect(shapeOf([text])).toEqual([{ id: "q1", type, instructions, labels }]);
  });

  it("is named by what stands before =, else by its place", () => {
    expect(shapeOf(["urgent=Is it urgent?", "Is it rude?"]).map(({ id }) => id)).toEqual(["urgent", "q2"]);
  });

  it.each([
    ["without a text", ["team= :: a | b"], "needs a text"],
    ["with a single option", ["Which? :: billing"], "parted by | (choice) or"],
    ["with an id that another has", ["a=One?", "a=Two?"], "same id"],
  ])("%s is an error that says what to do", (_, texts, advice) => {
    expect(() => parseInlineQuestions(texts)).toThrow(advice);
  });
});
