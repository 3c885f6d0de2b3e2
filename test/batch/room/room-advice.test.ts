import { describe, expect, it } from "vitest";
import { explainAdvice } from "../../../src/batch/room/explain-advice.js";
import { type AdviceFacts, adviseRoom, type Demand } from "../../../src/batch/room/room-advice.js";
import { createTokenHistogram } from "../../../src/batch/room/token-histogram.js";
import type { CheckpointRoom } from "../../../src/engine/room-report.js";

type Tokens = Record<string, { head: number; options: number[] }>;

function checkpointOf(tokens: Tokens, { window = 512, cap = 3500, maxQuestions = 32 } = {}): CheckpointRoom {
  const questions = Object.entries(tokens).map(([id, { head, options }]) => {
    const prefix = head + options.reduce((sum, own) => sum + own, 1);
    const room = window - 1 - prefix;
    const labels = options.map((own, i) => ({ label: `o${i}`, tokens: own }));
    const fit = room > 0 ? ("fits" as const) : ("question_too_long" as const);
    return { id, type: "choice" as const, head, options: labels, prefix, room, fit, collisions: [] };
  });
  return { role: "english", checkpoint: "core", window, cap, maxQuestions, questions };
}

function demandOf(tokens: Tokens, states: readonly number[], limits: Parameters<typeof checkpointOf>[1] = {}): Demand {
  const bare = Object.entries(tokens).map(([id, { options }]) => [id, { head: 6, options: options.map(() => 3) }]);
  const histogram = createTokenHistogram();
  for (const state of states) histogram.add(state);
  const checkpoint = checkpointOf(tokens, limits);
  const room = Math.min(...checkpoint.questions.map((question) => question.room));
  return {
    checkpoint,
    bare: checkpointOf(Object.fromEntries(bare) as Tokens, limits),
    states: states.length,
    longestFit: Math.max(0, ...states.filter((state) => state <= room)),
    tokensAt: histogram.atShare,
  };
}

function advise(demand: Demand, facts: Partial<AdviceFacts> = {}) {
  const none = { measured: demand.states, unfit: 0, elsewhere: undefined, chunked: { rows: 0, chunks: 0 } };
  return adviseRoom({ ...none, demands: [demand], ...facts });
}

/** Prefix 100, room 411; up to (30 - 6 + 3 * (23 - 3)) / 2 = 42 tokens can go. */
const LONG = { head: 30, options: [23, 23, 23] };
const SHORT = { head: 10, options: [4, 5] };

describe("adviseRoom", () => {
  it("has nothing to say where everything fits", () => {
    expect(advise(demandOf({ long: LONG, short: SHORT }, [1, 200, 411]))).toEqual([]);
    expect(advise(demandOf({ long: LONG }, []))).toEqual([]);
  });

  it("names the tokens that must go, for every state and for smaller shares, and the longest parts", () => {
    const states = [...Array<number>(95).fill(411), 415, 415, 415, 420, 430];
    const [advice] = advise(demandOf({ long: { head: 30, options: [22, 24, 23] }, short: SHORT }, states));
    expect(advice).toEqual({
      type: "shorten",
      checkpoint: "core",
      states: 100,
      questions: [
        {
          question: "long",
          tokens: 100,
          removals: [
            { share: 1, remove: 19 },
            { share: 0.99, remove: 9 },
          ],
          longest: [
            { part: undefined, tokens: 30 },
            { part: "o1", tokens: 24 },
            { part: "o2", tokens: 23 },
          ],
        },
      ],
    });
  });

  it("keeps its promise: with that many tokens less the share fits, with one less it does not", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const states = Array.from(
        { length: 1 + (seed % 40) },
        (_, i) => 380 + Math.floor(Math.abs(Math.sin(seed + i * 7)) * 70),
      );
      const demand = demandOf({ a: LONG, b: { head: 12, options: [30, 31] }, c: SHORT }, states);
      for (const advice of advise(demand)) {
        if (advice.type !== "shorten") continue;
        for (const share of [1, 0.99, 0.95]) {
          const goal = advice.questions.flatMap(({ question, tokens, removals }) =>
            removals.filter((removal) => removal.share === share).map(({ remove }) => ({ question, tokens, remove })),
          );
          if (goal.length === 0) continue;
          const roomAfter = (spare: number) =>
            Math.min(...goal.map(({ tokens, remove }) => 512 - 1 - (tokens - remove + spare)));
          const fitting = (room: number) => states.filter((state) => state <= room).length;
          expect(fitting(roomAfter(0)), `seed ${seed}`).toBeGreaterThanOrEqual(Math.ceil(share * states.length));
          expect(fitting(roomAfter(1)), `seed ${seed}`).toBeLessThan(Math.ceil(share * states.length));
        }
      }
    }
  });

  it("does not ask for more than half of a question's texts", () => {
    const types = (longest: number) => advise(demandOf({ long: LONG }, [longest])).map(({ type }) => type);
    expect(types(411 + 42)).toEqual(["shorten"]);
    expect(types(411 + 43)).toEqual([]);
  });

  it("says how to give a question any room, where nothing else is measured", () => {
    const [advice] = advise(demandOf({ huge: { head: 200, options: [150, 165] } }, []));
    expect(advice).toMatchObject({ questions: [{ question: "huge", removals: [{ share: 1, remove: 6 }] }] });
    expect(explainAdvice(advice as never)).toContain("by 6 to leave any room");
  });

  it("points to chunks and to another checkpoint for as many states as they help", () => {
    const facts = {
      measured: 50,
      unfit: 3,
      elsewhere: { states: 2, checkpoint: "multi" },
      chunked: { rows: 3, chunks: 9 },
    };
    expect(advise(demandOf({ short: SHORT }, [10]), facts)).toEqual([
      { type: "other_checkpoint", checkpoint: "multi", states: 2, unfit: 3, measured: 50 },
      { type: "chunk", states: 3, unfit: 3, chunks: 9 },
    ]);
  });

  it("sets questions apart only where others fit every state", () => {
    const apart = advise(demandOf({ long: LONG, short: SHORT }, [460])).filter(({ type }) => type === "set_apart");
    expect(apart).toEqual([{ type: "set_apart", checkpoint: "core", questions: ["long"], fitting: 1 }]);
    expect(advise(demandOf({ long: LONG, short: SHORT }, [500]))).toEqual([]);
  });

  it("says how many questions a call takes: within the cap, where one more is over it", () => {
    const questions = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`q${i}`, SHORT]));
    // prefix 20, longest sequence 20 + 400 + 1 = 421; 3500 / 421 = 8.3
    expect(advise(demandOf(questions, [400]))).toEqual([
      { type: "split_calls", checkpoint: "core", questions: 9, cost: 9 * 421, cap: 3500, perCall: 8 },
    ]);
    expect(advise(demandOf(questions, [367]))).toEqual([]);
    expect(advise(demandOf(questions, [10], { maxQuestions: 4 }))).toMatchObject([{ type: "split_calls", perCall: 4 }]);
  });

  it("puts every advice into words that end in a full stop and name no control character", () => {
    const demand = demandOf({ "a\u001b[31m": LONG, short: SHORT }, [440]);
    const facts = {
      measured: 2,
      unfit: 1,
      elsewhere: { states: 1, checkpoint: "multi" },
      chunked: { rows: 1, chunks: 2 },
    };
    const words = advise(demand, facts).map(explainAdvice);
    expect(words).toHaveLength(4);
    for (const sentence of words) expect(sentence).toMatch(/^[\x20-\x7e]+\.$/);
  });
});
