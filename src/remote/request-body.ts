/** A request in the wire's form (CONTRACT 1). Texts are sent as they are read here, so that every server reads the same. */

import { type JsonValue, stringifyJson } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { State } from "../decision/request.js";

export interface WireCall {
  readonly model: string;
  readonly state: State;
  readonly questions: readonly Question[];
}

/** Compact JSON, keys in the order given. */
export function requestBody({ model, state, questions }: WireCall): string {
  const wired = new Map(questions.map((question): [string, JsonValue] => [question.id, wireQuestion(question)]));
  return stringifyJson({ model, state, questions: wired });
}

function wireQuestion(question: Question): JsonValue {
  const { type, instructions = null } = question;
  const criteria = wireCriteria(question);
  return criteria === undefined ? { type, instructions } : { type, instructions, criteria };
}

function wireCriteria({ type, options, legend }: Question): JsonValue | undefined {
  switch (type) {
    case "choice":
      return new Map(options.map(({ label, description = null }) => [label, description]));
    case "score":
      return legend;
    case "noul": {
      const given = options.flatMap(({ label, description }) =>
        description === undefined ? [] : [[label, description] as const],
      );
      return given.length === 0 ? undefined : new Map(given);
    }
    default:
      return type satisfies never;
  }
}
