import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { createTally } from "../../../src/batch/progress/tally.js";
import type { RunFacts } from "../../../src/batch/report/report.js";
import { reportOf } from "../../../src/batch/report/report.js";
import { reportHtml } from "../../../src/batch/report/report-html.js";
import { reportJson } from "../../../src/batch/report/report-json.js";
import { reportedOptions } from "../../../src/batch/report/report-options.js";
import { QaError } from "../../../src/errors.js";
import { drawRows } from "../progress/tally-rows.js";
import { choice, decision, jsonRow, noul } from "../write/output-rows.js";
import { band, factsOf, tallyOf } from "./report-facts.js";

const schema = JSON.parse(readFileSync("schemas/report.schema.json", "utf8")) as object;
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

describe("reportOf", () => {
  it("names every question of the run in its order, also one without answers, then those that rows brought", () => {
    const { questions } = reportOf(tallyOf(1).counts, factsOf());
    expect(questions.map(({ id }) => id)).toEqual(["urgent", "team", "never", "mood"]);
    expect(questions[2]).toMatchObject({ answers: 0, options: [{ label: "0" }, { label: "1" }] });
  });

  it("comes to the same sums everywhere: options, histograms, errors and routes", () => {
    const { rows, questions, errors, routes } = reportOf(tallyOf(2).counts, factsOf());
    const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
    for (const { answers, options, histogram } of questions) {
      expect(sum(options.map((option) => option.answers))).toBe(answers);
      expect(sum(histogram)).toBe(answers);
    }
    expect(sum(errors.map((error) => error.rows))).toBe(rows.failed);
    expect(sum(routes.map((route) => route.rows))).toBe(rows.answered);
    expect(rows.answered + rows.failed).toBe(rows.total);
  });

  it("tells yes and no of a yes/no, the means, and the pace over all sittings and in this one", () => {
    const tally = createTally();
    for (const p of [0.9, 0.8, 0.1, 0.2])
      tally.add(jsonRow("{}"), decision({ urgent: noul(p), team: choice([["10", 1]]) }));
    const thisSitting = { rows: 1, elapsedMs: 500 };
    const report = reportOf(tally.counts, factsOf({ elapsedMs: 8000, sittings: 2, thisSitting }));
    const [urgent, team] = report.questions;
    expect(urgent).toMatchObject({
      mean: 0.5,
      meanConfidence: undefined,
      options: [
        { label: "yes", answers: 2, share: 0.5 },
        { label: "no", answers: 2, share: 0.5 },
      ],
    });
    expect(team).toMatchObject({ mean: undefined, meanConfidence: 0.5 });
    expect(report.allSittings).toEqual({ rows: 4, elapsedMs: 8000, rowsPerSecond: 0.5 });
    expect(report.thisSitting).toEqual({ rows: 1, elapsedMs: 500, rowsPerSecond: 2 });
  });

  it("tells rows that took the answer of an equal row from those that an earlier run had answered", () => {
    const tally = createTally();
    for (const reused of [undefined, "run", "run", "cache"] as const)
      tally.add(jsonRow("{}"), { ...decision({ urgent: noul(0.9) }), reused });
    const report = reportOf(tally.counts, factsOf());
    expect(report.rows).toMatchObject({ answered: 4, duplicates: 2, cached: 1 });
    const json = JSON.parse(reportJson(report)) as Record<string, unknown>;
    expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
    expect(json.rows).toMatchObject({ duplicates: 2, cached: 1 });
  });

  it("is the same in both forms after a crash and a resume as of a run in one sitting", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const rows = drawRows(seed, 100);
      const at = (seed * 37) % 100;
      const first = createTally(undefined, { band });
      for (const [row, outcome] of rows.slice(0, at)) first.add(row, outcome);
      const second = createTally(JSON.parse(JSON.stringify(first.snapshot())), { band });
      for (const [row, outcome] of rows.slice(at)) second.add(row, outcome);
      const [whole, resumed] = [tallyOf(seed, 100), second].map(({ counts }) => reportOf(counts, factsOf({ band })));
      if (whole === undefined || resumed === undefined) throw new Error("two reports were made");
      expect(reportJson(resumed)).toBe(reportJson(whole));
      expect(reportHtml(resumed, "")).toBe(reportHtml(whole, ""));
    }
  });
});

describe("the report as JSON", () => {
  it.each<[string, Partial<RunFacts>]>([
    ["a finished run", {}],
    ["one with a band and a review", { band, review: "review.csv" }],
    ["an interrupted one", { end: "interrupted" }],
    ["one whose reader went", { end: "reader_gone", output: "-", inputs: ["-"] }],
    ["a failed one", { end: "failed", error: new QaError("output_failed", "out.csv: no space is left") }],
    ["one without questions of its own", { questions: undefined, options: {} }],
  ])("has the form of the schema, of %s", (_, facts) => {
    const json = JSON.parse(reportJson(reportOf(tallyOf(3).counts, factsOf(facts)))) as Record<string, unknown>;
    expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
    expect(json.end).toBe(facts.end ?? "finished");
  });

  it("has it also of a run without rows", () => {
    const facts = factsOf({ elapsedMs: 0, thisSitting: { rows: 0, elapsedMs: 0 } });
    expect(validate(JSON.parse(reportJson(reportOf(createTally().counts, facts))))).toBe(true);
  });
});

describe("reportedOptions", () => {
  it("names the flags that were given, and none that it does not know", () => {
    const flags = {
      preset: "triage",
      seed: 1,
      limit: 5,
      cache: "memory",
      "api-key": "secret",
      explain: true,
      template: undefined,
    };
    expect(reportedOptions(flags, (name) => name === "seed")).toEqual({
      preset: "triage",
      limit: 5,
      explain: true,
      cache: "memory",
    });
  });
});
