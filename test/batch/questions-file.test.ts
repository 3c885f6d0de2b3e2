import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadPreset, loadQuestions } from "../../src/batch/questions-file.js";
import { PACKAGE_DIR } from "../../src/config.js";
import { QaError } from "../../src/errors.js";

const folder = mkdtempSync(join(tmpdir(), "qa-questions-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function failure(load: Promise<unknown>): Promise<QaError> {
  const error = await load.catch((caught: unknown) => caught);
  if (!(error instanceof QaError)) throw new Error("did not fail");
  return error;
}

describe("a questions file", () => {
  it.each([
    ["q.json", '{"$schema":"x","n":{"type":"choice","criteria":{"10":null,"2":"two"}}}'],
    ["q.yaml", "$schema: x\nn:\n  type: choice\n  criteria:\n    10:\n    2: two\n"],
  ])("%s keeps the order of integer-like labels, and $schema is no question", async (name, text) => {
    const [question, ...others] = await loadQuestions(file(name, text));
    expect(others).toEqual([]);
    expect(question?.options.map(({ label }) => label)).toEqual(["10", "2"]);
  });

  it("understands true and false as keys of YAML criteria", async () => {
    const [question] = await loadQuestions(
      file("n.yaml", "n:\n  type: noul\n  criteria:\n    true: paid\n    false: open\n"),
    );
    expect(question?.options.map(({ description }) => description)).toEqual(["open", "paid"]);
  });

  it("reports every issue with its place in the file", async () => {
    const error = await failure(loadQuestions(file("bad.yaml", "a:\n  type: maybe\nb:\n  type: score\n")));
    expect(error.code).toBe("invalid_usage");
    expect(error.message).toContain("bad.yaml has 2 issues");
    expect(error.message).toContain("a.type: ");
    expect(error.message).toContain("b.criteria: ");
  });

  it.each([
    ["is no YAML", "broken.yaml", "a: [", "with a ] at line 1, column 5"],
    ["is no JSON", "broken.json", "{", "is not JSON"],
    ["is a list", "list.yaml", "- a\n", "must be an object"],
    ["is empty", "empty.yaml", "", "must be an object"],
  ])("that %s is an error that names the file", async (_, name, text, reason) => {
    const error = await failure(loadQuestions(file(name, text)));
    expect(error.message).toContain(name);
    expect(error.message).toContain(reason);
  });

  it("that is not there is an error that names it", async () => {
    expect((await failure(loadQuestions(join(folder, "none.yaml")))).message).toMatch(/none\.yaml \(ENOENT\)/);
  });
});

describe("a preset", () => {
  it("is found by its name", async () => {
    expect((await loadPreset("guard", `${PACKAGE_DIR}presets`)).length).toBeGreaterThan(4);
  });

  it.each(["none", "../fixtures/triage", ""])("of the name %j is an error that lists the presets", async (name) => {
    const { message } = await failure(loadPreset(name, `${PACKAGE_DIR}presets`));
    expect(message).toContain("email, guard, moderation, review, triage");
  });
});
