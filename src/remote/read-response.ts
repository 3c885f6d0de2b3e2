/** The answers of a response (CONTRACT 2): all that was asked, in the order asked, numbers as the server said them. */

import type { Answer, Answers } from "../decision/answer.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJson, valueAt } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import { QaError } from "../errors.js";

export interface RemoteAnswers {
  readonly model: string;
  readonly answers: Answers;
  readonly inputTokens: number;
}

/**
 * Reads a response; what it holds beyond the contract is left out.
 * @throws QaError `endpoint_answer_invalid`, with the path of what is wrong
 */
export function readResponse(text: string, questions: readonly Question[], host: string): RemoteAnswers {
  const expect = createExpect(host);
  const response = expect.object(parseOrFail(text, expect), "the response");
  const model = valueAt(response, "model");
  if (typeof model !== "string" || model === "") return expect.fail("model", "a name");
  const answers = expect.object(valueAt(response, "answers"), "answers");
  const usage = expect.object(valueAt(response, "usage"), "usage");
  return {
    model,
    answers: new Map(questions.map((question) => [question.id, readAnswer(question, answers, expect)])),
    inputTokens: expect.number(valueAt(usage, "input_tokens"), "usage.input_tokens", Number.MAX_SAFE_INTEGER),
  };
}

interface Expect {
  object(value: JsonValue | undefined, path: string): JsonObject;
  /** From 0 to `most`. */
  number(value: JsonValue | undefined, path: string, most: number): number;
  fail(path: string, expected: string): never;
}

function createExpect(host: string): Expect {
  const expect: Expect = {
    object: (value, path) => (isJsonObject(value) ? value : expect.fail(path, "an object")),
    number: (value, path, most) =>
      typeof value === "number" && value >= 0 && value <= most ? value : expect.fail(path, `a number up to ${most}`),
    fail(path, expected) {
      throw new QaError(
        "endpoint_answer_invalid",
        `${host} sent what is no answer: ${path} is not ${expected}; see whether it is a System One service`,
        { details: { host, path } },
      );
    },
  };
  return expect;
}

function parseOrFail(text: string, expect: Expect): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return expect.fail("the response", "JSON"); // the parser's own message would quote it
  }
}

function readAnswer(question: Question, answers: JsonObject, expect: Expect): Answer {
  const { id, type, options, legend } = question;
  const path = `answers.${id}`;
  const answer = expect.object(valueAt(answers, id), path);
  if (valueAt(answer, "type") !== type) return expect.fail(`${path}.type`, type);
  const numberAt = (key: string, most: number) => expect.number(valueAt(answer, key), `${path}.${key}`, most);
  switch (type) {
    case "noul":
      return { type, noul: numberAt("noul", 1) };
    case "choice": {
      const chosen = options.find(({ label }) => label === valueAt(answer, "choice"));
      if (chosen === undefined) return expect.fail(`${path}.choice`, "a label of the question");
      const probabilities = readProbabilities(question, answer, expect);
      return { type, choice: chosen.label, confidence: numberAt("confidence", 1), probabilities };
    }
    case "score":
      return {
        type,
        score: numberAt("score", options.length - 1),
        confidence: numberAt("confidence", 1),
        legend: new Map(legend.map((criterion, level) => [String(level), criterion])), // what was asked, not its echo
        probabilities: readProbabilities(question, answer, expect),
      };
    default:
      return type satisfies never;
  }
}

/** label -> probability, in the order of the criteria whatever the response's. */
function readProbabilities({ id, options }: Question, answer: JsonObject, expect: Expect): Map<string, number> {
  const path = `answers.${id}.probabilities`;
  const given = expect.object(valueAt(answer, "probabilities"), path);
  return new Map(options.map(({ label }) => [label, expect.number(valueAt(given, label), `${path}.${label}`, 1)]));
}
