import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answersToJson } from "../../src/decision/answer.js";
import { type JsonValue, parseJson, renderText, stringifyJson } from "../../src/decision/json.js";
import { type ParsedRequest, parseRequest } from "../../src/decision/request.js";
import { costOf } from "../../src/decision/room.js";
import { joinSequence } from "../../src/decision/sequence.js";
import type { Decision } from "../../src/engine/decision.js";
import type { Role } from "../../src/engine/deployment.js";
import { QaError } from "../../src/errors.js";
import { openEngine } from "../open-engine.js";

interface Golden {
  id: string;
  model: string;
  answers: Record<string, JsonValue>;
  usage: { input_tokens: number };
  cost: number;
  sequences: Record<string, { tokens: number; room: number; marker_pos: number[]; input_ids: number[] }>;
  request: ParsedRequest;
}

function load(name: string): Golden[] {
  const lines = readFileSync(new URL(`../goldens/${name}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const parsed = parseRequest((parseJson(line) as Record<string, JsonValue>).request);
    if (parsed.type !== "request") throw new Error(`golden does not parse: ${JSON.stringify(parsed.issues)}`);
    return { ...(JSON.parse(line) as Golden), request: parsed.request };
  });
}

/** Every number of an answer with its path. */
function numbersOf(value: JsonValue, path = ""): [string, number][] {
  if (typeof value === "number") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Record<string, JsonValue>).flatMap(([key, item]) => numbersOf(item, `${path}.${key}`));
}

/** `every`: of the slow checkpoint every other request is answered; tokens, room and cost of all are checked. */
const FILES: { file: string; deployment: string; role: Role; every: number }[] = [
  { file: "english", deployment: "a", role: "english", every: 2 },
  { file: "english-fast", deployment: "b", role: "english", every: 1 },
  { file: "multilingual", deployment: "a", role: "multilingual", every: 1 },
];
describe.each(FILES)("the golden file $file", async ({ file, deployment, role, every }) => {
  const goldens = load(file);
  const answered = goldens.filter((_, i) => i % every === 0);
  const engine = await openEngine({ deployment });
  afterAll(() => engine.close());
  const outcomes = new Map<string, Decision | QaError>();
  beforeAll(async () => {
    const items = answered.map(({ id, model, request }) => ({ id, request: { ...request, model } }));
    for await (const { item, outcome } of engine.decideAll(items, { limits: "split" })) outcomes.set(item.id, outcome);
  }, 300_000);

  it.each(goldens)(
    "$id: token ids, marker positions, room and cost match exactly",
    async ({ request, sequences, cost }) => {
      const model = await engine.model(role);
      const set = engine.questionSet(request.questions, model);
      const stateIds = model.tokenizer.tokenize(renderText(request.state));
      request.questions.forEach(({ id }, i) => {
        const segments = set.segments[i];
        if (segments === undefined) throw new Error("no segments");
        const { inputIds, markerPos } = joinSequence(segments, stateIds, model.tokenizer.special.sep);
        const golden = sequences[id];
        if (golden === undefined) throw new Error("no golden sequence");
        const { room, tokens } = golden;
        expect({ input_ids: inputIds, marker_pos: markerPos }).toEqual({
          input_ids: golden.input_ids,
          marker_pos: golden.marker_pos,
        });
        expect({ tokens: inputIds.length, room: set.rooms[i] }).toEqual({ tokens, room });
      });
      expect(costOf(set.prefixTokens, stateIds.length)).toBe(cost);
    },
  );

  it.each(answered)("$id: answers match to 1e-4", ({ id, answers, usage, model }) => {
    const decision = outcomes.get(id);
    if (decision === undefined) throw new Error("no outcome");
    if (Object.keys(answers).length === 0) return expect(decision).toMatchObject({ code: "state_too_long" });
    if (decision instanceof QaError) throw decision;
    expect(decision.model).toBe(model);
    expect(decision.usage.inputTokens).toBe(usage.input_tokens);
    const ours = JSON.parse(stringifyJson(answersToJson(decision.answers))) as Record<string, JsonValue>;
    expect(Object.keys(ours)).toEqual(Object.keys(answers));
    const golden = new Map(numbersOf(answers as JsonValue));
    for (const [path, value] of numbersOf(ours as JsonValue)) {
      // rounding to 4 decimals may move a value by one unit more
      expect(Math.abs(value - (golden.get(path) ?? Number.NaN)), path).toBeLessThanOrEqual(1.01e-4);
    }
    return expect([...golden.keys()].sort()).toEqual(
      numbersOf(ours as JsonValue)
        .map(([path]) => path)
        .sort(),
    );
  });
});
