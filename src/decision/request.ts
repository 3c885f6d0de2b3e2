/** A request: one state, the questions asked of it, and the name of the model that shall answer (CONTRACT 1). */

import { isDeeperThan, isJsonObject, type JsonValue, MAX_DEPTH, valueAt } from "./json.js";
import { type Issue, kindOf, parseQuestions, type Question, type QuestionRules } from "./question.js";

export type State = Exclude<JsonValue, null | boolean | number>;

export interface ParsedRequest {
  /** A name of `GET /v1/models`; absent means the deployment's default. */
  readonly model: string | undefined;
  readonly state: State;
  readonly questions: readonly Question[];
}

export type RequestParse =
  | { readonly type: "request"; readonly request: ParsedRequest }
  | { readonly type: "issues"; readonly issues: readonly Issue[] };

/** Parses the wire's request and collects every issue; keys that the contract does not name are ignored. */
export function parseRequest(value: unknown, rules?: QuestionRules): RequestParse {
  if (!isJsonObject(value)) {
    const message = `must be an object with state and questions, not ${kindOf(value)}`;
    return { type: "issues", issues: [{ path: "", message }] };
  }
  if (isDeeperThan(value)) return { type: "issues", issues: [tooDeep("")] };
  const { questions, issues } = parseQuestions(valueAt(value, "questions"), rules);
  const state = valueAt(value, "state");
  const model = valueAt(value, "model") ?? undefined;
  const own: Issue[] = [];
  if (model !== undefined && typeof model !== "string")
    own.push({ path: "model", message: `must be a string, not ${kindOf(model)}` });
  if (!isState(state))
    own.push({ path: "state", message: `must be a string, an object or an array, not ${kindOf(state)}` });
  if (own.length > 0 || issues.length > 0) return { type: "issues", issues: [...own, ...issues] };
  return { type: "request", request: { model: model as string | undefined, state: state as State, questions } };
}

/** The issue of a value that is nested too deep to be read. */
export function tooDeep(path: string): Issue {
  return { path, message: `is nested more than ${MAX_DEPTH} levels deep` };
}

/** Whether a value may be a state: a string, an object or an array. */
export function isState(value: unknown): value is State {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

/** The string values of a state, keys left out, in order: what routing reads. */
export function stateStrings(state: JsonValue): string[] {
  if (typeof state === "string") return [state];
  if (Array.isArray(state)) return state.flatMap(stateStrings);
  if (!isJsonObject(state)) return [];
  return (state instanceof Map ? [...state.values()] : Object.values(state)).flatMap(stateStrings);
}
