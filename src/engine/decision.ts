/** What the engine hands out: a decision about one request, and its form on the wire. */

import { type Answers, answersToJson } from "../decision/answer.js";
import type { ChunkSource } from "../decision/chunk.js";
import type { CombineRules } from "../decision/combine.js";
import type { JsonValue } from "../decision/json.js";
import type { Route } from "./router.js";

export interface Decision {
  /** The concrete checkpoint that answered, never an alias. */
  readonly model: string;
  readonly answers: Answers;
  readonly usage: { readonly inputTokens: number };
  readonly route: Route;
  /** Only where a long state was answered in chunks. */
  readonly chunked?: Chunked;
}

export interface Chunked {
  readonly combine: CombineRules;
  /** question id -> indexes of the chunks that its answer rests on. */
  readonly from: ReadonlyMap<string, readonly number[]>;
  readonly chunks: readonly ChunkDecision[];
}

export interface ChunkDecision extends ChunkSource {
  readonly stateTokens: number;
  readonly answers: Answers;
}

/** The wire's response: `model`, `answers`, `usage`, nothing else (CONTRACT 2). */
export function decisionToJson({
  model,
  answers,
  usage,
}: Pick<Decision, "model" | "answers" | "usage">): ReadonlyMap<string, JsonValue> {
  return new Map<string, JsonValue>([
    ["model", model],
    ["answers", answersToJson(answers)],
    ["usage", { input_tokens: usage.inputTokens, output_tokens: 0 }],
  ]);
}

/** How a chunked decision was combined, and from which chunks; with `explain`, what each chunk answered. */
export function chunkedToJson({ combine, from, chunks }: Chunked, { explain }: { explain: boolean }): JsonValue {
  const summary = { count: chunks.length, combine: { ...combine }, from: new Map<string, JsonValue>(from) };
  if (!explain) return summary;
  const each = chunks.map(({ path, from, to, stateTokens, answers }) => ({
    path,
    from,
    to,
    state_tokens: stateTokens,
    answers: answersToJson(answers),
  }));
  return { ...summary, chunks: each };
}
