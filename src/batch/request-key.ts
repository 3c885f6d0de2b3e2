/** What tells requests that get the same answer from all others, as a short key. */

import { hash } from "node:crypto";
import { type JsonValue, stringifyJson } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { ParsedRequest } from "../decision/request.js";
import type { ChunkOptions } from "../engine/chunked-reading.js";

export type RequestKey = (request: ParsedRequest, chunk: ChunkOptions | undefined) => string;

/**
 * Keys of requests: 128 bits of the SHA-256 of who answers, the questions, the model's name, the chunk options and the state
 * (strings and JSON apart, keys in order).
 * @param identity who answers; keys of different identities never meet
 */
export function createRequestKey(identity: string): RequestKey {
  /** The rows of a file share one array of questions, and one object of options. */
  const questionKeys = new WeakMap<readonly Question[], string>();
  const chunkTexts = new WeakMap<ChunkOptions, string>();

  function keyOfQuestions(questions: readonly Question[]): string {
    const known = questionKeys.get(questions);
    if (known !== undefined) return known;
    const key = digest(`${JSON.stringify(identity)}\n${stringifyJson(questions.map(questionToJson))}`);
    questionKeys.set(questions, key);
    return key;
  }

  function textOfChunk(chunk: ChunkOptions | undefined): string {
    if (chunk === undefined) return "";
    const text = chunkTexts.get(chunk) ?? JSON.stringify(chunk);
    chunkTexts.set(chunk, text);
    return text;
  }

  return ({ state, questions, model }, chunk) =>
    digest(
      `${keyOfQuestions(questions)}\n${JSON.stringify(model ?? null)}\n${textOfChunk(chunk)}\n${stringifyJson(state)}`,
    );
}

function questionToJson({ id, type, instructions, options, legend }: Question): JsonValue {
  const labels = options.map(({ label, description }) => [label, description ?? null]);
  return [id, type, instructions ?? null, labels, legend];
}

function digest(text: string): string {
  // of the bytes, since a slice of the digest's text would keep the whole of it alive
  return hash("sha256", text, "buffer").toString("base64url", 0, 16);
}
