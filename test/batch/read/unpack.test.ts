import { Transform } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { CODECS, type Codec, codecsOf } from "../../../src/batch/codecs.js";
import { unpacked } from "../../../src/batch/read/unpack.js";
import { createFrameSplitter, type FramePart } from "../../../src/batch/read/zstd-frames.js";
import { QaError } from "../../../src/errors.js";

interface FrameOptions {
  readonly blockBytes?: number;
  readonly checksum?: boolean;
  /** Bytes of the dictionary's id. */
  readonly dictionary?: 0 | 1 | 2 | 4;
  /** Bytes of the content's size; 1 makes a single segment. */
  readonly contentSize?: 0 | 1 | 2 | 4 | 8;
}

/** A zstd frame of raw blocks, as RFC 8878 lays it out. */
function frameOf(
  text: string,
  { blockBytes = 10, checksum = false, dictionary = 0, contentSize = 0 }: FrameOptions = {},
): Buffer {
  const flags = [0, 1, 2, 4].indexOf(dictionary) | (checksum ? 4 : 0) | (contentSize === 1 ? 0x20 : 0);
  const descriptor = flags | ([0, 2, 4, 8].indexOf(contentSize === 1 ? 0 : contentSize) << 6);
  const head = [0x28, 0xb5, 0x2f, 0xfd, descriptor, ...Array(contentSize === 1 ? 0 : 1).fill(0)];
  const blocks: Buffer[] = [Buffer.from([...head, ...Array(dictionary + contentSize).fill(7)])];
  const bytes = Buffer.from(text);
  for (let at = 0; at === 0 || at < bytes.length; at += blockBytes) {
    const own = bytes.subarray(at, at + blockBytes);
    const header = (own.length << 3) | (at + blockBytes >= bytes.length ? 1 : 0);
    blocks.push(Buffer.from([header & 0xff, (header >> 8) & 0xff, header >> 16]), own);
  }
  return Buffer.concat([...blocks, Buffer.alloc(checksum ? 4 : 0, 9)]);
}

const SKIPPABLE = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0x28, 0xb5, 0x2f]);

/** Like Node's stream: reads one frame of raw blocks without dictionary or size, and is silent about all that follows. */
function createOneFrameUnpacker(): Transform {
  let packed = Buffer.alloc(0);
  let at = 6;
  let isLast = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      packed = Buffer.concat([packed, chunk]);
      while (!isLast && packed.length >= at + 3) {
        const header = packed.readUIntLE(at, 3);
        if ((header & 6) !== 0) return done(new Error("damaged"));
        const end = at + 3 + (header >> 3);
        if (packed.length < end) break;
        this.push(packed.subarray(at + 3, end));
        isLast = (header & 1) === 1;
        at = end;
      }
      done();
    },
  });
}

const withZstd: readonly Codec[] = codecsOf({ createZstdDecompress: createOneFrameUnpacker });

async function unpack(
  bytes: Buffer,
  { chunk = bytes.length, codecs = withZstd }: { chunk?: number; codecs?: readonly Codec[] } = {},
): Promise<{ text: string; error: unknown }> {
  async function* chunks() {
    const first = Math.max(chunk, 4); // as bytes.ts has it
    yield bytes.subarray(0, first);
    for (let at = first; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  let text = "";
  try {
    for await (const part of unpacked("f.zst", chunks(), codecs)) text += Buffer.from(part).toString();
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

describe("zstd input", () => {
  const text = "one row\nanother row of the file\nand a third\n";
  const many = Buffer.concat([frameOf(text), SKIPPABLE, frameOf("", {}), frameOf(text, { checksum: true }), SKIPPABLE]);

  it("is unpacked frame by frame, however the bytes come", async () => {
    for (const chunk of [1, 2, 3, 5, 7, 64, 1000])
      expect(await unpack(many, { chunk })).toEqual({ text: text + text, error: undefined });
  });

  it("may begin with a frame that is to be skipped only by a later chunk's magic", async () => {
    expect((await unpack(Buffer.concat([frameOf("a"), SKIPPABLE, frameOf("b")]))).text).toBe("ab");
  });

  it("that was cut off anywhere hands on what is there and then says so", async () => {
    const whole = frameOf(text);
    for (let end = 4; end < whole.length; end++) {
      const { text: got, error } = await unpack(whole.subarray(0, end));
      expect(text.startsWith(got)).toBe(true);
      expect(error).toMatchObject({
        code: "input_damaged",
        message: expect.stringContaining("ends before its zstd data does"),
      });
    }
    expect((await unpack(whole.subarray(0, whole.length - 1))).text.length).toBeGreaterThan(20);
  });

  it.each([
    ["damaged inside", Buffer.concat([frameOf(text).subarray(0, 6), Buffer.from([0xff, 0xff, 0xff]), Buffer.alloc(9)])],
    ["followed by something else", Buffer.concat([frameOf(text), Buffer.from("something else")])],
  ])("that is %s is an error", async (_, bytes) => {
    expect((await unpack(bytes)).error).toMatchObject({
      code: "input_damaged",
      message: expect.stringContaining("holds damaged zstd data"),
    });
  });

  it("is refused with what to do where this Node has no zstd", async () => {
    const { text: got, error } = await unpack(frameOf(text), { codecs: codecsOf({}) });
    expect(got).toBe("");
    expect(error).toBeInstanceOf(QaError);
    expect((error as QaError).message).toMatch(
      /^f\.zst is zstd data; zstd needs Node 22\.15, 23\.8 or newer, and this is v\d.*; unpack it first: zstd -dc f\.zst \| qa run - --from FORMAT$/,
    );
  });
});

describe("createFrameSplitter", () => {
  const shapes: readonly FrameOptions[] = ([0, 1, 2, 4] as const).flatMap((dictionary) =>
    ([0, 1, 2, 4, 8] as const).flatMap((contentSize) =>
      [false, true].map((checksum) => ({ dictionary, contentSize, checksum })),
    ),
  );

  it("finds where frames of every form of header end, byte by byte", () => {
    const frames = shapes.map((shape, i) => frameOf("some text ".repeat(i % 5), shape));
    for (const chunk of [1, 3, 1000]) {
      const splitter = createFrameSplitter();
      const bytes = Buffer.concat(frames);
      const parts: FramePart[] = [];
      for (let at = 0; at < bytes.length; at += chunk) parts.push(...splitter.push(bytes.subarray(at, at + chunk)));
      const found: Buffer[] = [];
      let open: Uint8Array[] = [];
      for (const part of parts) {
        if (part.type === "bytes") open.push(part.bytes);
        else {
          found.push(Buffer.concat(open));
          open = [];
        }
      }
      expect(found.map((frame) => frame.toString("hex"))).toEqual(frames.map((frame) => frame.toString("hex")));
      expect(splitter.isWhole()).toBe(true);
    }
  });
});

describe("every codec that this Node has", () => {
  const own = CODECS.filter(({ pack, createUnpacker }) => pack !== undefined && createUnpacker !== undefined);

  it.each(own.map((codec) => [codec.name, codec] as const))(
    "unpacks the blocks that it packed: %s",
    async (_, { pack }) => {
      const blocks = await Promise.all(["one\n".repeat(5000), "", "two\n"].map((text) => pack?.(Buffer.from(text))));
      const bytes = Buffer.concat(blocks.filter((block) => block !== undefined));
      const whole = { text: `${"one\n".repeat(5000)}two\n`, error: undefined };
      expect(await unpack(bytes, { codecs: CODECS })).toEqual(whole);
      expect(await unpack(bytes, { codecs: CODECS, chunk: 5 })).toEqual(whole);
      expect((await unpack(bytes.subarray(0, -1), { codecs: CODECS })).error).toMatchObject({ code: "input_damaged" });
    },
  );
});

describe("other input", () => {
  it("passes as it is", async () => {
    expect((await unpack(Buffer.from("plain text"), { chunk: 4 })).text).toBe("plain text");
  });

  it("is unpacked as gzip by its bytes, members one after the other", async () => {
    expect((await unpack(Buffer.concat([gzipSync("a"), gzipSync("b")]), { chunk: 7 })).text).toBe("ab");
  });
});
