import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDeployment, modelNames, resolveModel } from "../../src/engine/deployment.js";
import { Engine } from "../../src/engine/engine.js";
import { createFakeInference } from "../fake-inference.js";

const DIRECTORY = fileURLToPath(new URL("../../deployments", import.meta.url));
const ROUTED = [
  "compat-latest",
  "compat-preview",
  "compat-1.13.0",
  "core-latest",
  "jev-latest",
  "jev-preview",
  "jev-1.13.0",
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "qa-deployment-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Writes deployment A with changes to a file of its own. */
async function writeDeployment(name: string, changes: object): Promise<string> {
  const base = JSON.parse(await readFile(join(DIRECTORY, "a.json"), "utf8")) as object;
  const path = join(folder, `${name}.json`);
  await writeFile(path, JSON.stringify({ ...base, name, ...changes }));
  return path;
}

describe("the deployments that ship with qa", () => {
  it.each([
    ["a", "core-0.3.20", "core-multilingual-0.3.20", 2048, { undecided: "multilingual", englishMinLetters: 160 }],
    ["b", "core-0.3.5", "core-multilingual-0.3.9", 1024, { undecided: "english", englishMinLetters: 0 }],
  ])("%s has the constants of the contract", async (name, english, multilingual, window, routing) => {
    expect(await loadDeployment(name, DIRECTORY)).toEqual({
      name,
      checkpoints: { english, multilingual },
      limits: {
        english: { window: 512, cap: 3500, maxQuestions: 32 },
        multilingual: { window, cap: 6000, maxQuestions: 32 },
      },
      choiceNeedsInstructions: false,
      defaultModel: "compat-latest",
      aliases: { ...Object.fromEntries(ROUTED.map((alias) => [alias, "routed"])), "core-multilingual": "multilingual" },
      routing,
    });
  });

  it.each(["a", "b"])("%s resolves its names: aliases, then both checkpoints", async (name) => {
    const deployment = await loadDeployment(name, DIRECTORY);
    const { english, multilingual } = deployment.checkpoints;
    expect(modelNames(deployment)).toEqual([...ROUTED, "core-multilingual", english, multilingual]);
    for (const alias of [...ROUTED, undefined]) expect(resolveModel(deployment, alias)).toEqual({ type: "routed" });
    for (const model of ["core-multilingual", multilingual])
      expect(resolveModel(deployment, model)).toEqual({ type: "role", role: "multilingual" });
    expect(resolveModel(deployment, english)).toEqual({ type: "role", role: "english" });
  });

  it.each(["core", "", "CORE-LATEST", "core-0.3.5 ", "toString", "__proto__", "constructor"])(
    "a does not know the model %j and lists those it knows",
    async (model) => {
      const deployment = await loadDeployment("a", DIRECTORY);
      expect(() => resolveModel(deployment, model)).toThrow(
        expect.objectContaining({
          code: "unknown_model",
          details: { model, models: modelNames(deployment) },
          message: `there is no such model; use one of ${modelNames(deployment).join(", ")}`,
        }),
      );
    },
  );

  it("a does not know b's checkpoints", async () => {
    const deployment = await loadDeployment("a", DIRECTORY);
    expect(() => resolveModel(deployment, "core-0.3.5")).toThrow(expect.objectContaining({ code: "unknown_model" }));
  });
});

describe("a third deployment", () => {
  const changes = {
    checkpoints: { english: "core-0.3.5", multilingual: "core-multilingual-0.3.20" },
    windows: { english: 200, multilingual: 4096 },
    caps: { english: 100, multilingual: 200 },
    max_questions: 4,
    choice_needs_instructions: true,
    default_model: "mine",
    aliases: { mine: "english" },
    routing: { undecided: "english", english_min_letters: 7 },
  };

  it("is a file and no code", async () => {
    const path = await writeDeployment("third", changes);
    const deployment = await loadDeployment(path, DIRECTORY);
    expect(deployment).toEqual({
      name: "third",
      checkpoints: changes.checkpoints,
      limits: {
        english: { window: 200, cap: 100, maxQuestions: 4 },
        multilingual: { window: 4096, cap: 200, maxQuestions: 4 },
      },
      choiceNeedsInstructions: true,
      defaultModel: "mine",
      aliases: { mine: "english" },
      routing: { undecided: "english", englishMinLetters: 7 },
    });
    expect(await loadDeployment("third", folder)).toEqual(deployment);
    expect(resolveModel(deployment)).toEqual({ type: "role", role: "english" });
    expect(modelNames(deployment)).toEqual(["mine", "core-0.3.5", "core-multilingual-0.3.20"]);
  });

  it("gives an engine its checkpoints and limits, never a window over the checkpoint's own", async () => {
    const path = await writeDeployment("third", changes);
    const engine = await Engine.open({ deployment: path }, createFakeInference());
    const english = await engine.model("english");
    expect(english.checkpoint.name).toBe("core-0.3.5");
    expect(english.limits).toEqual({ window: 200, cap: 100, maxQuestions: 4 });
    expect((await engine.model("multilingual")).limits.window).toBe(2048);
    await engine.close();
  });
});

describe("loadDeployment", () => {
  it("says of a name that it does not know where it looked and what to use", async () => {
    await expect(loadDeployment("c", DIRECTORY)).rejects.toMatchObject({
      code: "unknown_deployment",
      message: `there is no deployment "c" (looked for ${join(DIRECTORY, "c.json")}); use "a", "b" or the path of a deployment file`,
    });
  });

  it.each<[string, object, string]>([
    ["without checkpoints", { checkpoints: undefined }, "checkpoints.english"],
    ["without one of them", { checkpoints: { english: "core-0.3.20" } }, "checkpoints.multilingual"],
    ["without windows", { windows: undefined }, "windows.english"],
    ["with a window of 0", { windows: { english: 0, multilingual: 1 } }, "windows.english"],
    ["with a cap that is no number", { caps: { english: 3500, multilingual: "6000" } }, "caps.multilingual"],
    ["without a number of questions", { max_questions: undefined }, "max_questions"],
    ["without routing", { routing: undefined }, "routing.undecided"],
    [
      "with an unknown role for the undecided",
      { routing: { undecided: "german", english_min_letters: 0 } },
      "routing.undecided",
    ],
    ["with no number of letters", { routing: { undecided: "english" } }, "routing.english_min_letters"],
    ["without aliases", { aliases: undefined }, "aliases"],
    ["with an alias of nothing it has", { aliases: { "compat-latest": "german" } }, "aliases.compat-latest"],
    ["with a default that is no name of it", { default_model: "core-0.3.5" }, "default_model"],
    ["without a default", { default_model: undefined }, "default_model"],
  ])("rejects a file %s and names the field", async (_, changes, field) => {
    const path = await writeDeployment("broken", changes);
    await expect(loadDeployment(path, DIRECTORY)).rejects.toMatchObject({
      code: "unknown_deployment",
      message: expect.stringContaining(`${path} is not a deployment file: ${field} `),
    });
  });

  it.each([["{"], ["null"], ["[]"], ["7"]])("rejects a file that holds %s", async (text) => {
    const path = join(folder, "text.json");
    await writeFile(path, text);
    await expect(loadDeployment(path, DIRECTORY)).rejects.toMatchObject({ code: "unknown_deployment" });
  });
});
