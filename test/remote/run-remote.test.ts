/** A run over our own service: what it writes is, byte for byte, what the engine of this machine would have written. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Answerer, engineAnswerer } from "../../src/batch/answerer.js";
import { openSink } from "../../src/batch/open-sink.js";
import { createTally } from "../../src/batch/progress/tally.js";
import { loadQuestions } from "../../src/batch/questions-file.js";
import { type RunOptions, run } from "../../src/batch/run.js";
import { Engine } from "../../src/engine/engine.js";
import { openRemote } from "../../src/remote/remote-answerer.js";
import { FakeInference } from "../server/fake-inference.js";
import { openApp, temporaryDirectory } from "../server/open-app.js";
import { answer, configOf, openScripted, refuse } from "./scripted-server.js";

const FIXTURES = new URL("../../fixtures/", import.meta.url).pathname;
const folder = temporaryDirectory();
const app = await openApp();
const local = await Engine.open({ workers: 2, modelsDir: join(app.directory, "models") }, new FakeInference());
const questions = await loadQuestions(`${FIXTURES}triage.yaml`);

async function written(answerer: Answerer, options: Partial<RunOptions>): Promise<{ text: string; error: unknown }> {
  const out = join(folder, "out");
  rmSync(out, { force: true });
  const error = await run(answerer, {
    inputs: [`${FIXTURES}tickets.csv`],
    read: {},
    state: {},
    questions: undefined,
    model: undefined,
    output: { format: "ndjson" },
    files: { out },
    sink: await openSink({ files: { out }, restart: true, inputs: [] }),
    tally: createTally(),
    onRow: () => {},
    signal: new AbortController().signal,
    ...options,
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { text: readFileSync(out, "utf8"), error };
}

const remote = () => openRemote(configOf(app.url, { apiKey: app.key }));

describe("a run over our own service", () => {
  it.each([
    ["tickets, a malformed and a too long one among them", { questions, state: { template: "{{subject}}\n{{body}}" } }],
    ["tickets as CSV", { questions, state: { stateColumn: "body" }, output: { format: "csv", probabilities: true } }],
    ["whole rows as JSON", { questions, state: { stateJson: true } }],
    ["rows that are requests of their own", { inputs: [`${FIXTURES}requests.ndjson`] }],
    ["one model for all", { questions, state: { stateColumn: "body" }, model: "core-0.3.20" }],
  ] satisfies [string, Partial<RunOptions>][])("writes the same bytes as over the engine: %s", async (_, options) => {
    const over = await written(remote(), options);
    expect(over.error).toBeUndefined();
    expect(over.text).toBe((await written(engineAnswerer(local), options)).text);
  });

  it("and more questions than a call may have, of texts over the cap of a call", async () => {
    const asked = Array.from({ length: 40 }, (_, i) => [`${i}`, { type: "noul", instructions: `Is ${i} meant?` }]);
    writeFileSync(join(folder, "forty.json"), JSON.stringify(Object.fromEntries(asked)));
    writeFileSync(join(folder, "long.txt"), `${"word ".repeat(300)}\nshort\n${"wort ".repeat(300)}\n`);
    const options = { inputs: [join(folder, "long.txt")], questions: await loadQuestions(join(folder, "forty.json")) };
    const over = await written(remote(), options);
    expect(over.text).toBe((await written(engineAnswerer(local), options)).text);
    expect(over.text).not.toContain('"error"');
  });

  it("ends early at a wrong key, with nothing written", async () => {
    const { text, error } = await written(openRemote(configOf(app.url, { apiKey: "wrong" })), { questions });
    expect(error).toMatchObject({ code: "endpoint_unusable", message: expect.stringContaining("401 unauthorized") });
    expect(text).toBe("");
  });
});

it("a run keeps the rows that an endpoint refused in their place", async () => {
  const { url } = await openScripted((call) =>
    call.body.includes("bad") ? refuse(call, 422, { code: "nope", message: "no" }) : answer(call),
  );
  writeFileSync(join(folder, "rows.txt"), "one\nbad\nthree\n");
  const { text } = await written(openRemote(configOf(url)), { inputs: [join(folder, "rows.txt")], questions });
  const rows = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { error?: { code: string } });
  expect(rows.map(({ error }) => error?.code)).toEqual([undefined, "endpoint_refused", undefined]);
});
