import { describe, expect, it } from "vitest";
import { createDecoder, type Encoding, isDamaged, mendText } from "../../../src/batch/read/decode-text.js";

function decode(bytes: Uint8Array, cut: number, encoding: Encoding = "utf-8"): string {
  const decoder = createDecoder(encoding);
  return decoder.push(bytes.subarray(0, cut)) + decoder.push(bytes.subarray(cut)) + decoder.end();
}

const TEXT = "aé漢😀\u2028\u0000z\n";

describe("createDecoder", () => {
  it.each([
    ["utf-8", Buffer.from(TEXT)],
    ["utf-16le", Buffer.from(TEXT, "utf16le")],
    ["utf-16be", Buffer.from(TEXT, "utf16le").swap16()],
  ] as const)("decodes %s, wherever the bytes are cut", (encoding, bytes) => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(decode(bytes, cut, encoding)).toBe(TEXT);
  });

  it.each([
    ["utf-8", Buffer.from("\ufeffa\ufeffb")],
    ["utf-16le", Buffer.from("\ufeffa\ufeffb", "utf16le")],
    ["utf-16be", Buffer.from("\ufeffa\ufeffb", "utf16le").swap16()],
  ] as const)("takes the byte order mark off the start of %s, and only there", (encoding, bytes) => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(decode(bytes, cut, encoding)).toBe("a\ufeffb");
  });

  it.each([
    ["a Latin-1 letter", [0x63, 0xe9, 0x2c], "c\udce9,"],
    ["a lone continuation byte", [0x61, 0x80, 0x62], "a\udc80b"],
    ["an overlong slash", [0xc0, 0xaf], "\udcc0\udcaf"],
    ["a surrogate in UTF-8", [0xed, 0xa0, 0x80], "\udced\udca0\udc80"],
    ["a sequence cut by a line end", [0xe6, 0xbc, 0x0a, 0x61], "\udce6\udcbc\na"],
    ["a sequence cut by the end", [0x61, 0xf0, 0x9f, 0x98], "a\udcf0\udc9f\udc98"],
    ["valid letters around", [0xc3, 0xa9, 0xff, 0xc3, 0xa9], "é\udcffé"],
  ])("marks %s byte by byte, wherever the bytes are cut", (_, bytes, text) => {
    for (let cut = 0; cut <= bytes.length; cut++) expect(decode(Uint8Array.from(bytes), cut)).toBe(text);
    expect(isDamaged(text)).toBe(true);
  });

  it("marks every byte that TextDecoder would replace, and none other", () => {
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let seed = 5;
    for (let round = 0; round < 20_000; round++) {
      const bytes = Uint8Array.from({ length: 1 + (round % 6) }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return (seed >>> 16) & 0xff;
      });
      let valid: string | undefined;
      try {
        valid = strict.decode(bytes);
      } catch {
        valid = undefined;
      }
      const text = decode(bytes, bytes.length >> 1);
      if (valid === undefined) expect(isDamaged(text)).toBe(true);
      else expect(text).toBe(valid);
    }
  });

  it("marks half a UTF-16 character at the end", () => {
    expect(isDamaged(decode(Buffer.from([0x61, 0x00, 0x62]), 1, "utf-16le"))).toBe(true);
    expect(isDamaged(decode(Buffer.from([0x00, 0x61, 0x00]), 2, "utf-16be"))).toBe(true);
  });
});

describe("isDamaged", () => {
  it("takes U+FFFD and astral characters that stood in the text for sound", () => {
    expect(isDamaged("\ufffd 😀 \u{10ffff}")).toBe(false);
  });
});

describe("mendText", () => {
  it("shows each damaged byte as U+FFFD", () => {
    expect(mendText("a\udce9😀\udc80")).toBe("a\ufffd😀\ufffd");
  });
});
