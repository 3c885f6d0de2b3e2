/** From a row to the request that the engine answers: its state, and the run's questions or its own. */

import { isDeeperThan } from "../../decision/json.js";
import type { Question } from "../../decision/question.js";
import { type ParsedRequest, parseRequest, tooDeep } from "../../decision/request.js";
import { QaError } from "../../errors.js";
import type { Row } from "./row.js";
import { requestOfRow, type StateSource, stateOfRow } from "./state-of-row.js";

export interface RowRequestOptions {
  readonly source: StateSource;
  /** The questions for rows that carry none of their own. */
  readonly questions: readonly Question[] | undefined;
  /** The model for rows that name none. */
  readonly model: string | undefined;
  readonly choiceNeedsInstructions: boolean;
}

/** The request of a row, or the error that the row gets. A row with `state` and `questions` is a request of its own. */
export function toRequest(row: Row, options: RowRequestOptions): ParsedRequest | QaError {
  const own = requestOfRow(row);
  if (own !== undefined) {
    const parsed = parseRequest(own, { choiceNeedsInstructions: options.choiceNeedsInstructions });
    if (parsed.type === "request") return { ...parsed.request, model: parsed.request.model ?? options.model };
    const issues = parsed.issues.map(({ path, message }) => ({ path, message }));
    const [first] = issues;
    const message = `the row's request is not valid: ${first?.path}: ${first?.message}${issues.length > 1 ? ", and more" : ""}`;
    return new QaError("invalid_request", message, { details: { issues } });
  }
  const state = stateOfRow(row, options.source);
  if (state instanceof QaError) return state;
  if (isDeeperThan(state)) return new QaError("invalid_request", `the row's state ${tooDeep("state").message}`);
  if (options.questions !== undefined) return { state, questions: options.questions, model: options.model };
  return new QaError("invalid_request", "the row has no questions of its own, and the run has none");
}
