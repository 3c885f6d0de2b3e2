import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolveInputs } from "../../../src/batch/read/inputs.js";

describe("resolveInputs", () => {
  let directory = "";
  const at = (name: string) => join(directory, name);
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "qa-inputs-"));
    mkdirSync(at("sub"));
    for (const name of ["b.csv", "a.csv", "c.txt", "x[1].csv", "x1.csv", "sub/d.csv"]) writeFileSync(at(name), "");
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it("keeps the order of the names given, each file once", async () => {
    expect(await resolveInputs([at("c.txt"), "-", at("a.csv"), at("c.txt")])).toEqual([at("c.txt"), "-", at("a.csv")]);
  });

  it("sorts what a glob matches, without files of other folders", async () => {
    expect(await resolveInputs([at("[ab].csv")])).toEqual([at("a.csv"), at("b.csv")]);
    expect(await resolveInputs([at("**/{d,b}.csv")])).toEqual([at("b.csv"), at("sub/d.csv")]);
  });

  it("takes a name that exists for that file, also where it reads as a glob", async () => {
    expect(await resolveInputs([at("x[1].csv")])).toEqual([at("x[1].csv")]);
  });

  it.each([
    ["nothing", [], "input_missing", "name files, globs, or - to read stdin"],
    ["a file that is not there", ["none.csv"], "input_missing", "no file none.csv"],
    ["a glob without a match", ["none-*.csv"], "input_missing", "no file matches none-*.csv"],
    ["stdin twice", ["-", "-"], "invalid_usage", "stdin can be read once"],
    ["a directory", ["src/"], "input_unsupported", "src/ is a directory; name its files, for example 'src/*.csv'"],
  ])("rejects %s and says what to do", async (_, patterns, code, message) => {
    await expect(resolveInputs(patterns)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});
