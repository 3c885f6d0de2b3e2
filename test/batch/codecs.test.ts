import { describe, expect, it } from "vitest";
import { codecOfName, codecsOf, withoutCodec } from "../../src/batch/codecs.js";
import { packingOf } from "../../src/batch/write/pack.js";

const WITHOUT_ZSTD = codecsOf({});
const WITH_ZSTD = codecsOf({ zstdCompress: (block, done) => done(null, Buffer.concat([Buffer.from("Z"), block])) });

describe("codecs by the names of files", () => {
  it.each([
    ["a.csv.gz", "gzip", "a.csv"],
    ["a.ndjson.ZST", "zstd", "a.ndjson"],
    ["a.csv", undefined, "a.csv"],
    ["gz", undefined, "gz"],
    ["dir.gz/a.csv", undefined, "dir.gz/a.csv"],
  ])("of %s: %s", (file, name, plain) => {
    expect(codecOfName(file)?.name).toBe(name);
    expect(withoutCodec(file)).toBe(plain);
  });
});

describe("packingOf", () => {
  it("unpacks what it packed, members one after the other", async () => {
    const packing = packingOf("a.csv.gz");
    const members = await Promise.all(["one\n", "two\n"].map((text) => packing?.pack(Buffer.from(text))));
    const bytes = Buffer.concat(members.filter((member) => member !== undefined));
    expect((await packing?.unpack(bytes))?.toString()).toBe("one\ntwo\n");
  });

  it("packs by the output's name, blocks by themselves, and nothing without such a name", async () => {
    expect(packingOf("a.csv", WITH_ZSTD)).toBeUndefined();
    const gzip = await packingOf("a.csv.gz", WITH_ZSTD)?.pack(Buffer.from("rows\n"));
    expect([...(gzip ?? [])].slice(0, 2)).toEqual([0x1f, 0x8b]);
    expect((await packingOf("a.csv.zst", WITH_ZSTD)?.pack(Buffer.from("rows\n")))?.toString()).toBe("Zrows\n");
  });

  it("says which Node has zstd where this one has none, and what to do", () => {
    expect(() => packingOf("a.csv.zst", WITHOUT_ZSTD)).toThrow(
      /^a\.csv\.zst: zstd needs Node 22\.15, 23\.8 or newer, and this is v\d.*; name it a\.csv\.gz, or pack stdout/,
    );
  });
});
