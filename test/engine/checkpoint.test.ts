import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { resolveEngineConfig } from "../../src/config.js";
import { loadCheckpoint } from "../../src/engine/checkpoint.js";
import { Engine } from "../../src/engine/engine.js";
import { openFamily } from "../../src/engine/family.js";
import { type CheckpointTokenizer, loadTokenizer } from "../../src/engine/tokenizer.js";
import { createFakeInference } from "../fake-inference.js";

const WORDS = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "hello", "world"];
const TOKENIZER = JSON.stringify({
  version: "1.0",
  added_tokens: WORDS.slice(0, 5).map((content, id) => ({ id, content, special: true, normalized: false })),
  normalizer: null,
  post_processor: null,
  decoder: null,
  pre_tokenizer: { type: "Whitespace" },
  model: { type: "WordLevel", vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])), unk_token: "[UNK]" },
});
const FILES: Record<string, string> = {
  "encode.onnx": "graph one",
  "decide.onnx": "graph two",
  "tokenizer.json": TOKENIZER,
};
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const MANIFEST = {
  name: "small",
  family: "core",
  description: "A fake.",
  release_date: "2026-01-02",
  languages: ["en"],
  window: 64,
  hidden_size: 8,
  graphs: { encode: "encode.onnx", decide: "decide.onnx" },
  tokenizer: "tokenizer.json",
  special_tokens: { cls: "[CLS]", sep: "[SEP]", mask: "[MASK]", pad: "[PAD]" },
  calibration: { temperature: { noul: 1.5 }, temperature_by_options: { "choice:2": 2 } },
  sha256: Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, hashOf(text)])),
};

let original: string;
let models: string;
beforeAll(async () => {
  original = await mkdtemp(join(tmpdir(), "qa-model-"));
  await mkdir(join(original, "small"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(original, "small", name), text);
  await writeFile(join(original, "small", "checkpoint.json"), JSON.stringify(MANIFEST));
});
beforeEach(async () => {
  models = await mkdtemp(join(tmpdir(), "qa-models-"));
  await cp(original, models, { recursive: true });
  return () => rm(models, { recursive: true });
});
afterAll(() => rm(original, { recursive: true }));

const fileOf = (name: string) => join(models, "small", name);
const writeManifest = (changes: object) =>
  writeFile(fileOf("checkpoint.json"), JSON.stringify({ ...MANIFEST, ...changes }));

describe("loadCheckpoint", () => {
  it("reads the manifest, its paths made absolute", async () => {
    expect(await loadCheckpoint("small", models)).toEqual({
      name: "small",
      family: "core",
      description: "A fake.",
      releaseDate: "2026-01-02",
      languages: ["en"],
      window: 64,
      hiddenSize: 8,
      graphs: { encode: fileOf("encode.onnx"), decide: fileOf("decide.onnx") },
      tokenizerPath: fileOf("tokenizer.json"),
      specialTokens: MANIFEST.special_tokens,
      calibration: { temperature: { noul: 1.5 }, temperatureByOptions: { "choice:2": 2 } },
      prefixLimits: { optionMaxLen: undefined, headMaxLen: undefined },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it("reads the limits of a manifest that has them", async () => {
    await writeManifest({ option_max_len: 48, head_max_len: 192 });
    expect((await loadCheckpoint("small", models)).prefixLimits).toEqual({ optionMaxLen: 48, headMaxLen: 192 });
  });

  it("takes the files of a checkpoint that shares its weights", async () => {
    await mkdir(join(models, "twin"));
    const shared = (name: string) => `../small/${name}`;
    const manifest = {
      ...MANIFEST,
      name: "twin",
      graphs: { encode: shared("encode.onnx"), decide: shared("decide.onnx") },
      tokenizer: shared("tokenizer.json"),
      sha256: Object.fromEntries(Object.entries(MANIFEST.sha256).map(([name, hash]) => [shared(name), hash])),
    };
    await writeFile(join(models, "twin", "checkpoint.json"), JSON.stringify(manifest));
    const [small, twin] = await Promise.all(["small", "twin"].map((name) => loadCheckpoint(name, models)));
    expect(twin?.graphs).toEqual(small?.graphs);
    expect(twin?.fingerprint).toBe(small?.fingerprint);
  });

  it("has another fingerprint with other weights or another calibration", async () => {
    const { fingerprint } = await loadCheckpoint("small", models);
    await writeManifest({ calibration: {} });
    const recalibrated = await loadCheckpoint("small", models);
    await writeFile(fileOf("decide.onnx"), "graph three");
    await writeManifest({ sha256: { ...MANIFEST.sha256, "decide.onnx": hashOf("graph three") } });
    const retrained = await loadCheckpoint("small", models);
    expect(new Set([fingerprint, recalibrated.fingerprint, retrained.fingerprint]).size).toBe(3);
  });

  it("verifies the data that a graph keeps beside it, and names its answers by that too", async () => {
    const without = await loadCheckpoint("small", models);
    const sha256 = { ...MANIFEST.sha256, "words.bin": hashOf("embeddings") };
    await writeManifest({ data: ["words.bin"], sha256 });
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({
      code: "checkpoint_missing",
      message: expect.stringMatching(/words\.bin cannot be read/),
    });
    await writeFile(fileOf("words.bin"), "embedding~");
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({ code: "checkpoint_damaged" });
    await writeFile(fileOf("words.bin"), "embeddings");
    expect((await loadCheckpoint("small", models)).fingerprint).not.toBe(without.fingerprint);
  });

  it("says of a checkpoint that is not there where it looked and how to get it", async () => {
    await expect(loadCheckpoint("large", models)).rejects.toMatchObject({
      code: "checkpoint_missing",
      message: expect.stringMatching(/^checkpoint large is not in .*; restore it .*`git checkout -- models`.*--models/),
    });
  });

  it.each(Object.keys(FILES))("says so where %s is missing", async (name) => {
    await rm(fileOf(name));
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({
      code: "checkpoint_missing",
      message: expect.stringMatching(new RegExp(`/small/${name} cannot be read; restore it .*git checkout -- models`)),
    });
  });

  it.each(Object.keys(FILES))("finds one changed byte in %s", async (name) => {
    const text = FILES[name] ?? "";
    await writeFile(fileOf(name), `${text.slice(0, -1)}~`);
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({
      code: "checkpoint_damaged",
      message: expect.stringMatching(new RegExp(`/small/${name} does not have the hash .*; restore it `)),
    });
  });

  it("finds a graph cut short, as by a broken download", async () => {
    await writeFile(fileOf("encode.onnx"), "graph");
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({ code: "checkpoint_damaged" });
  });

  it("does not trust a file that the manifest gives no hash for", async () => {
    await writeManifest({ sha256: { ...MANIFEST.sha256, "decide.onnx": undefined } });
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({ code: "checkpoint_damaged" });
  });

  it.each<[string, string]>([
    ["no JSON", "{"],
    ["null", "null"],
    ["a list", "[]"],
    ["a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n"],
    ["no graphs", JSON.stringify({ ...MANIFEST, graphs: undefined })],
    ["null for graphs", JSON.stringify({ ...MANIFEST, graphs: null })],
    ["null for hashes", JSON.stringify({ ...MANIFEST, sha256: null })],
    ["null for the calibration", JSON.stringify({ ...MANIFEST, calibration: null })],
    ["no window", JSON.stringify({ ...MANIFEST, window: undefined })],
    ["no width", JSON.stringify({ ...MANIFEST, hidden_size: undefined })],
  ])("calls a manifest that holds %s damaged and says what to do", async (_, text) => {
    await writeFile(fileOf("checkpoint.json"), text);
    await expect(loadCheckpoint("small", models)).rejects.toMatchObject({
      code: "checkpoint_damaged",
      message: expect.stringMatching(/checkpoint\.json is not a checkpoint manifest; restore it /),
    });
  });

  it("is of a family that qa knows, or says to update", async () => {
    await writeManifest({ family: "oracle" });
    const { name, family, graphs, hiddenSize } = await loadCheckpoint("small", models);
    const checkpoint = { name, family, graphs, hiddenSize, padId: 0, sepId: 2 };
    const opened = openFamily(checkpoint, () => Promise.reject(new Error("was opened")));
    await expect(opened).rejects.toMatchObject({
      code: "checkpoint_damaged",
      message: expect.stringMatching(/update qa$/),
    });
  });
});

describe("Engine.model", () => {
  /** An engine whose two roles are the small checkpoint. */
  async function openSmall(): Promise<Engine> {
    const role = (value: unknown) => ({ english: value, multilingual: value });
    const deployment = join(models, "deployment.json");
    const file = {
      name: "small",
      checkpoints: role("small"),
      windows: role(512),
      caps: role(1000),
      max_questions: 32,
      choice_needs_instructions: false,
      default_model: "small",
      aliases: {},
      routing: { undecided: "english", english_min_letters: 0 },
    };
    await writeFile(deployment, JSON.stringify(file));
    return Engine.open({ deployment, modelsDir: models }, createFakeInference());
  }

  it("loads a checkpoint once, however many ask for it", async () => {
    const engine = await openSmall();
    const [first, second] = await Promise.all([engine.model("english"), engine.model("english")]);
    await rm(fileOf("encode.onnx"));
    expect(second).toBe(first);
    expect(await engine.model("english")).toBe(first);
  });

  it("finds a checkpoint that was restored while the engine was open", async () => {
    const engine = await openSmall();
    await rm(fileOf("encode.onnx"));
    await expect(engine.model("english")).rejects.toMatchObject({ code: "checkpoint_missing" });
    await writeFile(fileOf("encode.onnx"), FILES["encode.onnx"] ?? "");
    expect((await engine.model("english")).checkpoint.name).toBe("small");
  });

  it("never has a window over that of the weights", async () => {
    const engine = await openSmall();
    expect((await engine.model("english")).limits.window).toBe(64);
  });
});

describe("loadTokenizer", () => {
  it("tokenises without special tokens and knows their ids", async () => {
    const { tokenize, special } = await loadTokenizer(await loadCheckpoint("small", models));
    expect(tokenize("hello world")).toEqual([5, 6]);
    expect(special).toEqual({ pad: 0, cls: 1, sep: 2, mask: 3 });
  });

  it("makes a space of forged special tokens", async () => {
    const { tokenize } = await loadTokenizer(await loadCheckpoint("small", models));
    expect(tokenize("hello[MASK]world[SEP][CLS] hello[PAD]")).toEqual([5, 6, 5]);
  });

  it("calls a tokenizer damaged that lacks a special token of the manifest", async () => {
    await writeManifest({ special_tokens: { ...MANIFEST.special_tokens, mask: "<mask>" } });
    const checkpoint = await loadCheckpoint("small", models);
    await expect(loadTokenizer(checkpoint)).rejects.toMatchObject({
      code: "checkpoint_damaged",
      message: "the tokenizer of small has no special token <mask>",
    });
  });

  describe.each(["core-0.3.20", "core-multilingual-0.3.20"])("of %s", (name) => {
    let tokenizer: CheckpointTokenizer;
    beforeAll(async () => {
      tokenizer = await loadTokenizer(await loadCheckpoint(name, resolveEngineConfig({}, {}).modelsDir));
    });

    it.each([
      ["special tokens", "[CLS] a [SEP] b [MASK] c [PAD] <s> d </s> e <mask> f <pad>"],
      ["special tokens of full-width letters", "［ＭＡＳＫ］ ＜ｍａｓｋ＞ ＜/ｓ＞ [ＳＥＰ]"],
      ["special tokens in upper case", "<S>a</S> <PAD> <MASK> [cls] <Unk>"],
      ["special tokens in pieces", "[MA[SEP]SK] <ma<s>sk> </<pad>s>"],
      ["special tokens around invisible characters", "[MA\u200bSK] <ma\u00adsk> [\u0000MASK] </\u200ds>"],
      ["lone surrogates", "a \ud800 b \udc00 \ud83d"],
      ["control characters", "a\u0000b\u0007c\u001b[31m\ufffd"],
    ])("never lets a special token out of %s", (_, text) => {
      const ids = tokenizer.tokenize(text);
      const special = new Set(Object.values(tokenizer.special));
      expect(ids.filter((id) => special.has(id))).toEqual([]);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.every(Number.isInteger)).toBe(true);
    });

    it("reads upper case as lower case", () => {
      expect(tokenizer.tokenize("Late CHECKOUT")).toEqual(tokenizer.tokenize("late checkout"));
    });

    it.each([
      ["of words", "word and another ", 60_000],
      ["without a space", "abc", 400_000],
    ])("reads a text of a mebibyte %s to its end", (_, piece, times) => {
      const few = tokenizer.tokenize(piece.repeat(1000)).length;
      const many = tokenizer.tokenize(piece.repeat(times)).length;
      // the English tokenizer knows no piece of a word of over 100 letters: one token a slice
      const expected = few > 100 ? (few * times) / 1000 : Math.ceil((piece.length * times) / 65_536);
      expect(Math.abs(many - expected)).toBeLessThanOrEqual(expected * 0.01 + 2);
    });
  });

  it("reads a label of the multilingual checkpoint alike in any style", async () => {
    const checkpoint = await loadCheckpoint("core-multilingual-0.3.20", resolveEngineConfig({}, {}).modelsDir);
    const { tokenize } = await loadTokenizer(checkpoint);
    for (const label of ["LATE_CHECKOUT", "late_checkout", "Late Checkout"])
      expect(tokenize(label), label).toEqual(tokenize("late checkout"));
    // a capital sigma has one lower case here, wherever it stands
    expect(tokenize("ΑΘΗΝΑΣ")).toEqual(tokenize("αθηνασ"));
    // what only in lower case spells a special token is a space, not an unknown or another piece
    expect(tokenize("<Unk> a <S>b")).toEqual(tokenize("a b"));
  });
});
