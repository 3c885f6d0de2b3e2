import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { DEFAULT_COMBINE_RULES, openEngine, type QaEngine, QaError, type Request } from "../../dist/index.js";

let engine: QaEngine;
beforeAll(async () => {
  engine = await openEngine({ workers: 2 });
});
afterAll(() => engine.close());

/** Rounding to 4 decimals may move a value by one unit. */
const ONE_UNIT = 1.01e-4;

const BILLING = "I was charged twice for my March invoice, please refund one of them.";
const TRIAGE = {
  team: { type: "choice", instructions: "Which team?", criteria: { billing: "invoices, charges", technical: null } },
  refund: { type: "noul", instructions: "Is a refund asked for?" },
  mood: { type: "score", criteria: ["calm", "annoyed", "furious"] },
} as const;
const REFUND = { refund: { type: "noul", instructions: "Is a refund asked for?" } } as const;

/** Questions that read alike but for a number. */
const nouls = (count: number, words = "") =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `q${i}`,
      { type: "noul" as const, instructions: `Is it so, case ${i}?${words}` },
    ]),
  );
const sentences = (count: number) =>
  Array.from({ length: count }, (_, i) => `The parcel number ${i} is late.`).join(" ");

async function errorOf(answer: Promise<unknown>): Promise<QaError> {
  const outcome = await answer.then(
    () => "was answered",
    (error: unknown) => error,
  );
  if (outcome instanceof QaError) return outcome;
  throw new Error(`ended without a QaError: ${String(outcome)}`);
}

describe("engine.answer", () => {
  it("answers in the wire's form, exactly its keys, in the order asked", async () => {
    const response = await engine.answer({ model: "core-0.3.20", state: BILLING, questions: TRIAGE });
    expect(JSON.parse(JSON.stringify(response))).toEqual({
      model: "core-0.3.20",
      answers: {
        team: {
          type: "choice",
          choice: "billing",
          confidence: expect.any(Number),
          probabilities: { billing: expect.any(Number), technical: expect.any(Number) },
        },
        refund: { type: "noul", noul: expect.any(Number) },
        mood: {
          type: "score",
          score: expect.any(Number),
          confidence: expect.any(Number),
          legend: { "0": "calm", "1": "annoyed", "2": "furious" },
          probabilities: { "0": expect.any(Number), "1": expect.any(Number), "2": expect.any(Number) },
        },
      },
      usage: { input_tokens: expect.any(Number), output_tokens: 0 },
    });
    expect(Object.keys(response)).toEqual(["model", "answers", "usage"]);
    expect(Object.keys(response.answers)).toEqual(["team", "refund", "mood"]);
    expect(response.answers.team.probabilities.billing).toBeGreaterThan(0.5);
  });

  it("has answers whose types follow from the questions", async () => {
    const { answers } = await engine.answer({ state: BILLING, questions: TRIAGE });
    expectTypeOf(answers.team.choice).toEqualTypeOf<"billing" | "technical">();
    expectTypeOf(answers.team.probabilities).toEqualTypeOf<{ readonly billing: number; readonly technical: number }>();
    expectTypeOf(answers.refund).toEqualTypeOf<{ readonly type: "noul"; readonly noul: number }>();
    expectTypeOf(answers.mood.score).toEqualTypeOf<number>();
    expectTypeOf(answers.mood.probabilities).toEqualTypeOf<{ readonly [level: string]: number }>();
    expectTypeOf<keyof typeof answers>().toEqualTypeOf<"team" | "refund" | "mood">();
    // @ts-expect-error a noul has no confidence
    expect(answers.refund.confidence).toBeUndefined();
    // @ts-expect-error nothing was asked under this id
    expect(answers.urgency).toBeUndefined();
  });

  it("infers the labels of questions written in place, without as const", async () => {
    const { answers } = await engine.answer({
      state: BILLING,
      questions: { team: { type: "choice", criteria: { billing: null, sales: null } } },
    });
    expectTypeOf(answers.team.choice).toEqualTypeOf<"billing" | "sales">();
    expect(["billing", "sales"]).toContain(answers.team.choice);
  });

  it.each([
    ["a", undefined, "core-multilingual-0.3.20"],
    ["b", undefined, "core-0.3.5"],
    ["b", "core-multilingual", "core-multilingual-0.3.9"],
  ])("names the concrete checkpoint of deployment %s for the model %s: %s", async (deployment, model, checkpoint) => {
    const other = await openEngine({ deployment, workers: 1 });
    const named = model === undefined ? {} : { model };
    expect((await other.answer({ ...named, state: BILLING, questions: REFUND })).model).toBe(checkpoint);
    await other.close();
  });

  it("reads JSON as the one line that it renders to", async () => {
    const questions = REFUND;
    const state = { subject: "Refund", lines: ["charged twice", 2, null] };
    const rendered = '{"subject": "Refund", "lines": ["charged twice", 2, null]}';
    const model = "core-0.3.20";
    const [json, text] = await Promise.all([
      engine.answer({ model, state, questions }),
      engine.answer({ model, state: rendered, questions }),
    ]);
    expect(json).toEqual(text);
  });

  it("reads JavaScript values as they would go over the wire", async () => {
    const model = "core-0.3.20";
    const at = new Date(0);
    const values = { at, tags: ["late", undefined], note: undefined };
    const wire = { at: "1970-01-01T00:00:00.000Z", tags: ["late", null] };
    const [ours, theirs] = await Promise.all(
      [values, wire].map((state) => engine.answer({ model, state, questions: REFUND })),
    );
    expect(ours).toEqual(theirs);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  it.each<[string, unknown[]]>([
    ["a bigint", [1n]],
    ["a cycle", cycle],
  ])("rejects a state that holds %s", async (_, state) => {
    const error = await errorOf(engine.answer({ state, questions: REFUND }));
    expect(error.code).toBe("invalid_request");
    expect(error.message).toMatch(/^the request is not JSON/);
  });

  it("lists every issue of a request with its path, and none of its text", async () => {
    const request = { state: 7, questions: { a: { type: "choice", criteria: { SECRET: 4711 } }, b: { type: "noul" } } };
    const error = await errorOf(engine.answer(request as unknown as Request));
    expect(error.code).toBe("invalid_request");
    const issues = error.details.issues as { path: string; message: string }[];
    expect(issues.map(({ path }) => path)).toEqual(["state", "questions.a.criteria.SECRET", "questions.b"]);
    for (const { path, message } of issues) expect(error.message).toContain(`${path}: ${message}`);
    expect(error.message).not.toContain("4711");
  });

  it("names the models it knows to those who ask another", async () => {
    const error = await errorOf(engine.answer({ model: "gpt", state: "x", questions: REFUND }));
    expect(error.toJSON()).toMatchObject({ code: "unknown_model", model: "gpt" });
    expect(error.details.models).toContain("core-0.3.20");
  });
});

describe("the limits of one call", () => {
  const english = { model: "core-0.3.20" } as const;

  it("are 32 questions", async () => {
    const error = await errorOf(engine.answer({ ...english, state: "x", questions: nouls(33) }));
    expect(error.toJSON()).toMatchObject({ code: "too_many_questions", questions: 33, limit: 32 });
    const response = await engine.answer({ ...english, state: "x", questions: nouls(32) });
    expect(Object.keys(response.answers)).toHaveLength(32);
  });

  it("are questions x longest sequence within the cap", async () => {
    const request = { ...english, state: sentences(15), questions: nouls(32) };
    const error = await errorOf(engine.answer(request));
    const { cost, cap, questions, longest_sequence } = error.details;
    expect(error.code).toBe("processed_tokens_exceeded");
    expect({ cap, questions }).toEqual({ cap: 3500, questions: 32 });
    expect(cost).toBe(32 * (longest_sequence as number));
    expect(cost).toBeGreaterThan(3500);
    const { state } = await engine.room(request);
    expect(state).toMatchObject({
      cost,
      cap,
      fits: true,
      calls: Math.ceil(32 / Math.floor(3500 / (longest_sequence as number))),
    });
  });

  it("do not hold where they are split: 40 questions are answered as in calls of their own", async () => {
    const questions = nouls(40);
    const state = sentences(15);
    const split = await engine.answer({ ...english, state, questions }, { limits: "split" });
    expect(Object.keys(split.answers)).toEqual(Object.keys(questions));
    const parts = [0, 10, 20, 30].map((from) => Object.fromEntries(Object.entries(questions).slice(from, from + 10)));
    const calls = await Promise.all(parts.map((part) => engine.answer({ ...english, state, questions: part })));
    for (const { answers } of calls)
      for (const [id, answer] of Object.entries(answers)) {
        const noul = "noul" in answer ? answer.noul : Number.NaN;
        expect(Math.abs((split.answers[id] as { noul: number }).noul - noul)).toBeLessThanOrEqual(ONE_UNIT);
      }
    expect(split.usage.input_tokens).toBe(calls.reduce((sum, call) => sum + call.usage.input_tokens, 0));
  });

  it("tell a state that is too long with every question's room, whatever the limits", async () => {
    const questions = { ...REFUND, long: { type: "noul" as const, instructions: "Is it late? ".repeat(30) } };
    const state = sentences(60);
    const over = (await engine.room({ ...english, state, questions })).state;
    const rooms = Object.fromEntries((over?.questions ?? []).map(({ id, room, fits }) => [id, { room, fits }]));
    for (const limits of ["call", "split"] as const) {
      const error = await errorOf(engine.answer({ ...english, state, questions }, { limits }));
      const told = JSON.parse(JSON.stringify(error)) as unknown;
      expect(told).toMatchObject({ code: "state_too_long", state_tokens: over?.stateTokens, questions: rooms });
    }
    expect(rooms).toMatchObject({ refund: { fits: true }, long: { fits: false } });
  });

  it("accept a state that fills the room to the last token, and not one token more", async () => {
    const { checkpoints } = await engine.room({ questions: REFUND });
    const room = checkpoints.find(({ role }) => role === "english")?.questions[0]?.room ?? Number.NaN;
    const full = "late ".repeat(room);
    const response = await engine.answer({ ...english, state: full, questions: REFUND });
    expect(response.usage.input_tokens).toBe(512);
    const error = await errorOf(engine.answer({ ...english, state: `${full} late`, questions: REFUND }));
    expect(error.toJSON()).toMatchObject({ code: "state_too_long", state_tokens: room + 1 });
  });

  it("tell a question that leaves no room", async () => {
    const long = { q: { type: "noul" as const, instructions: "word ".repeat(495) } };
    const error = await errorOf(engine.answer({ ...english, state: "x", questions: long }));
    expect(error.toJSON()).toMatchObject({ code: "question_too_long", question: "q", window: 512 });
    expect(error.details.tokens).toBeGreaterThan(511);
    const criteria = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label number ${i}`, null]));
    const many = { q: { type: "choice" as const, criteria } };
    expect((await errorOf(engine.answer({ ...english, state: "x", questions: many }))).code).toBe("too_many_options");
  });
});

describe("a state in chunks", () => {
  const model = "core-0.3.20";
  const chunk = { overlap: 0, combine: DEFAULT_COMBINE_RULES };
  const state = `${sentences(50)}\n\n${BILLING}\n\n${sentences(50)}`;

  it("is answered by the chunk that decides, and every token is counted", async () => {
    const questions = { ...REFUND, team: TRIAGE.team };
    const whole = await engine.answer({ model, state, questions }, { chunk });
    expect(Object.keys(whole.answers)).toEqual(["refund", "team"]);
    const { state: measured } = await engine.room({ model, state, questions });
    expect(whole.usage.input_tokens).toBeGreaterThan(2 * (measured?.stateTokens ?? Number.NaN));
    const mean = { noul: "mean", choice: "mean", score: "mean" } as const;
    const average = await engine.answer({ model, state, questions }, { chunk: { overlap: 0, combine: mean } });
    expect(whole.answers.refund.noul).toBeGreaterThanOrEqual(average.answers.refund.noul);
    expect(whole.answers.team.confidence).toBeGreaterThan(average.answers.team.confidence);
    expect(average.usage).toEqual(whole.usage);
  });

  it("is answered as it is where it fits", async () => {
    const request = { model, state: BILLING, questions: REFUND };
    expect(await engine.answer(request, { chunk })).toEqual(await engine.answer(request));
  });

  it("is an error where what every chunk must keep is over the room", async () => {
    const crowded = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field ${i}`, "word"]));
    const error = await errorOf(engine.answer({ model, state: crowded, questions: REFUND }, { chunk }));
    expect(error.code).toBe("state_too_long");
  });
});

describe("engine.answerAll", () => {
  const fine: Request = { model: "core-0.3.20", state: BILLING, questions: REFUND };

  it("has an outcome for every request in order, its error where it has one", async () => {
    const requests: unknown[] = [
      fine,
      { ...fine, state: null },
      { ...fine, state: sentences(500) },
      { ...fine, model: "gpt" },
      { ...fine, questions: nouls(33) },
      7,
      { ...fine, state: "" },
    ];
    async function* source() {
      for (const request of requests) {
        await turn();
        yield request as Request;
      }
    }
    const shown: string[] = [];
    for await (const outcome of engine.answerAll(source()))
      shown.push(outcome.type === "failed" ? outcome.error.code : outcome.response.model);
    expect(shown).toEqual([
      "core-0.3.20",
      "invalid_request",
      "state_too_long",
      "unknown_model",
      "too_many_questions",
      "invalid_request",
      "core-0.3.20",
    ]);
  });

  it("answers as answer does, in the order of the requests, whatever their lengths", async () => {
    const states = [20, 1, 35, 0, 7, 28, 3].map((count) => `${sentences(count)} ${count}`);
    const requests = states.map((state) => ({ model: "core-0.3.20", state, questions: REFUND }));
    const nouls: number[] = [];
    for await (const outcome of engine.answerAll(requests))
      nouls.push(outcome.type === "answered" ? outcome.response.answers.refund.noul : Number.NaN);
    for (const [i, request] of requests.entries()) {
      const { noul } = (await engine.answer(request)).answers.refund;
      expect(Math.abs(noul - (nouls[i] ?? Number.NaN))).toBeLessThanOrEqual(ONE_UNIT);
    }
  });

  it("has outcomes whose types follow from the questions", async () => {
    for await (const outcome of engine.answerAll([{ state: BILLING, questions: TRIAGE }])) {
      if (outcome.type === "failed") throw outcome.error;
      expectTypeOf(outcome.response.answers.team.choice).toEqualTypeOf<"billing" | "technical">();
      expect(outcome.response.answers.team.type).toBe("choice");
    }
  });

  it("closes its source when its consumer stops", async () => {
    let closed = false;
    function* source() {
      try {
        for (;;) yield fine;
      } finally {
        closed = true;
      }
    }
    for await (const outcome of engine.answerAll(source())) {
      expect(outcome.type).toBe("answered");
      break;
    }
    expect(closed).toBe(true);
  });

  it("has aborted outcomes once it is aborted", async () => {
    const signal = AbortSignal.abort();
    for await (const outcome of engine.answerAll([fine, fine], { signal }))
      expect(outcome).toMatchObject({ type: "failed", error: { code: "aborted" } });
    expect((await errorOf(engine.answer(fine, { signal }))).code).toBe("aborted");
  });
});

describe("engine.room", () => {
  it("measures questions on both checkpoints without a state", async () => {
    const { checkpoints, state } = await engine.room({ questions: TRIAGE });
    expect(state).toBeUndefined();
    expect(checkpoints.map(({ checkpoint, window, cap }) => [checkpoint, window, cap])).toEqual([
      ["core-0.3.20", 512, 3500],
      ["core-multilingual-0.3.20", 2048, 6000],
    ]);
    for (const { window, questions } of checkpoints)
      for (const { head, options, prefix, room, fit } of questions) {
        expect(prefix).toBe(head + options.reduce((sum, option) => sum + option.tokens, 0) + 1);
        expect(room).toBe(window - 1 - prefix);
        expect(fit).toBe("fits");
      }
  });

  it("says where a state goes and why, what it costs, and answers nothing", async () => {
    const { state } = await engine.room({ state: BILLING, questions: TRIAGE });
    const { usage } = await engine.answer({ state: BILLING, questions: TRIAGE });
    expect(state).toMatchObject({ checkpoint: "core-multilingual-0.3.20", fits: true, calls: 1, cap: 6000 });
    expect(state?.reason).toMatch(
      /^looks English, but \d+ letters are too few to be sure \(160 needed\): multilingual$/,
    );
    expect(state?.cost).toBeGreaterThanOrEqual(usage.input_tokens);
  });
});

describe("openEngine", () => {
  it("rejects a deployment that does not exist", async () => {
    expect((await errorOf(openEngine({ deployment: "c" }))).code).toBe("unknown_deployment");
  });

  it("says of a folder without the checkpoint what to do, for the request and for the whole of answerAll", async () => {
    const empty = await openEngine({ modelsDir: "/nowhere", workers: 1 });
    const request = { state: BILLING, questions: REFUND };
    const error = await errorOf(empty.answer(request));
    expect(error.code).toBe("checkpoint_missing");
    expect(error.message).toMatch(/restore it/);
    expect((await errorOf(empty.answerAll([request]).next())).code).toBe("checkpoint_missing");
    await empty.close();
  });

  it("answers nothing after close", async () => {
    const closed = await openEngine({ workers: 1 });
    await closed.close();
    expect((await errorOf(closed.answer({ state: BILLING, questions: REFUND }))).code).toBe("aborted");
  });
});
