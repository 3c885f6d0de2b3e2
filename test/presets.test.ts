/** The question sets and sample inputs that ship with qa: they parse, the editors' schema knows them, and they leave room. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse as parseCsv } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { parseJson } from "../src/decision/json.js";
import { parseQuestions, type Question } from "../src/decision/question.js";
import { parseRequest } from "../src/decision/request.js";
import { costOf, roomOf } from "../src/decision/room.js";
import { questionSegments } from "../src/decision/sequence.js";

const SPECIAL = { cls: 101, sep: 102, mask: 103, pad: 0 };
const PRESETS = ["triage", "email", "review", "moderation", "guard"].map((name) => `presets/${name}.yaml`);
const QUESTION_FILES = [...PRESETS, "fixtures/triage.yaml"];

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
const english = { window: 512, cap: 3500, tokenize: createTokenize("core-0.3.20") };
const multilingual = { window: 2048, cap: 6000, tokenize: createTokenize("core-multilingual-0.3.20") };
const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: true }).compile(
  JSON.parse(read("schemas/questions.schema.json")),
);

function createTokenize(checkpoint: string): (text: string) => readonly number[] {
  const tokenizer = new Tokenizer(JSON.parse(read(`models/${checkpoint}/tokenizer.json`)), {});
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
}

function questionsOf(path: string): readonly Question[] {
  const { questions, issues } = parseQuestions(parseYaml(read(path), { mapAsMap: true, stringKeys: true }));
  expect(issues).toEqual([]);
  return questions;
}

function prefixesOf(path: string, { tokenize } = english): number[] {
  return questionsOf(path).map((question) => questionSegments(question, tokenize, { special: SPECIAL }).prefixTokens);
}

describe.each(QUESTION_FILES)("%s", (path) => {
  it("parses without an issue", () => {
    expect(questionsOf(path).length).toBeGreaterThanOrEqual(5);
    expect(questionsOf(path).length).toBeLessThanOrEqual(8);
  });

  it("is accepted by the schema that its first line names", () => {
    expect(read(path).split("\n")[0]).toBe("# yaml-language-server: $schema=../schemas/questions.schema.json");
    validate(parseYaml(read(path), { stringKeys: true }));
    expect(validate.errors ?? []).toEqual([]);
  });

  it("keeps the head and options of every question under 120 tokens", () => {
    expect(Math.max(...prefixesOf(path))).toBeLessThan(120);
  });

  it("fits one call with a state of 250 tokens", () => {
    expect(costOf(prefixesOf(path), 250)).toBeLessThanOrEqual(english.cap);
  });

  it("shows a command that runs it", () => {
    expect(read(path)).toMatch(/^# {3}qa run \S+ (--preset|--questions) \S+/m);
  });
});

describe.each(PRESETS)("%s", (path) => {
  it.each([
    { name: "English", checkpoint: english, claim: /one call holds a state of (\d+) tokens/ },
    { name: "multilingual", checkpoint: multilingual, claim: /multilingual one of (\d+);/ },
  ])("states a length of text that does fit one call on the $name checkpoint", ({ checkpoint, claim }) => {
    const prefixes = prefixesOf(path, checkpoint);
    const stateTokens = Number(claim.exec(read(path))?.[1]);
    expect(costOf(prefixes, stateTokens)).toBeLessThanOrEqual(checkpoint.cap);
    expect(stateTokens).toBeLessThanOrEqual(roomOf(Math.max(...prefixes), checkpoint.window));
  });

  it("states the number of its questions", () => {
    expect(read(path)).toContain(`# ${questionsOf(path).length} questions.`);
  });
});

describe("presets", () => {
  it("are the five that the command line names", () => {
    const files = readdirSync(fileURLToPath(new URL("../presets", import.meta.url)));
    expect(files.map((file) => `presets/${file}`).sort()).toEqual([...PRESETS].sort());
  });

  it("keep labels that look like numbers in the order given", () => {
    const stars = questionsOf("presets/review.yaml").find(({ id }) => id === "stars");
    expect(stars?.options.map(({ label }) => label)).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("read unquoted true and false as the two sides of a noul", () => {
    const text = "late:\n  type: noul\n  criteria:\n    true: too late\n    false: in time\n";
    const { questions, issues } = parseQuestions(parseYaml(text, { mapAsMap: true, stringKeys: true }));
    expect(issues).toEqual([]);
    expect(questions[0]?.options).toEqual([
      { label: "false", description: "in time" },
      { label: "true", description: "too late" },
    ]);
  });
});

const choice = { type: "choice", criteria: { a: "one", b: null } };
const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`label ${i}`, null]));

describe("the schema of questions files", () => {
  it.each<[string, unknown]>([
    ["a choice without instructions", { q: choice }],
    ["a choice with null instructions", { q: { ...choice, instructions: null } }],
    [
      "structured instructions and descriptions",
      { q: { type: "choice", instructions: { task: "t" }, criteria: { a: ["x"] } } },
    ],
    ["255 labels", { q: { type: "choice", criteria: labels(255) } }],
    ["a noul with instructions alone", { q: { type: "noul", instructions: "Is it?" } }],
    ["a noul with null criteria", { q: { type: "noul", instructions: "Is it?", criteria: null } }],
    ["a noul with one description alone", { q: { type: "noul", criteria: { true: "it is" } } }],
    ["ten levels, some of them null", { q: { type: "score", criteria: [...Array(9).fill(null), "best"] } }],
    ["a $schema beside the questions", { $schema: "questions.schema.json", q: choice }],
  ])("accepts %s, as the parser does", (_, value) => {
    const { $schema: _schema, ...questions } = value as Record<string, unknown>;
    expect(parseQuestions(questions).issues).toEqual([]);
    validate(value);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["a list", [choice]],
    ["no question", {}],
    ["a question that is a string", { q: "Is it?" }],
    ["a question without a type", { q: { instructions: "Is it?" } }],
    ["an unknown type", { q: { type: "boolean", instructions: "Is it?" } }],
    ["a mapping called questions around them", { questions: { q: choice } }],
    ["a choice without criteria", { q: { type: "choice", instructions: "Which?" } }],
    ["a choice with a list of labels", { q: { type: "choice", criteria: ["a", "b"] } }],
    ["a choice without labels", { q: { type: "choice", criteria: {} } }],
    ["256 labels", { q: { type: "choice", criteria: labels(256) } }],
    ["a description that is a number", { q: { type: "choice", criteria: { a: 1 } } }],
    ["instructions that are a number", { q: { ...choice, instructions: 7 } }],
    ["a noul with neither instructions nor criteria", { q: { type: "noul" } }],
    ["a noul with nothing but nulls", { q: { type: "noul", instructions: null, criteria: { true: null } } }],
    [
      "a noul with criteria called yes and no",
      { q: { type: "noul", instructions: "Is it?", criteria: { yes: "y", no: "n" } } },
    ],
    ["a noul with a list of criteria", { q: { type: "noul", instructions: "Is it?", criteria: ["no", "yes"] } }],
    ["a score without criteria", { q: { type: "score", instructions: "How much?" } }],
    ["a score with a mapping", { q: { type: "score", criteria: { 0: "low", 1: "high" } } }],
    ["a score without levels", { q: { type: "score", criteria: [] } }],
    ["eleven levels", { q: { type: "score", criteria: Array(11).fill(null) } }],
    ["a level that is a boolean", { q: { type: "score", criteria: ["low", true] } }],
  ])("rejects %s, as the parser does", (_, value) => {
    expect(parseQuestions(value).issues).not.toEqual([]);
    expect(validate(value)).toBe(false);
  });

  it.each<[string, unknown]>([
    ["a misspelt key, which a request would ignore", { q: { ...choice, instruction: "Which?" } }],
    ["a $schema without questions", { $schema: "questions.schema.json" }],
    ["a $schema that is not a string", { $schema: 1, q: choice }],
  ])("rejects %s", (_, value) => {
    expect(validate(value)).toBe(false);
  });
});

describe("fixtures/tickets.csv", () => {
  const [header = [], ...rows] = parseCsv(read("fixtures/tickets.csv"), { relax_column_count: true }) as string[][];
  const whole = rows.filter((row) => row.length === header.length);
  const bodies = whole.map((row) => row[header.indexOf("body")] ?? "");

  it("holds 74 tickets under six columns", () => {
    expect(header).toEqual(["id", "received", "channel", "customer", "subject", "body"]);
    expect(rows.length).toBe(74);
    expect(new Set(rows.map(([id]) => id)).size).toBe(74);
  });

  it("has one malformed row, in the middle", () => {
    const malformed = rows.flatMap((row, i) => (row.length === header.length ? [] : [i]));
    expect(malformed).toEqual([36]);
    expect(() => parseCsv(read("fixtures/tickets.csv"))).toThrow("Invalid Record Length");
  });

  it("has one body that is over every window, and leaves the others well within the smallest", () => {
    for (const checkpoint of [english, multilingual]) {
      const tokens = bodies.map((body) => checkpoint.tokenize(body).length).sort((a, b) => b - a);
      expect(tokens[0]).toBeGreaterThan(2600);
      expect(tokens[1]).toBeLessThan(roomOf(Math.max(...prefixesOf("fixtures/triage.yaml")), english.window));
    }
  });

  it("has an empty body, a body of one word, quoted newlines and quotes within quotes", () => {
    expect(bodies).toContain("");
    expect(bodies).toContain("Refund");
    expect(bodies.some((body) => body.includes("\n"))).toBe(true);
    expect(bodies.some((body) => body.includes('"'))).toBe(true);
  });

  it.each(["Arab", "Cyrl", "Deva", "Han", "Hira"])("has a ticket in the script %s", (script) => {
    expect(bodies.some((body) => new RegExp(`\\p{Script=${script}}`, "u").test(body))).toBe(true);
  });
});

describe("the other fixtures", () => {
  const lines = (path: string) => read(path).trimEnd().split("\n");

  it("hold eight rows that are requests of their own", () => {
    const parsed = lines("fixtures/requests.ndjson").map((line) => parseRequest(parseJson(line)));
    expect(parsed.map(({ type }) => type)).toEqual(Array(8).fill("request"));
    const labels = parsed
      .flatMap((row) => (row.type === "request" ? row.request.questions : []))
      .find(({ id }) => id === "guests");
    expect(labels?.options.map(({ label }) => label)).toEqual(["10", "6", "4", "2", "not stated"]);
  });

  it("hold twenty reviews with a text each, and twelve mails on a line each", () => {
    const reviews = lines("fixtures/reviews.ndjson").map((line) => JSON.parse(line) as Record<string, string>);
    expect(reviews.filter(({ text }) => text !== undefined && text.length > 0).length).toBe(20);
    expect(lines("fixtures/mails.txt").length).toBe(12);
  });

  it("hold a contract that is over the largest window, in paragraphs that are not", () => {
    const text = read("fixtures/long-contract.txt");
    const paragraphs = text.split("\n\n").map((paragraph) => english.tokenize(paragraph).length);
    expect(english.tokenize(text).length).toBeGreaterThan(2600);
    expect(Math.max(...paragraphs)).toBeLessThan(300);
  });
});
