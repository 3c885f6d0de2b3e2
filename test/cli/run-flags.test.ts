import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { pushFlags } from "../../src/cli/push-flags.js";
import { type RunFlags, runFlags, runOf } from "../../src/cli/run-flags.js";

const folder = mkdtempSync(join(tmpdir(), "qa-run-flags-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const flags = { out: at("answers.csv"), rejects: at("rejects.ndjson"), long: "reject" } as RunFlags;

describe("runOf", () => {
  it("takes what a run has written for no input when a glob finds it, and for one when it is named", async () => {
    for (const name of ["a.csv", "answers.csv", "rejects.ndjson"]) writeFileSync(at(name), "");
    const begun = await runOf(flags, [at("*")]);
    expect(begun.inputs).toEqual([at("a.csv"), at("answers.csv"), at("rejects.ndjson")]); // not qa's, as far as it knows
    for (const name of ["answers.csv.qa", "answers.csv.qa.lock"]) writeFileSync(at(name), "");
    expect((await runOf(flags, [at("*")])).inputs).toEqual([at("a.csv")]);
    expect((await runOf(flags, [at("answers.csv")])).inputs).toEqual([at("answers.csv")]);
  });
});

it("has every flag of qa run under a heading of the help", () => {
  expect(Object.entries(runFlags).filter(([, { helpGroup }]) => helpGroup === undefined)).toEqual([]);
});

it("has what qa run and qa queue push share under the same heading in both", () => {
  const headings = new Map<string, string | undefined>(
    Object.entries(runFlags).map(([name, { helpGroup }]) => [name, helpGroup]),
  );
  const shared = Object.entries(pushFlags).filter(([name]) => headings.has(name) && name !== "out" && name !== "quiet");
  expect(shared.length).toBeGreaterThan(15);
  for (const [name, { helpGroup }] of shared) expect(helpGroup, name).toBe(headings.get(name));
});
