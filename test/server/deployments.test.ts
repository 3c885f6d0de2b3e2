/** The two deployments over their real checkpoints, through the official client: the reference checks of the contract. */

import { choice, noul, score } from "@typesafe-ai/sdk";
import { describe, expect, it } from "vitest";
import { WorkerPool } from "../../src/engine/worker-pool.js";
import { startBuiltWorker } from "../open-engine.js";
import { type Opened, openApp } from "./open-app.js";

const BILLING = "I was charged twice this month. Please refund one of the payments.";
const LONG_ENGLISH =
  "Hello, I am writing about the subscription that I bought for our team last week. The invoice shows two payments for the same " +
  "period, and the second one should not be there. Could you please look into this and send the money back to our card?";
const GERMAN =
  "Guten Tag, mir wurde der Betrag in diesem Monat zweimal abgebucht. Bitte erstatten Sie eine der beiden Zahlungen zurück.";

const questions = {
  refund: noul("Is a refund requested?"),
  team: choice("Which team should answer?", {
    billing: "payments and invoices",
    technical: "errors and crashes",
    sales: null,
  }),
  mood: score("How upset is the writer?", ["calm", "annoyed", "furious"]),
};

const open = (deployment: string) =>
  openApp({ engine: { deployment, workers: 1 }, inference: WorkerPool.open(1, startBuiltWorker) });
const opened: Record<string, Opened> = { a: await open("a"), b: await open("b") };
const at = (deployment: string) => opened[deployment] as Opened;
const modelFor = async (deployment: string, state: string, model?: string) =>
  (
    await at(deployment)
      .client({ timeout: 30_000 })
      .systemOne({ state, questions, ...(model && { model }) })
  ).model;

describe.each([
  ["a", "core-0.3.20", "core-multilingual-0.3.20", 2048],
  ["b", "core-0.3.5", "core-multilingual-0.3.9", 1024],
])("deployment %s", (deployment, english, multilingual, window) => {
  it("sends a short English billing message to its own checkpoint: the reference check", async () => {
    expect(await modelFor(deployment, BILLING)).toBe(deployment === "a" ? "core-multilingual-0.3.20" : "core-0.3.5");
  });

  it("sends longer English to the English checkpoint and German to the multilingual one", async () => {
    expect(await modelFor(deployment, LONG_ENGLISH)).toBe(english);
    expect(await modelFor(deployment, GERMAN)).toBe(multilingual);
  });

  it("answers by name with the checkpoint named, and gives the alias core-multilingual its own", async () => {
    expect(await modelFor(deployment, GERMAN, english)).toBe(english);
    expect(await modelFor(deployment, LONG_ENGLISH, "core-multilingual")).toBe(multilingual);
  });

  it("lists its aliases and its two checkpoints", async () => {
    const names = (await at(deployment).client().models.list()).map(({ name }) => name);
    const aliases =
      "compat-latest compat-preview compat-1.13.0 core-latest jev-latest jev-preview jev-1.13.0 core-multilingual";
    expect(names).toEqual([...aliases.split(" "), english, multilingual]);
  });

  it(`has a multilingual window of ${window} tokens`, async () => {
    const { json } = await at(deployment).call("/app/room", { json: { state: "x", questions } });
    const checkpoints = json.checkpoints as { checkpoint: string; window: number }[];
    expect(checkpoints.map(({ checkpoint, window: tokens }) => [checkpoint, tokens])).toEqual([
      [english, 512],
      [multilingual, window],
    ]);
  });
});

it("answers a call alone as it does among others, to four decimals", async () => {
  const states = [BILLING, LONG_ENGLISH, GERMAN, "Hi", `${LONG_ENGLISH} ${LONG_ENGLISH}`];
  const ask = async (state: string) =>
    (await at("a").client({ timeout: 30_000 }).systemOne({ state, questions })).answers;
  const alone = [];
  for (const state of states) alone.push(await ask(state));
  const together = await Promise.all([...states, ...states].map(ask));
  for (const [i, answers] of together.entries()) expect(answers).toEqual(alone[i % states.length]);
});
