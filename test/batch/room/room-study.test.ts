import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { textWidth } from "../../../src/batch/progress/text-width.js";
import { loadPreset, loadQuestions } from "../../../src/batch/questions-file.js";
import { openRequests } from "../../../src/batch/read/read-requests.js";
import type { StateOptions } from "../../../src/batch/read/state-of-row.js";
import { drawRoom } from "../../../src/batch/room/draw-room.js";
import { roomToJson } from "../../../src/batch/room/room-json.js";
import { type RoomStudy, studyRoom } from "../../../src/batch/room/room-study.js";
import { DEFAULT_COMBINE_RULES } from "../../../src/decision/combine.js";
import { type JsonValue, parseJson, stringifyJson } from "../../../src/decision/json.js";
import { parseQuestions, type Question } from "../../../src/decision/question.js";
import type { ParsedRequest } from "../../../src/decision/request.js";
import { QaError } from "../../../src/errors.js";
import { openEngine } from "../../open-engine.js";

const ENGLISH = "core-0.3.20";
const MULTILINGUAL = "core-multilingual-0.3.20";
const TICKETS = { template: "{{subject}}\\n{{body}}" };
const FIXTURES = new URL("../../../fixtures/", import.meta.url).pathname;

const directory = mkdtempSync(join(tmpdir(), "qa-room-"));
const engine = await openEngine();
afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true });
});

const english = await engine.model("english");
const tokensOf = (text: string) => english.tokenizer.tokenize(text).length;
const triage = await loadQuestions(`${FIXTURES}triage.yaml`);

function questionsOf(wire: Record<string, JsonValue> | Map<string, JsonValue>): readonly Question[] {
  const { questions, issues } = parseQuestions(wire);
  expect(issues).toEqual([]);
  return questions;
}

function fileOf(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

interface Asked {
  readonly questions?: readonly Question[];
  readonly model?: string;
  readonly state?: StateOptions;
  readonly limit?: number;
}

async function* requestsOf(inputs: readonly string[], { questions, model, state = {}, limit }: Asked) {
  yield* (await openRequests({ inputs, read: {}, state, questions, model, limit, choiceNeedsInstructions: false })).all;
}

function studyFile(inputs: readonly string[], asked: Asked): Promise<RoomStudy> {
  const { questions = [], model } = asked;
  return studyRoom(engine, { questions, model, rows: requestsOf(inputs, asked) });
}

async function surveyOf(inputs: readonly string[], asked: Asked) {
  const { survey } = await studyFile(inputs, asked);
  if (survey === undefined) throw new Error("no survey");
  return survey;
}

/** A text of exactly so many tokens on the English checkpoint. */
function textOf(tokens: number): string {
  const text = Array<string>(tokens).fill("the").join(" ");
  expect(tokensOf(text)).toBe(tokens);
  return text;
}

describe("studyRoom of a state", () => {
  it("measures what the independent reference measures: tokens, rooms, cost", async () => {
    const lines = readFileSync(new URL("../../goldens/english.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    for (const line of lines) {
      const golden = parseJson(line) as Record<string, JsonValue>;
      const sequences = golden.sequences as Record<string, { tokens: number; room: number }>;
      const { state, questions: wire } = golden.request as { state: string; questions: Record<string, JsonValue> };
      const study = await studyRoom(engine, { questions: questionsOf(wire), model: ENGLISH, state });
      expect(study.report.state?.cost).toBe(golden.cost);
      expect(study.report.checkpoints.map(({ checkpoint }) => checkpoint)).toEqual([ENGLISH]);
      for (const { id, prefix, room } of study.report.checkpoints[0]?.questions ?? []) {
        const own = sequences instanceof Map ? sequences.get(id) : sequences[id];
        expect({ room, tokens: prefix + (study.report.state?.stateTokens ?? 0) + 1 }).toMatchObject({
          room: own?.room,
          tokens: own?.tokens,
        });
      }
    }
  });

  it("fits up to the room and not one token more", async () => {
    const questions = questionsOf({ urgent: { type: "noul", instructions: "Is it urgent?" } });
    const room = english.limits.window - 1 - engine.questionSet(questions, english).totalPrefixTokens;
    for (const [tokens, fits] of [
      [room, true],
      [room + 1, false],
    ] as const) {
      const { report, advice } = await studyRoom(engine, { questions, model: ENGLISH, state: textOf(tokens) });
      expect(report.state?.fits).toBe(fits);
      expect(advice.length > 0).toBe(!fits);
    }
  });

  it("promises what comes true: a description cut by that many tokens makes the state fit, by one less does not", async () => {
    const long = (words: number) =>
      questionsOf({
        topic: { type: "choice", instructions: "What is it about?", criteria: { a: textOf(words), b: null } },
        urgent: { type: "noul", instructions: "Is it urgent?" },
      });
    const state = textOf(400);
    const study = await studyRoom(engine, { questions: long(120), model: ENGLISH, state });
    const shorten = study.advice.find(({ type }) => type === "shorten");
    if (shorten?.type !== "shorten") throw new Error("no advice to shorten");
    expect(shorten.questions.map(({ question, longest }) => [question, longest[0]?.part])).toEqual([["topic", "a"]]);
    const remove = shorten.questions[0]?.removals[0]?.remove ?? 0;
    const fitsAfter = async (cut: number) =>
      (await studyRoom(engine, { questions: long(120 - cut), model: ENGLISH, state })).report.state?.fits;
    expect(await fitsAfter(remove)).toBe(true);
    expect(await fitsAfter(remove - 1)).toBe(false);
  });

  it("shows a question that leaves no room instead of failing", async () => {
    const questions = questionsOf({ huge: { type: "noul", instructions: textOf(490) } });
    const { report, advice } = await studyRoom(engine, { questions, model: undefined });
    expect(report.checkpoints.map(({ questions: [own] }) => own?.fit)).toEqual(["question_too_long", "fits"]);
    expect(advice).toMatchObject([{ type: "shorten", checkpoint: ENGLISH, states: 0 }]);
    const onState = await studyRoom(engine, { questions, model: ENGLISH, state: "Hello" });
    expect(onState.report.state?.fits).toBe(false);
    expect(drawRoom(onState, 80)).toContain("no room");
  });

  it("refuses a model that does not exist", async () => {
    await expect(studyRoom(engine, { questions: triage, model: "nobody" })).rejects.toMatchObject({
      code: "unknown_model",
    });
  });
});

describe("studyRoom of rows", () => {
  it("foretells a run: the rows that are answered, their tokens, the rows that are too long or unreadable", async () => {
    const inputs = [`${FIXTURES}tickets.csv`];
    const asked = { questions: triage.slice(0, 2), state: TICKETS, limit: 50 };
    const survey = await surveyOf(inputs, asked);
    const seen = { rows: 0, tokens: 0, codes: new Map<string, number[]>() };
    for await (const { item, outcome } of engine.decideAll(requestsOf(inputs, asked), { limits: "split" })) {
      if (outcome instanceof QaError)
        seen.codes.set(outcome.code, [...(seen.codes.get(outcome.code) ?? []), item.row.place.index + 1]);
      else seen.tokens += outcome.usage.inputTokens;
      seen.rows++;
    }
    expect(survey.rows).toBe(seen.rows);
    expect(survey.totals.inputTokens).toBe(seen.tokens);
    expect(survey.unfit.first.map(({ row }) => row)).toEqual(seen.codes.get("state_too_long"));
    expect(survey.unreadable.first.map(({ row }) => row)).toEqual(seen.codes.get("malformed_row"));
    expect(survey.routes.reduce((sum, { rows }) => sum + rows, 0)).toBe(seen.rows - survey.unreadable.count);
  });

  it("counts by hand: two rows that fit, one that fits one of two questions, one that fits none", async () => {
    const questions = questionsOf({
      long: { type: "choice", instructions: "Which?", criteria: { a: textOf(60), b: textOf(40) } },
      short: { type: "noul", instructions: "Urgent?" },
    });
    // head of long: [CLS] choice question : Which ? [SEP], options [MASK] a : ... and [MASK] b : ..., and a [SEP]
    const [long = 0, short = 0] = engine.questionSet(questions, english).prefixTokens;
    expect(long).toBe(tokensOf("choice question: Which?") + 2 + (60 + 3) + (40 + 3) + 1);
    const lengths = [10, 511 - long, 511 - long + 1, 512];
    const path = fileOf("hand.csv", `id,text\n${lengths.map((tokens, i) => `${i},${textOf(tokens)}`).join("\n")}\n`);
    const survey = await surveyOf([path], { questions, model: ENGLISH });
    const own = survey.checkpoints.get("english");
    expect(own?.questions.get("long")).toEqual({ fit: 2, unfit: { count: 2, first: [3, 4] } });
    expect(own?.questions.get("short")).toEqual({ fit: 3, unfit: { count: 1, first: [4] } });
    expect(survey.unfit.first).toEqual([
      { row: 3, file: path, line: 4, checkpoint: ENGLISH, stateTokens: 512 - long, question: "long", room: 511 - long },
      { row: 4, file: path, line: 5, checkpoint: ENGLISH, stateTokens: 512, question: "long", room: 511 - long },
    ]);
    expect(survey.totals).toEqual({
      rows: 2,
      calls: 2,
      inputTokens: long + 11 + (short + 11) + (512 + (short + 512 - long)),
      processedTokens: 2 * (long + 11) + 2 * 512,
    });
    // row 3 is one token over: 2 chunks; row 4: ceil(512 / room)
    expect(survey.chunked).toMatchObject({ rows: 2, chunks: 2 + Math.ceil(512 / (511 - long)) });
  });

  it("estimates no more chunks than a run makes", async () => {
    const state = readFileSync(`${FIXTURES}long-contract.txt`, "utf8");
    const questions = questionsOf({ urgent: { type: "noul", instructions: "Urgent?" } });
    const request: ParsedRequest = { state, questions, model: ENGLISH };
    const path = fileOf("contract.ndjson", stringifyJson({ text: state }));
    const { chunked } = await surveyOf([path], { questions, model: ENGLISH });
    const decision = await engine.decide(request, { chunk: { overlap: 0, combine: DEFAULT_COMBINE_RULES } });
    expect(chunked.chunks).toBeGreaterThan(1);
    expect(decision.chunked?.chunks.length).toBeGreaterThanOrEqual(chunked.chunks);
  });

  it("splits what is over the cap and says how many calls that makes", async () => {
    const questions = questionsOf(
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`q${i}`, { type: "noul", instructions: "Urgent?" }])),
    );
    const prefix = engine.questionSet(questions, english).prefixTokens[0] ?? 0;
    const perCall = Math.floor(3500 / (prefix + 401));
    const path = fileOf("cap.txt", `${textOf(400)}\n${textOf(5)}\n`);
    const { survey, advice } = await studyFile([path], { questions, model: ENGLISH });
    expect(survey?.overCap).toEqual({
      count: 1,
      first: [{ row: 1, file: path, line: 1 }],
      calls: Math.ceil(12 / perCall),
      mostCalls: Math.ceil(12 / perCall),
    });
    expect(survey?.totals.calls).toBe(Math.ceil(12 / perCall) + 1);
    expect(advice).toMatchObject([{ type: "split_calls", perCall }]);
  });

  it("measures rows with their own questions, and lists those whose request is wrong", async () => {
    const questions = { q: { type: "noul", instructions: "Urgent?" } };
    const wrong = { state: "x", questions: { q: { type: "noul" } } };
    const rows = [
      { state: textOf(5), questions, model: ENGLISH },
      wrong,
      { state: textOf(600), questions, model: ENGLISH },
    ];
    const path = fileOf("own.ndjson", rows.map((row) => JSON.stringify(row)).join("\n"));
    const survey = await surveyOf([path], {});
    expect(survey.checkpoints.get("english")?.own).toEqual({ fit: 1, unfit: { count: 1, first: [3] } });
    expect(survey.unreadable.first).toMatchObject([{ row: 2, line: 2, code: "invalid_request" }]);
    const elsewhere = await studyFile([path], { questions: triage, model: MULTILINGUAL });
    expect(elsewhere.report.checkpoints.map(({ checkpoint }) => checkpoint)).toEqual([ENGLISH, MULTILINGUAL]);
    const { unreadable } = await surveyOf(
      [fileOf("model.ndjson", JSON.stringify({ ...rows[0], model: "nobody" }))],
      {},
    );
    expect(unreadable.first).toMatchObject([{ code: "unknown_model" }]);
  });

  it("points to the multilingual checkpoint only where the row would fit there", async () => {
    const sentence = "The parcel came late and the customer would like to know when the missing part will be sent. ";
    const questions = questionsOf({ urgent: { type: "noul", instructions: "Urgent?" } });
    const path = fileOf("long.txt", `${sentence.repeat(40)}\n${sentence.repeat(200)}\n`);
    const { survey, advice } = await studyFile([path], { questions });
    expect(survey?.unfit.first.map(({ checkpoint }) => checkpoint)).toEqual([ENGLISH, ENGLISH]);
    expect(advice).toContainEqual({
      type: "other_checkpoint",
      checkpoint: MULTILINGUAL,
      states: 1,
      unfit: 2,
      measured: 2,
    });
    const named = await studyFile([path], { questions, model: ENGLISH });
    expect(named.advice.map(({ type }) => type)).not.toContain("other_checkpoint");
  });

  it("keeps 20 rows of a kind and counts the rest", async () => {
    const path = fileOf("many.txt", `${textOf(600)}\n`.repeat(30));
    const survey = await surveyOf([path], { questions: triage, model: ENGLISH });
    expect([survey.unfit.count, survey.unfit.first.length]).toEqual([30, 20]);
    const team = survey.checkpoints.get("english")?.questions.get("team");
    expect(team?.unfit.first).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect((await surveyOf([path], { questions: triage, model: ENGLISH, limit: 7 })).rows).toBe(7);
  });

  it("says what to pass where nothing is asked", async () => {
    const study = studyFile([`${FIXTURES}tickets.csv`], { state: TICKETS });
    await expect(study).rejects.toMatchObject({ code: "invalid_usage" });
    await expect(study).rejects.toThrow(/--questions FILE or --preset NAME/);
  });
});

describe("drawRoom", () => {
  const preset = (name: string) => loadPreset(name, new URL("../../../presets", import.meta.url).pathname);
  const many = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label ${i}`, null]));
  const odd = questionsOf({
    問題のとても長い名前がここにあります: { type: "noul", instructions: "Urgent?" },
    "a\u001b[31m\nb": { type: "choice", criteria: many },
    [`${"x".repeat(90)}`]: { type: "score", criteria: ["low", "high"] },
  });
  const studies: [claim: string, study: () => Promise<RoomStudy>][] = [
    ["questions", () => studyRoom(engine, { questions: triage, model: undefined })],
    ["odd questions", () => studyRoom(engine, { questions: odd, model: undefined })],
    [
      "a state",
      async () => studyRoom(engine, { questions: await preset("guard"), model: undefined, state: textOf(40) }),
    ],
    ["a state that is too long", () => studyRoom(engine, { questions: odd, model: ENGLISH, state: textOf(900) })],
    ["rows", () => studyFile([`${FIXTURES}tickets.csv`], { questions: triage, state: TICKETS })],
    ["rows of requests", () => studyFile([`${FIXTURES}requests.ndjson`], {})],
    ["no rows", () => studyFile([fileOf("empty.csv", "text\n")], { questions: triage })],
  ];

  it.each(studies)(
    "draws %s within 60, 80 and 100 columns, also where the terminal is wider or smaller",
    async (_, study) => {
      const studied = await study();
      for (const [columns, most] of [
        [40, 60],
        [60, 60],
        [80, 80],
        [100, 100],
        [250, 100],
      ] as const) {
        const drawn = drawRoom(studied, columns);
        for (const line of drawn.split("\n")) expect(textWidth(line), line).toBeLessThanOrEqual(most);
        expect(drawn).not.toMatch(/\p{Cc}(?<!\n)|undefined|NaN|Infinity/u);
      }
    },
  );

  it("draws all windows of a checkpoint as wide as each other", async () => {
    const drawn = drawRoom(await studyRoom(engine, { questions: odd, model: ENGLISH, state: textOf(30) }), 70);
    const bars = [...drawn.matchAll(/█+▒+[░┃·▶]*/gu)].map(([bar]) => bar.length);
    expect(bars).toHaveLength(3);
    expect(new Set(bars).size).toBe(1);
  });

  it("tells of rows: how many fit which question, which do not, and where they are", async () => {
    const drawn = drawRoom(await studyFile([`${FIXTURES}tickets.csv`], { questions: triage, state: TICKETS }), 100);
    expect(drawn).toMatch(/^\d+ rows: \d+ fit, 1 too long, 1 unreadable/);
    expect(drawn).toMatch(/team .*fits \d+ of \d+/);
    expect(drawn).toMatch(/Rows that do not fit \(1\)\n {2}row \d+ \(line \d+ of .*tickets\.csv\): [\d,]+ tokens/);
    expect(drawn).toContain("--long chunk");
  });
});

describe("roomToJson", () => {
  it("keeps ids and labels in their order, also those that look like numbers", async () => {
    const criteria = new Map([
      ["10", "ten"],
      ["2", null],
      ["b", null],
    ] as [string, JsonValue][]);
    const questions = questionsOf(
      new Map<string, JsonValue>([
        ["7", { type: "choice", criteria }],
        ["3", { type: "noul", instructions: "Urgent?" }],
      ]),
    );
    const path = fileOf("order.txt", "hello\n");
    const text = stringifyJson(roomToJson(await studyFile([path], { questions, model: ENGLISH })));
    expect(text).toMatch(/"questions":\{"7":\{"type":"choice","head":\d+,"options":\{"10":\d+,"2":\d+,"b":\d+\}/);
    expect(text).toContain('"questions":{"7":{"fit":1,"unfit":0,"first_unfit":[]},"3":');
  });

  it("has the keys that it documents, in snake_case", async () => {
    const study = await studyFile([`${FIXTURES}tickets.csv`], { questions: triage, state: TICKETS });
    const json = JSON.parse(stringifyJson(roomToJson(study)));
    expect(Object.keys(json)).toEqual(["checkpoints", "rows", "advice"]);
    expect(Object.keys(json.rows)).toEqual(
      "rows fit unfit unreadable over_cap long_chunk routes checkpoints".split(" "),
    );
    expect(json.rows.rows).toBe(json.rows.fit.rows + json.rows.unfit.rows + json.rows.unreadable.rows);
    expect(json.advice[0]).toMatchObject({ type: "chunk", message: expect.stringContaining("--long chunk") });
    const state = JSON.parse(
      stringifyJson(roomToJson(await studyRoom(engine, { questions: triage, model: undefined, state: "Hi" }))),
    );
    expect(Object.keys(state.state)).toEqual(
      "role checkpoint reason state_tokens fits cost cap calls questions".split(" "),
    );
  });
});
