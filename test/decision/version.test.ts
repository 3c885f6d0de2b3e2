import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answerOf, answersToJson } from "../../src/decision/answer.js";
import { softmax, temperatureOf } from "../../src/decision/calibration.js";
import { chunkState } from "../../src/decision/chunk.js";
import { combineAnswers, DEFAULT_COMBINE_RULES } from "../../src/decision/combine.js";
import { type JsonValue, parseJson, renderText, stringifyJson } from "../../src/decision/json.js";
import { type ParsedRequest, parseRequest, type State } from "../../src/decision/request.js";
import { questionSegments } from "../../src/decision/sequence.js";
import { DECISION_VERSION } from "../../src/decision/version.js";

/** What version 1 makes of the requests below. Where this no longer holds, count `DECISION_VERSION` up and pin anew. */
const PINNED = { version: 1, digest: "cb98bcad24c31ea7" };

const SPECIAL = { cls: 1, sep: 2, mask: 3, pad: 0 };
const CALIBRATION = { temperature: { noul: 1.1, choice: 0.9, score: 1.3 }, temperatureByOptions: {} };

function requests(): ParsedRequest[] {
  const lines = readFileSync(new URL("../goldens/english.jsonl", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const parsed = parseRequest((parseJson(line) as Record<string, JsonValue>).request);
    if (parsed.type !== "request") throw new Error("a golden does not parse");
    return parsed.request;
  });
}

/** A code unit a token, so that every change of a text shows. */
const tokenize = (text: string) => [...text].map((_, i) => text.charCodeAt(i) + 10);

/** All that is made of a request but for the graphs: sequences, chunks, calibrated and combined answers. */
function madeOf({ state, questions }: ParsedRequest): JsonValue {
  const fits = (part: State) => renderText(part).length <= 300;
  const chunked = chunkState(state, { fits, overlap: 1 });
  const answers = questions.map((question) => {
    const { id, type, options } = question;
    const perChunk = [3, 5].map((step) => {
      const logits = options.map((_, o) => ((o * step + id.length) % 7) / 2);
      return softmax(logits, temperatureOf(CALIBRATION, type, options.length));
    });
    const { probabilities } = combineAnswers(question, perChunk, DEFAULT_COMBINE_RULES[type]);
    return [id, answerOf(question, probabilities)] as const;
  });
  const plain: unknown = {
    text: renderText(state),
    segments: questions.map((question) => questionSegments(question, tokenize, { special: SPECIAL })),
    chunks: chunked,
    answers: stringifyJson(answersToJson(new Map(answers))),
  };
  return JSON.parse(JSON.stringify(plain, (_key, value) => (value instanceof Map ? [...value] : value)));
}

describe("DECISION_VERSION", () => {
  it("is counted up with whatever changes how requests become answers", () => {
    const digest = createHash("sha256");
    for (const request of requests()) digest.update(JSON.stringify(madeOf(request)));
    expect({ version: DECISION_VERSION, digest: digest.digest("hex").slice(0, 16) }).toEqual(PINNED);
  });
});
