import { describe, expect, it } from "vitest";
import { type ChunkResult, chunkState, type StateChunk } from "../../src/decision/chunk.js";
import { type JsonValue, renderText } from "../../src/decision/json.js";
import type { State } from "../../src/decision/request.js";

/** Most calls of `fits` a chunk, on average over a state, whatever the script. */
const CALLS_PER_CHUNK = 12;
/** Calls before the first chunk: the whole state, the first guess, what must be kept. */
const CALLS_TO_START = 12;

const LONE_SURROGATE = /\p{Cs}/u;
const LONE_SURROGATES = /\p{Cs}/gu;

/** Pieces of at most four letters, and every other visible character: about what a word-piece tokenizer makes. */
function tokensOf(state: State): number {
  return renderText(state).match(/\p{L}{1,4}|\S/gu)?.length ?? 0;
}

function chunk(state: State, { room, overlap = 0 }: { room: number; overlap?: number }) {
  let calls = 0;
  const fits = (candidate: State) => {
    calls++;
    return tokensOf(candidate) <= room;
  };
  return { ...chunksOf(chunkState(state, { fits, overlap })), calls: () => calls };
}

function chunksOf(result: ChunkResult): { chunks: readonly StateChunk[] } {
  if (result.type !== "chunks") throw new Error(`unchunkable at ${result.path.join(".")}: ${result.reason}`);
  return result;
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

const PIECES: Record<string, readonly string[]> = {
  english: [
    "The ",
    "refund ",
    "for order 12 ",
    "did not arrive. ",
    "Why? ",
    "Mr. Smith, ",
    "thanks!\n",
    "\n\n",
    "e.g. (so) ",
  ],
  windows: ["First line\r\n", "and a second. ", "\r\n\r\n", "\r\n \t\r\n", "word ", "Ende."],
  chinese: ["你好，", "世界。", "我的订单还没有到", "？", "退款", "\n\n", "“请尽快处理”"],
  thai: ["สวัสดีครับ", "ผมยังไม่ได้รับสินค้า", "ขอเงินคืน ", "น้ำ", "ทำ", "\n\n"],
  marks: ["e\u0301", " \u0301", "नमस्ते ", "क्षत्रिय। ", "g\u0308\u0323", "\n\n", " ", "한국어 ", "ﷺ "],
  emoji: ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", " ", "🇩🇪", "1️⃣", "❤️", "ok ", "\n\n", "𝒜𝒷"],
  long: ["x", "https://example.org/a/b?c=d", "Donaudampfschifffahrt", "-", "_", "1234567890", " ", ". "],
  broken: ["\ud800", "\udc00", "a", " ", "\ud83d", ". ", "\n\n", "é"],
};

function randomText(script: string, seed: number): string {
  const random = createRandom(seed);
  const pieces = script === "mixed" ? Object.values(PIECES).flat() : (PIECES[script] ?? []);
  return Array.from({ length: 50 + random(600) }, () => pieces[random(pieces.length)]).join("");
}

const SCRIPTS = [...Object.keys(PIECES), "mixed"];
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const CASES = SCRIPTS.flatMap((script) => [
  { script, room: 25, overlap: 0 },
  { script, room: 90, overlap: 2 },
]);

function clusterBorders(text: string): Set<number> {
  const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  return new Set([...Array.from(clusters, ({ index }) => index), text.length]);
}

describe("chunkState on strings", () => {
  it.each(CASES)("covers $script texts without loss, in chunks that fit $room tokens", ({ script, ...options }) => {
    for (const text of SEEDS.map((seed) => randomText(script, seed))) {
      let covered = 0;
      for (const { state, from, to } of chunk(text, options).chunks) {
        expect(state).toBe(text.slice(from, to));
        expect(tokensOf(state)).toBeLessThanOrEqual(options.room);
        expect(text.slice(covered, Math.max(covered, from)).trim()).toBe("");
        expect(to).toBeGreaterThan(covered);
        if (options.overlap === 0) expect(from).toBeGreaterThanOrEqual(covered);
        covered = to;
      }
      expect(text.slice(covered).trim()).toBe("");
    }
  });

  it.each(CASES)("tears no grapheme cluster of $script texts in $room tokens", ({ script, ...options }) => {
    for (const text of SEEDS.map((seed) => randomText(script, seed))) {
      const borders = clusterBorders(text);
      const torn = chunk(text, options).chunks.filter(({ from, to }) => !borders.has(from) || !borders.has(to));
      expect(torn).toEqual([]);
    }
  });

  it.each(CASES)(`asks at most ${CALLS_PER_CHUNK} times a chunk of $script texts`, ({ script, ...options }) => {
    for (const text of SEEDS.map((seed) => randomText(script, seed))) {
      const { chunks, calls } = chunk(text, options);
      expect(calls()).toBeLessThanOrEqual(CALLS_TO_START + CALLS_PER_CHUNK * chunks.length);
    }
  });

  it.each(SCRIPTS)("repeats at most half the room of %s texts, from the chunk before", (script) => {
    for (const text of SEEDS.map((seed) => randomText(script, seed))) {
      const { chunks } = chunk(text, { room: 90, overlap: 2 });
      chunks.slice(1).forEach(({ from }, i) => {
        const repeated = text.slice(from, Math.max(from, chunks[i]?.to ?? from));
        expect(from).toBeGreaterThanOrEqual(chunks[i]?.from ?? 0);
        expect(tokensOf(repeated.repeat(2))).toBeLessThanOrEqual(90);
      });
    }
  });

  it("asks once, and returns one chunk, where all of it fits", () => {
    const { chunks, calls } = chunk("One. Two.", { room: 10 });
    expect(chunks).toEqual([{ state: "One. Two.", path: [], from: 0, to: 9 }]);
    expect(calls()).toBe(1);
  });

  it("packs as many whole paragraphs as fit", () => {
    const { chunks } = chunk("One two.\n\nThree four.\r\n\r\nFive six.\n\nSeven.", { room: 7 });
    expect(chunks.map(({ state }) => state)).toEqual(["One two.\n\nThree four.", "Five six.\n\nSeven."]);
  });

  it("cuts a paragraph that does not fit at its sentences", () => {
    const { chunks } = chunk("One two. Red blue. Five six.\n\nTen.", { room: 6 });
    expect(chunks.map(({ state }) => state)).toEqual(["One two. Red blue.", "Five six.\n\nTen."]);
  });

  it("keeps a heading with the beginning of a paragraph that must be cut", () => {
    const { chunks } = chunk("Head\n\nOne two. Red blue. Five six.", { room: 7 });
    expect(chunks.map(({ state }) => state)).toEqual(["Head\n\nOne two. Red blue.", "Five six."]);
  });

  it("leaves a paragraph that fits alone whole, for a chunk of its own", () => {
    const { chunks } = chunk("Head one two six.\n\nOne two. Red blue.", { room: 6 });
    expect(chunks.map(({ state }) => state)).toEqual(["Head one two six.", "One two. Red blue."]);
  });

  it("cuts a sentence that does not fit between words, also where the script has no spaces", () => {
    expect(chunk("one two red blue five", { room: 2 }).chunks.map(({ state }) => state)).toEqual([
      "one two",
      "red blue",
      "five",
    ]);
    const words = new Set(
      Array.from(new Intl.Segmenter("th", { granularity: "word" }).segment("สวัสดีครับผมชื่อสมชาย"), (w) => w.index),
    );
    const { chunks } = chunk("สวัสดีครับผมชื่อสมชาย", { room: 6 });
    expect(chunks.length).toBeGreaterThan(1);
    for (const { from } of chunks) expect(words.has(from)).toBe(true);
  });

  it("cuts a word that does not fit between grapheme clusters", () => {
    const { chunks } = chunk("👍🏽".repeat(5), { room: 5 });
    expect(chunks.map(({ state }) => state)).toEqual(["👍🏽👍🏽", "👍🏽👍🏽", "👍🏽"]);
  });

  it("cuts a cluster that does not fit between code points, never inside a surrogate pair", () => {
    const family = "👨‍👩‍👧‍👦";
    const { chunks } = chunk(family, { room: 3 });
    expect(chunks.map(({ state }) => state).join("")).toBe(family);
    for (const { state } of chunks) expect(LONE_SURROGATE.test(state as string)).toBe(false);
  });

  it("repeats the last sentences of a chunk at the start of the next", () => {
    const text = "One two. Red blue. Five six. Ten gold. Moon sun. End now.";
    expect(chunk(text, { room: 9, overlap: 1 }).chunks.map(({ state }) => state)).toEqual([
      "One two. Red blue. Five six.",
      "Five six. Ten gold. Moon sun.",
      "Moon sun. End now.",
    ]);
  });

  it("repeats fewer sentences rather than more than half the room", () => {
    const { chunks } = chunk("One two. Red blue. Five six. Ten gold. Moon sun.", { room: 9, overlap: 5 });
    expect(chunks.map(({ state }) => state)[1]).toBe("Five six. Ten gold. Moon sun.");
  });

  it("gives up the overlap rather than tear the next sentence", () => {
    const { chunks } = chunk("A b. C d. One two red blue six ten.", { room: 8, overlap: 1 });
    expect(chunks.map(({ state }) => state)).toEqual(["A b. C d.", "One two red blue six ten."]);
  });

  it("cuts a text of one line, however long, in few calls", () => {
    const { chunks, calls } = chunk("word and more ".repeat(20_000), { room: 400 });
    expect(calls() / chunks.length).toBeLessThan(10);
  });

  it("fills every chunk of one endless word but the last", () => {
    const { chunks } = chunk("ab".repeat(20_000), { room: 400 });
    expect(chunks.map(({ from }) => from)).toEqual(Array.from({ length: 25 }, (_, i) => 1600 * i));
  });

  it("makes one empty chunk of whitespace that does not fit", () => {
    const result = chunkState(" \n".repeat(50), {
      fits: (state) => tokensOf(state) === 0 && renderText(state).length < 9,
      overlap: 0,
    });
    expect(result).toEqual({ type: "chunks", chunks: [{ state: "", path: [], from: 0, to: 0 }] });
  });
});

describe("chunkState on JSON", () => {
  const turns = Array.from({ length: 40 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "agent",
    content: `Turn ${i} says so. `.repeat(1 + (i % 5)),
  }));

  it("cuts a conversation between turns, each turn once and in order", () => {
    const { chunks } = chunk(turns, { room: 150 });
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.flatMap(({ state }) => state)).toEqual(turns);
    for (const { state, path, from, to } of chunks) {
      expect(path).toEqual([]);
      expect(state).toEqual(turns.slice(from, to));
      expect(tokensOf(state)).toBeLessThanOrEqual(150);
    }
  });

  it("repeats the last items of a list where overlap is asked for", () => {
    const { chunks } = chunk(turns, { room: 200, overlap: 1 });
    chunks.slice(1).forEach(({ from }, i) => {
      expect(from).toBe((chunks[i]?.to ?? 0) - 1);
    });
    expect(chunks.at(-1)?.to).toBe(turns.length);
  });

  it("chunks an item that is too large alone by its longest string, as a list of one", () => {
    const long = { role: "user", content: "One two three four. ".repeat(60) };
    const { chunks } = chunk([turns[0], long, turns[1]] as State, { room: 100 });
    expect(chunks[0]).toMatchObject({ state: [turns[0]], path: [], from: 0, to: 1 });
    expect(chunks.at(-1)).toMatchObject({ state: [turns[1]], path: [], from: 2, to: 3 });
    const inner = chunks.slice(1, -1);
    expect(inner.length).toBeGreaterThan(2);
    for (const { state, path, from, to } of inner) {
      expect(path).toEqual([1, "content"]);
      expect(state).toEqual([{ role: "user", content: long.content.slice(from, to) }]);
    }
  });

  it("chunks the largest field of an object and keeps the others, and their order, in every chunk", () => {
    const state = { subject: "Refund please", ticket: { body: "One two. ".repeat(100), open: true }, tags: ["a", "b"] };
    const { chunks } = chunk(state, { room: 100 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const { state: part, path, from, to } of chunks) {
      expect(path).toEqual(["ticket", "body"]);
      const body = state.ticket.body.slice(from, to);
      expect(renderText(part)).toBe(renderText({ ...state, ticket: { body, open: true } }));
      expect(tokensOf(part)).toBeLessThanOrEqual(100);
    }
  });

  it("chunks a field that is a list by its items", () => {
    const { chunks } = chunk({ channel: "chat", messages: turns }, { room: 150 });
    expect(chunks.flatMap(({ state }) => (state as { messages: JsonValue[] }).messages)).toEqual(turns);
    for (const { state, path } of chunks) {
      expect(path).toEqual(["messages"]);
      expect(state).toMatchObject({ channel: "chat" });
    }
  });

  it("keeps a Map a Map, with its keys in their order", () => {
    const state = new Map<string, JsonValue>([
      ["b", "kept"],
      ["10", "One two. ".repeat(50)],
      ["2", null],
    ]);
    for (const { state: part } of chunk(state, { room: 60 }).chunks) {
      expect(part).toBeInstanceOf(Map);
      expect([...(part as Map<string, JsonValue>).keys()]).toEqual(["b", "10", "2"]);
    }
  });

  it("leaves the state it is given as it was", () => {
    const state = { subject: "s", body: "One two. ".repeat(50) };
    const before = structuredClone(state);
    chunk(state, { room: 40 });
    expect(state).toEqual(before);
  });

  it.each(SCRIPTS)("covers every string and item of random JSON of %s text", (script) => {
    for (let seed = 1; seed <= 5; seed++) {
      const items = [1, 2, 3, 4, 5].map((i) => ({
        n: i,
        said: randomText(script, seed * i)
          .slice(0, 60 * i * i)
          .replace(LONE_SURROGATES, ""),
      }));
      const { chunks, calls } = chunk({ kind: "log", items }, { room: 130 });
      const said = chunks.flatMap(({ state }) => (state as { items: typeof items }).items);
      for (const { n, said: text } of items) {
        const parts = said.filter((item) => item.n === n).map((item) => item.said);
        expect(parts.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      }
      for (const { state } of chunks) expect(tokensOf(state)).toBeLessThanOrEqual(130);
      expect(calls()).toBeLessThanOrEqual(CALLS_TO_START + CALLS_PER_CHUNK * chunks.length);
    }
  });
});

describe("chunkState on what cannot be chunked", () => {
  const long = "One two. ".repeat(50);
  const longer = "One two. ".repeat(60);
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`key${i}`, i]));
  it.each<{ what: string; state: State; room: number; path: (string | number)[]; reason: string }>([
    {
      what: "a second field that is too large",
      state: { body: longer, subject: long },
      room: 40,
      path: ["subject"],
      reason: "rest",
    },
    {
      what: "a second field of an item, by the item's own place",
      state: { messages: ["a", { text: longer, raw: { html: long } }] },
      room: 40,
      path: ["messages", 1, "raw", "html"],
      reason: "rest",
    },
    {
      what: "fields too large together, by no path",
      state: { body: long, ...many },
      room: 100,
      path: [],
      reason: "rest",
    },
    { what: "an object without text", state: { numbers: many }, room: 100, path: ["numbers"], reason: "rest" },
    {
      what: "a number too long for the room",
      state: [12345678901234567890n.toString().length, 1e20],
      room: 12,
      path: [1],
      reason: "indivisible",
    },
    { what: "a room without place for a character", state: "ab", room: 0, path: [], reason: "indivisible" },
  ])("names $what", ({ state, room, path, reason }) => {
    const result = chunkState(state, { fits: (candidate) => tokensOf(candidate) <= room, overlap: 1 });
    expect(result).toEqual({ type: "unchunkable", path, reason });
  });
});
