import { describe, expect, it } from "vitest";
import { type AnswerStore, answerOnce } from "../../src/batch/answer-once.js";
import type { Answered, Answerer } from "../../src/batch/answerer.js";
import { parseQuestions } from "../../src/decision/question.js";
import type { ParsedRequest, State } from "../../src/decision/request.js";
import { QaError } from "../../src/errors.js";

const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });
const CHUNK = { overlap: 1, combine: { noul: "max", choice: "confidence", score: "confidence" } } as const;

function requestOf(state: State, more: Partial<ParsedRequest> = {}): ParsedRequest {
  return { state, questions, model: undefined, ...more };
}

interface Asked extends Answerer {
  readonly asked: State[];
  /** What the next calls fail with; `undefined` for those that do not. */
  readonly failures: unknown[];
}

/** Answers each call with its own number, so that it shows who got whose answer. */
function createAsked(): Asked {
  const asked: State[] = [];
  const failures: unknown[] = [];
  return {
    asked,
    failures,
    windowRows: 7,
    choiceNeedsInstructions: true,
    identity: async () => ({ name: "asked" }),
    async answer({ state, questions: own }) {
      asked.push(state);
      const noul = asked.length / 1000;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return {
        model: "m",
        answers: new Map(own.map(({ id }) => [id, { type: "noul", noul }])),
        usage: { inputTokens: 3 },
        route: { reason: { type: "endpoint", host: "h" } },
      };
    },
  };
}

function noulsOf({ answers }: Answered): unknown {
  return [...answers.values()].map((answer) => answer.type === "noul" && answer.noul);
}

describe("answerOnce", () => {
  it("asks once for equal requests, whether the first is answered or still under way", async () => {
    const asked = createAsked();
    const once = answerOnce(asked);
    const together = await Promise.all(["a", "b", "a"].map((state) => once.answer(requestOf(state), {})));
    const later = await once.answer(requestOf("a"), {});
    expect(asked.asked).toEqual(["a", "b"]);
    expect([...together, later].map(noulsOf)).toEqual([[0.001], [0.002], [0.001], [0.001]]);
    expect([...together, later].map(({ reused }) => reused)).toEqual([undefined, undefined, "run", "run"]);
  });

  it.each<[what: string, one: ParsedRequest, other: ParsedRequest]>([
    ["text and JSON that reads the same", requestOf("[1]"), requestOf([1])],
    ["the order of keys", requestOf({ a: 1, b: 2 }), requestOf({ b: 2, a: 1 })],
    ["a model's name", requestOf("a"), requestOf("a", { model: "core-0.3.5" })],
    [
      "an id of a question, which the model does not see",
      requestOf("a"),
      requestOf("a", { questions: questions.map((each) => ({ ...each, id: "x" })) }),
    ],
    [
      "instructions",
      requestOf("a"),
      requestOf("a", { questions: questions.map((each) => ({ ...each, instructions: "Is it late?" })) }),
    ],
  ])("tells requests apart by %s", async (_, one, other) => {
    const asked = createAsked();
    const once = answerOnce(asked);
    await once.answer(one, {});
    expect((await once.answer(other, {})).reused).toBeUndefined();
  });

  it("tells requests apart by their chunk options, and not by the object that holds their questions", async () => {
    const asked = createAsked();
    const once = answerOnce(asked);
    await once.answer(requestOf("a"), {});
    expect((await once.answer(requestOf("a"), { chunk: CHUNK })).reused).toBeUndefined();
    expect((await once.answer(requestOf("a"), { chunk: { ...CHUNK, overlap: 2 } })).reused).toBeUndefined();
    const copied = requestOf("a", { questions: structuredClone(questions) });
    expect((await once.answer(copied, { chunk: { ...CHUNK } })).reused).toBe("run");
  });

  it("has one of those that wait ask again after a crash", async () => {
    const asked = createAsked();
    asked.failures.push(new QaError("worker_crashed", "gone"));
    const once = answerOnce(asked);
    const ends = await Promise.allSettled(["a", "a", "a"].map((state) => once.answer(requestOf(state), {})));
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(asked.asked).toHaveLength(2);
  });

  it("shares a failure of the request with those that wait, and remembers none", async () => {
    const asked = createAsked();
    const failure = new QaError("state_too_long", "too long");
    asked.failures.push(failure);
    const once = answerOnce(asked);
    const ends = await Promise.allSettled(["a", "a"].map((state) => once.answer(requestOf(state), {})));
    expect(ends).toEqual([1, 2].map(() => ({ status: "rejected", reason: failure })));
    expect(asked.asked).toHaveLength(1);
    expect((await once.answer(requestOf("a"), {})).reused).toBeUndefined();
  });

  it("forgets the least lately used answers beyond its bound", async () => {
    const asked = createAsked();
    const once = answerOnce(asked, { maxBytes: 1500 });
    for (const state of ["a", "b", "c", "a", "d", "e", "f"]) await once.answer(requestOf(state), {});
    const before = asked.asked.length;
    await once.answer(requestOf("f"), {});
    expect(asked.asked.length).toBe(before);
    await once.answer(requestOf("b"), {});
    expect(asked.asked.length).toBe(before + 1);
  });

  it("takes answers from a store of the same identity, and puts those that were asked for into it", async () => {
    const texts = new Map<string, string>();
    const store: AnswerStore = { get: (key) => texts.get(key), put: (key, text) => void texts.set(key, text) };
    const first = await answerOnce(createAsked(), { store, identity: "one" }).answer(requestOf("a"), {});
    const asked = createAsked();
    const again = answerOnce(asked, { store, identity: "one" });
    expect(await again.answer(requestOf("a"), {})).toEqual({ ...first, reused: "cache" });
    expect((await again.answer(requestOf("a"), {})).reused).toBe("run");
    expect(asked.asked).toEqual([]);
    const other = await answerOnce(createAsked(), { store, identity: "two" }).answer(requestOf("a"), {});
    expect(other.reused).toBeUndefined();
    expect(texts.size).toBe(2);
  });

  it("asks again where a store gives a text that is no answer to the questions", async () => {
    const store: AnswerStore = { get: () => '["m",3,{"reason":{"type":"named"}},[[]]]', put: () => {} };
    expect((await answerOnce(createAsked(), { store }).answer(requestOf("a"), {})).reused).toBeUndefined();
  });

  it("leaves the answerer's own settings as they are", () => {
    expect(answerOnce(createAsked())).toMatchObject({ windowRows: 7, choiceNeedsInstructions: true });
  });
});
