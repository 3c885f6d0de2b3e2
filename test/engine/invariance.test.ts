import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { softmax } from "../../src/decision/calibration.js";
import { type JsonValue, parseJson } from "../../src/decision/json.js";
import type { Question } from "../../src/decision/question.js";
import { type ParsedRequest, parseRequest } from "../../src/decision/request.js";
import { Engine } from "../../src/engine/engine.js";
import { Scheduler } from "../../src/engine/scheduler.js";
import { WorkerPool } from "../../src/engine/worker-pool.js";
import { startBuiltWorker } from "../open-engine.js";
import { createSeeded } from "../seeded.js";

const TOLERANCE = 1e-4;
/** Between batches: a resumed run has other batches than an uninterrupted one, and must write the same bytes. */
const NOTHING = 0;
/** Every row a batch of its own: none fits the budget. */
const ALONE = 1;

const IDS = [
  "three-types",
  "noul-null-instructions",
  "score-null-levels",
  "choice-integer-labels",
  "choice-60-options",
  "structured-criteria",
  "state-object",
  "state-turns",
  "state-empty-string",
  "state-whitespace",
  "unicode",
  "rtl",
  "long-state-fits",
  "broad-0031",
  "broad-0051",
  "docs-0003",
  "guard-0071",
  "guard-0029",
  "long-0023",
  "multi-es-004",
  "multi-de-004",
  "ops-0081",
  "ops-0040",
  "people-0048",
  "rules-0065",
  "social-0071",
  "support-0074",
  "support-0025",
  "tech-0056",
  "world-de-002",
  "world-hi-001",
];
/** Those that the slow checkpoint is asked. */
const SLOW_IDS = [
  "three-types",
  "choice-integer-labels",
  "choice-60-options",
  "state-empty-string",
  "broad-0031",
  "guard-0071",
  "long-0023",
  "multi-de-004",
  "ops-0081",
  "tech-0056",
];
/** Those whose questions are encoded anew for a test. */
const FEW_IDS = [
  "three-types",
  "choice-integer-labels",
  "broad-0031",
  "guard-0071",
  "multi-de-004",
  "ops-0081",
  "tech-0056",
];

function load(file: string): Map<string, ParsedRequest> {
  const lines = readFileSync(new URL(`../goldens/${file}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n");
  const goldens = lines.map((line) => parseJson(line) as Record<string, JsonValue>);
  return new Map(
    goldens.map(({ id, model, request }) => {
      const parsed = parseRequest(request);
      if (parsed.type !== "request") throw new Error("golden does not parse");
      return [id as string, { ...parsed.request, model: model as string }];
    }),
  );
}

/** `question id, option label` -> probability, unrounded. */
type Probabilities = ReadonlyMap<string, number>;

const pools = [1, 2].map((workers) => WorkerPool.open(workers, startBuiltWorker));
const [onePool, twoPool] = pools as [WorkerPool, WorkerPool];
const engines = {
  a: await Engine.open({ deployment: "a" }, twoPool),
  b: await Engine.open({ deployment: "b" }, twoPool),
};
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

interface Reading {
  readonly engine: Engine;
  readonly maxBatchTokens?: number;
  readonly pool?: WorkerPool;
}

/** Reads requests as the engine does, all submitted in one turn, and hands out what the answers are made of. */
async function readBy(
  requests: readonly ParsedRequest[],
  { engine, maxBatchTokens = 4096, pool = twoPool }: Reading,
): Promise<Probabilities[]> {
  const scheduler = new Scheduler(pool, maxBatchTokens);
  const jobs = await Promise.all(
    requests.map(async (request) => {
      const { set, model, stateIds } = await engine.prepare(request);
      const { familyCheckpoint: checkpoint } = model;
      return { checkpoint, stateIds, prefix: await set.compiled(), prefixTokens: set.totalPrefixTokens };
    }),
  );
  const logits = await Promise.all(jobs.map((job) => scheduler.submit(job)));
  return requests.map(({ questions }, i) => probabilitiesOf(questions, logits[i] ?? new Float32Array()));
}

function probabilitiesOf(questions: readonly Question[], logits: Float32Array): Probabilities {
  let at = 0;
  const entries = questions.flatMap(({ id, options }) => {
    const own = softmax(logits.subarray(at, at + options.length), 1);
    at += options.length;
    return options.map(({ label }, o): [string, number] => [JSON.stringify([id, label]), own[o] ?? Number.NaN]);
  });
  return new Map(entries);
}

/** The largest difference of any probability; NaN where one has what the other has not. */
function differenceOf(ours: Probabilities, theirs: Probabilities): number {
  if (ours.size !== theirs.size) return Number.NaN;
  return Math.max(...[...ours].map(([key, p]) => Math.abs(p - (theirs.get(key) ?? Number.NaN))));
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const draw = createSeeded(seed);
  return items
    .map((item) => ({ item, at: draw(0, 1e9) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const CHECKPOINTS: { file: string; deployment: keyof typeof engines; ids: readonly string[] }[] = [
  { file: "english", deployment: "a", ids: SLOW_IDS },
  { file: "english-fast", deployment: "b", ids: IDS },
  { file: "multilingual", deployment: "a", ids: IDS },
];
describe.each(CHECKPOINTS)("an answer of the checkpoint of $file is the same", ({ file, deployment, ids }) => {
  const goldens = load(file);
  const engine = engines[deployment];
  const read = (asked: readonly ParsedRequest[], options: Omit<Reading, "engine"> = {}) =>
    readBy(asked, { engine, ...options });
  const requestOf = (id: string) => goldens.get(id) as ParsedRequest;
  const requests = ids.map(requestOf);
  const alone = new Map<ParsedRequest, Probabilities>();

  beforeAll(async () => {
    const answers = await read(requests, { maxBatchTokens: ALONE });
    requests.forEach((request, i) => {
      alone.set(request, answers[i] as Probabilities);
    });
  }, 300_000);

  function expectSame(
    asked: readonly ParsedRequest[],
    answers: readonly Probabilities[],
    { like = asked, tolerance = NOTHING } = {},
  ): void {
    like.forEach((request, i) => {
      const difference = differenceOf(answers[i] as Probabilities, alone.get(request) as Probabilities);
      expect(difference, ids[requests.indexOf(request)]).toBeLessThanOrEqual(tolerance);
    });
  }

  it.each([256, 4096, 8192])(
    "to the last bit in batches of %i tokens with rows of other lengths and question sets",
    async (maxBatchTokens) => {
      const asked = shuffled(requests, maxBatchTokens);
      expectSame(asked, await read(asked, { maxBatchTokens }));
    },
  );

  it("to the last bit with 1 worker and with 2, the rows in another order", async () => {
    const asked = [...requests].reverse();
    expectSame(asked, await read(asked, { pool: onePool }));
  });

  it("to the last bit among rows that are asked the same questions", async () => {
    const asked = FEW_IDS.map(requestOf);
    // as long as the state itself, shorter and longer within what a batch takes, all in one call of the question set
    const others = asked.flatMap(({ state, ...rest }) => {
      const text = JSON.stringify(state);
      return [text.slice(2), `${text} and more`, text.split("").reverse().join("")].map((other) => ({
        ...rest,
        state: other,
      }));
    });
    const answers = await read([...others, ...asked], { maxBatchTokens: 8192 });
    expectSame(asked, answers.slice(others.length));
  });

  it("to 4 decimals with the questions in another order", async () => {
    const asked = FEW_IDS.map(requestOf);
    const other = asked.map((request) => ({ ...request, questions: [...request.questions].reverse() }));
    expectSame(other, await read(other), { like: asked, tolerance: TOLERANCE });
  });

  it("to 4 decimals with the options of choices in another order, per label", async () => {
    const asked = FEW_IDS.map(requestOf);
    const turned = (question: Question) =>
      question.type === "choice" ? { ...question, options: shuffled(question.options, 5) } : question;
    const other = asked.map((request) => ({ ...request, questions: request.questions.map(turned) }));
    expectSame(other, await read(other), { like: asked, tolerance: TOLERANCE });
  });

  it("to 4 decimals for a question alone and in a set of 8 of very different lengths", async () => {
    const one = (id: string, question: number) => ({ ...(requestOf(id).questions[question] as Question) });
    const long = { ...one("ops-0081", 0), instructions: "Consider this with care and in every detail. ".repeat(20) };
    const set = [
      one("choice-60-options", 0),
      one("noul-null-instructions", 0),
      one("score-null-levels", 0),
      one("structured-criteria", 0),
      one("three-types", 2),
      one("choice-integer-labels", 0),
      one("rtl", 0),
      long,
    ].map((question, i) => ({
      ...question,
      id: `${question.id}-${i}`,
      instructions: question.instructions ?? question.id,
    }));
    const states = ["three-types", "state-empty-string", "multi-de-004"].map(requestOf);
    const together = await read(states.map((request) => ({ ...request, questions: set })));
    for (const question of set) {
      const apart = await read(
        states.map((request) => ({ ...request, questions: [question] })),
        { maxBatchTokens: ALONE },
      );
      apart.forEach((answer, i) => {
        const own = [...(together[i] as Probabilities)].filter(([key]) => answer.has(key));
        expect(differenceOf(new Map(own), answer), question.id).toBeLessThanOrEqual(TOLERANCE);
      });
    }
  });
});
