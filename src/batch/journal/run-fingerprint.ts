/** What decides the bytes of a run's output, but for its input: two runs of one fingerprint write the same rows. Pure. */

import { createHash } from "node:crypto";
import { type JsonValue, stringifyJson } from "../../decision/json.js";
import type { Question } from "../../decision/question.js";
import { DECISION_VERSION } from "../../decision/version.js";
import type { ChunkOptions } from "../../engine/chunked-reading.js";
import type { RequestSource } from "../read/read-requests.js";
import type { OutputOptions } from "../write/output-format.js";
import type { RunFiles } from "../write/run-sink.js";
import { HASH_MARK } from "./changes.js";
import type { Fingerprint } from "./sidecar.js";

export interface RunIdentity extends Pick<RequestSource, "questions" | "model" | "read" | "state" | "sample"> {
  /** Who answers, and whatever of it decides the answers; see `Answerer`. */
  readonly answeredBy: { readonly [key: string]: JsonValue };
  readonly chunk?: ChunkOptions | undefined;
  readonly output: OutputOptions;
  readonly files: RunFiles;
  /** What stands before the first row of the output: the columns of a CSV. */
  readonly head: string;
}

/** The fingerprint of a run. How many rows it takes, and where it runs, are no part of it. */
export function fingerprintOf(run: RunIdentity): Fingerprint {
  const { questions, model, read, state, sample, chunk, output, files, head } = run;
  return plain({
    decision_version: DECISION_VERSION,
    answered_by: run.answeredBy,
    questions: questions === undefined ? null : Object.fromEntries(questions.map((each) => [each.id, hashOf(each)])),
    order_of_questions: questions === undefined ? null : hashText(questions.map(({ id }) => id).join("\n")),
    model: model ?? null,
    state: { ...state },
    read: { from: read.from ?? null, delimiter: read.delimiter ?? null },
    sample: sample === undefined ? null : { ...sample },
    long: chunk === undefined ? "reject" : { overlap: chunk.overlap, combine: { ...chunk.combine } },
    output: { ...output },
    columns: head === "" ? null : hashText(head),
    rejects: files.rejects ?? null,
    review: files.review ?? null,
  }) as Fingerprint;
}

function hashOf(question: Question): string {
  return hashText(stringifyJson(plain(question)));
}

function hashText(text: string): string {
  return HASH_MARK + createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** As JSON has it: fields without a value go, maps become lists of entries, so that their order counts. */
function plain(value: unknown): JsonValue {
  const text = JSON.stringify(value, (_key, item: unknown) => (item instanceof Map ? [...item] : item));
  return JSON.parse(text) as JsonValue;
}
