import { describe, expect, it } from "vitest";
import { openCoreFamily } from "../../src/engine/core-family.js";
import type { CompiledPrefix, Family, FamilyQuestion } from "../../src/engine/family.js";
import type { Session, TensorData } from "../../src/engine/session.js";
import { createSeeded } from "../seeded.js";

const D = 2;
const DEPTHS = 3;
const PAD = 9;
const SEP = 2;
const CHECKPOINT = {
  name: "fake",
  family: "core",
  graphs: { encode: "/encode", decide: "/decide" },
  hiddenSize: D,
  padId: PAD,
  sepId: SEP,
};

type Feeds = Readonly<Record<string, TensorData>>;

interface Calls {
  readonly encode: Feeds[];
  readonly decide: Feeds[];
  readonly closed: string[];
}

/** hidden[n,c,s] = (id + c / 8, position); pooled[n] = (sum of ids, tokens), both of what the mask shows. */
function encode({ input_ids, attention_mask }: Feeds): Record<string, { data: Float32Array; dims: number[] }> {
  const [n = 0, s = 0] = input_ids?.dims ?? [];
  const hidden = new Float32Array(n * DEPTHS * s * D);
  const pooled = new Float32Array(n * D);
  for (let row = 0; row < n; row++)
    for (let at = 0; at < s; at++) {
      const id = Number(input_ids?.data[row * s + at]);
      const seen = Number(attention_mask?.data[row * s + at]);
      for (let c = 0; c < DEPTHS; c++) hidden.set([id + c / 8, at], ((row * DEPTHS + c) * s + at) * D);
      pooled[row * D] = (pooled[row * D] ?? 0) + seen * id;
      pooled[row * D + 1] = (pooled[row * D + 1] ?? 0) + seen;
    }
  return { hidden: { data: hidden, dims: [n, DEPTHS, s, D] }, pooled: { data: pooled, dims: [n, D] } };
}

/** What `decide` says of a state, a question and an option: exact in float32. */
const logitOf = (stateSum: number, qtype: number, headSum: number, optionSum: number) =>
  stateSum + qtype * 100_000 + headSum / 8 + optionSum / 64;

function decide(feeds: Feeds): Record<string, { data: Float32Array; dims: number[] }> {
  const at = (name: string, i: number) => Number(feeds[name]?.data[i]);
  const [r = 0] = feeds.state_pooled?.dims ?? [];
  const [q = 0, m = 0] = feeds.marker?.dims ?? [];
  const logits = new Float32Array(r * q * m);
  for (let row = 0; row < r; row++)
    for (let question = 0; question < q; question++)
      for (let option = 0; option < m; option++) {
        const i = question * m + option;
        const own = logitOf(
          at("state_pooled", row * D),
          at("qtype", question),
          at("head_pooled", question * D),
          at("option_pooled", i * D),
        );
        logits[row * q * m + i] = at("marker_mask", i) === 1 ? own : -1e4;
      }
  return { logits: { data: logits, dims: [r, q, m] } };
}

async function open(): Promise<{ family: Family; calls: Calls }> {
  const calls: Calls = { encode: [], decide: [], closed: [] };
  const openSession = async (path: string): Promise<Session> => {
    const isEncode = path === "/encode";
    return {
      async run(feeds) {
        for (const { data, dims } of Object.values(feeds)) expect(data.length).toBe(dims.reduce((a, b) => a * b, 1));
        calls[isEncode ? "encode" : "decide"].push(feeds);
        const outputs = isEncode ? encode(feeds) : decide(feeds);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, tensor]) => [name, { type: "float32" as const, ...tensor }]),
        );
      },
      async close() {
        calls.closed.push(path);
      },
    };
  };
  return { family: await openCoreFamily(CHECKPOINT, openSession), calls };
}

const sum = (ids: readonly number[]) => ids.reduce((a, b) => a + b, 0);
const QTYPES = { choice: 0, score: 1, noul: 2 };

/** The logits that the fake graphs give to a state, options of all questions in order. */
function expectedLogits(questions: readonly FamilyQuestion[], state: readonly number[]): number[] {
  return questions.flatMap(({ type, head, options }) =>
    options.map((option) => logitOf(sum(state) + SEP, QTYPES[type], sum(head), sum(option))),
  );
}

/** A tensor as nested lists of plain numbers. */
function nested(tensor: TensorData | undefined): unknown {
  const [first, ...rest] = tensor?.dims ?? [];
  if (tensor === undefined || first === undefined) return undefined;
  const flat = Array.from(tensor.data as ArrayLike<number | bigint>, Number);
  const fold = (values: number[], dims: readonly number[]): unknown => {
    const [size, ...inner] = dims;
    if (size === undefined) return values[0];
    const width = values.length / size;
    return Array.from({ length: size }, (_, i) => fold(values.slice(i * width, (i + 1) * width), inner));
  };
  return fold(flat, [first, ...rest]);
}

const NOUL: FamilyQuestion = {
  type: "noul",
  head: [1, 10, 2],
  options: [
    [3, 11],
    [3, 12],
  ],
};
const CHOICE: FamilyQuestion = { type: "choice", head: [1, 20, 21, 2], options: [[3, 22], [3, 23, 24], [3]] };

describe("openCoreFamily", () => {
  it("encodes heads and options of a set once, a segment a row, those of like length together, padding masked", async () => {
    const { family, calls } = await open();
    await family.compile([NOUL, CHOICE]);
    expect(calls.encode.map(({ input_ids }) => nested(input_ids))).toEqual([
      [
        [3, PAD, PAD],
        [3, 11, PAD],
        [3, 12, PAD],
        [3, 22, PAD],
        [1, 10, 2],
        [3, 23, 24],
      ],
      [[1, 20, 21, 2]],
    ]);
    expect(calls.encode.map(({ attention_mask }) => nested(attention_mask))).toEqual([
      [
        [1, 0, 0],
        [1, 1, 0],
        [1, 1, 0],
        [1, 1, 0],
        [1, 1, 1],
        [1, 1, 1],
      ],
      [[1, 1, 1, 1]],
    ]);
  });

  it("encodes states with their separator, a state a row, padding masked", async () => {
    const { family, calls } = await open();
    const prefix = await family.compile([NOUL]);
    calls.encode.length = 0;
    await family.decide([{ prefix, states: [[50, 51], [60], []] }]);
    expect(calls.encode).toHaveLength(1);
    expect(nested(calls.encode[0]?.input_ids)).toEqual([
      [50, 51, SEP],
      [60, SEP, PAD],
      [SEP, PAD, PAD],
    ]);
    expect(nested(calls.encode[0]?.attention_mask)).toEqual([
      [1, 1, 1],
      [1, 1, 0],
      [1, 0, 0],
    ]);
  });

  it("feeds decide the prefixes of all questions, longest first, and all depths of the states", async () => {
    const { family, calls } = await open();
    const prefix = await family.compile([NOUL, CHOICE]);
    await family.decide([{ prefix, states: [[50, 51], [60]] }]);
    expect(calls.decide).toHaveLength(1);
    const [feeds] = calls.decide;
    expect(Object.keys(feeds ?? {}).sort()).toEqual(
      [
        "prefix_hidden",
        "prefix_mask",
        "prefix_part",
        "marker",
        "marker_mask",
        "head_pooled",
        "option_pooled",
        "qtype",
        "state_hidden",
        "state_mask",
        "state_pooled",
      ].sort(),
    );
    const none = [0, 0];
    // depth 0 of each token: (id, position in its own segment)
    expect(nested(feeds?.prefix_hidden)).toEqual([
      [
        [1, 0],
        [20, 1],
        [21, 2],
        [2, 3],
        [3, 0],
        [22, 1],
        [3, 0],
        [23, 1],
        [24, 2],
        [3, 0],
      ],
      [[1, 0], [10, 1], [2, 2], [3, 0], [11, 1], [3, 0], [12, 1], none, none, none],
    ]);
    expect(nested(feeds?.prefix_mask)).toEqual([
      [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
      [1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
    ]);
    expect(nested(feeds?.prefix_part)).toEqual([
      [0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
      [0, 0, 0, 1, 1, 1, 1, 0, 0, 0],
    ]);
    expect(nested(feeds?.marker)).toEqual([
      [4, 6, 9],
      [3, 5, 0],
    ]);
    expect(nested(feeds?.marker_mask)).toEqual([
      [1, 1, 1],
      [1, 1, 0],
    ]);
    expect(nested(feeds?.qtype)).toEqual([0, 2]);
    expect(nested(feeds?.head_pooled)).toEqual([
      [44, 4],
      [13, 3],
    ]);
    expect(nested(feeds?.option_pooled)).toEqual([
      [
        [25, 2],
        [50, 3],
        [3, 1],
      ],
      [[14, 2], [15, 2], none],
    ]);
    expect(feeds?.state_hidden?.dims).toEqual([2, DEPTHS, 3, D]);
    expect(nested(feeds?.state_hidden)).toMatchObject([
      [0, 1, 2].map((c) => [
        [50 + c / 8, 0],
        [51 + c / 8, 1],
        [SEP + c / 8, 2],
      ]),
      [0, 1, 2].map((c) => [
        [60 + c / 8, 0],
        [SEP + c / 8, 1],
        [PAD + c / 8, 2],
      ]),
    ]);
    expect(nested(feeds?.state_mask)).toEqual([
      [1, 1, 1],
      [1, 1, 0],
    ]);
    expect(nested(feeds?.state_pooled)).toEqual([
      [103, 3],
      [62, 2],
    ]);
  });

  it("asks questions of very different length in separate calls and puts their logits in order", async () => {
    const { family, calls } = await open();
    const long: FamilyQuestion = { ...CHOICE, head: [1, ...Array.from({ length: 80 }, () => 30), 2] };
    const questions = [NOUL, long, CHOICE];
    const prefix = await family.compile(questions);
    const [logits] = await family.decide([{ prefix, states: [[50, 51]] }]);
    expect(calls.decide.map((feeds) => feeds.prefix_mask?.dims)).toEqual([
      [1, 88],
      [2, 10],
    ]);
    expect([...(logits ?? [])]).toEqual(expectedLogits(questions, [50, 51]));
  });

  it("encodes the states of several question sets together and decides each set by itself", async () => {
    const { family, calls } = await open();
    const sets: FamilyQuestion[][] = [[NOUL], [CHOICE, NOUL], [CHOICE]];
    const prefixes = await Promise.all(sets.map((questions) => family.compile(questions)));
    const states = [[[50], [51, 52]], [[60, 61, 62]], [[70], [], [71]]];
    calls.encode.length = 0;
    const logits = await family.decide(
      sets.map((_, i) => ({ prefix: prefixes[i] as CompiledPrefix, states: states[i] ?? [] })),
    );
    expect(calls.encode).toHaveLength(1);
    expect(calls.decide).toHaveLength(3);
    expect(logits.map((own) => [...own])).toEqual(
      sets.flatMap((questions, i) => (states[i] ?? []).map((state) => expectedLogits(questions, state))),
    );
  });

  it("compiles a set of any size in calls of at most 4,096 padded tokens, little of which is padding", async () => {
    const { family, calls } = await open();
    const options = Array.from({ length: 255 }, (_, i) => [3, ...Array.from({ length: i % 40 }, () => 40)]);
    const prefix = await family.compile([{ type: "choice", head: [1, 2], options }]);
    const masks = calls.encode.flatMap(({ attention_mask }) => [...(attention_mask?.data ?? [])].map(Number));
    expect(calls.encode.length).toBeGreaterThan(1);
    for (const { input_ids } of calls.encode) expect(input_ids?.data.length).toBeLessThanOrEqual(4096);
    expect(sum(masks)).toBe(2 + sum(options.map((ids) => ids.length)));
    expect(masks.length).toBeLessThan(1.2 * sum(masks));
    const [logits] = await family.decide([{ prefix, states: [[50]] }]);
    expect([...(logits ?? [])]).toEqual(expectedLogits([{ type: "choice", head: [1, 2], options }], [50]));
  });

  it("gives every state the logits of every question whatever the sizes, in bounded calls", async () => {
    const draw = createSeeded(31);
    const ids = (from: number, to: number) => Array.from({ length: draw(from, to) }, () => draw(10, 90));
    for (let round = 0; round < 15; round++) {
      const { family, calls } = await open();
      const questions = Array.from({ length: draw(1, 12) }, (): FamilyQuestion => {
        const options = Array.from({ length: draw(1, 8) }, () => [3, ...ids(0, draw(1, 40))]);
        return {
          type: (["choice", "score", "noul"] as const)[draw(0, 2)] ?? "noul",
          head: [1, ...ids(1, 60), 2],
          options,
        };
      });
      const states = Array.from({ length: draw(1, 12) }, () => ids(0, 300));
      const prefix = await family.compile(questions);
      const logits = await family.decide([{ prefix, states }]);
      expect(logits.map((own) => [...own])).toEqual(states.map((state) => expectedLogits(questions, state)));
      for (const { prefix_mask, state_mask } of calls.decide) {
        const [q = 0, p = 0] = prefix_mask?.dims ?? [];
        const [r = 0, s = 0] = state_mask?.dims ?? [];
        expect(r * q * p * (p + s) <= 1_000_000 || r * q === 1).toBe(true);
      }
    }
  });

  it("closes both sessions", async () => {
    const { family, calls } = await open();
    await family.close();
    expect(calls.closed).toEqual(["/encode", "/decide"]);
  });
});
