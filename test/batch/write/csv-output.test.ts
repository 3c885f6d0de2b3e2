import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/batch/read/row.js";
import type { CsvOptions, CsvSource } from "../../../src/batch/write/csv-plan.js";
import { createOutput, formatOfOutput } from "../../../src/batch/write/output-format.js";
import type { Question } from "../../../src/decision/question.js";
import { QaError } from "../../../src/errors.js";
import {
  choice,
  chunkedDecision,
  decision,
  jsonRow,
  malformedRow,
  noul,
  question,
  recordRow,
  rowOf,
  score,
} from "./output-rows.js";

const QUESTIONS = [
  question("urgent", "noul", ["false", "true"]),
  question("team", "choice", ["10", "2"]),
  question("mood", "score", ["0", "1", "2"]),
];
const ANSWERED = decision({
  mood: score([0, 0.5, 0.5]),
  urgent: noul(0.9512),
  team: choice([
    ["10", 0.25],
    ["2", 0.75],
  ]),
});
const FAILED = new QaError("state_too_long", 'too long, say "why"');

function csv(sample: readonly Row[], options: CsvOptions & Partial<CsvSource> = {}) {
  const source = { sample, mayVary: options.mayVary ?? false, questionSets: options.questionSets ?? [QUESTIONS] };
  return createOutput(source, { format: "csv", ...options });
}

const ticket = recordRow([
  ["id", "7"],
  ["body", "=1+1, a\nb"],
]);

describe("CSV output", () => {
  it("flattens answers in the order of the questions, behind the input as it is", () => {
    const output = csv([ticket]);
    expect(output.head).toBe(
      "id,body,urgent,team,team_confidence,mood,mood_confidence,model,error.code,error.message\n",
    );
    expect(output.record(ticket, ANSWERED)).toBe('7,"=1+1, a\nb",0.9512,2,0.5,1.5,0.25,core-1,,\n');
  });

  it("keeps a failed row in its place, its answers empty", () => {
    const output = csv([ticket]);
    expect(output.record(ticket, FAILED)).toBe('7,"=1+1, a\nb",,,,,,,state_too_long,"too long, say ""why"""\n');
  });

  it("adds the probabilities of each option in the order of the criteria when asked", () => {
    const output = csv([ticket], { probabilities: true });
    expect(output.head).toContain(
      "urgent,team,team_confidence,team.10,team.2,mood,mood_confidence,mood.0,mood.1,mood.2,model",
    );
    expect(output.record(ticket, ANSWERED)).toContain(",0.9512,2,0.5,0.25,0.75,1.5,0.25,0,0.5,0.5,core-1,,\n");
    expect(output.record(ticket, FAILED)).toContain(",,,,,,,,,,,,state_too_long,");
  });

  it("names the questions with unsure answers in a column of their own where a band is given", () => {
    const output = csv([ticket], { band: { low: 0.2, high: 0.6 }, onlyAnswers: true });
    expect(output.head).toBe(
      "row_number,urgent,team,team_confidence,mood,mood_confidence,model,uncertain,error.code,error.message\n",
    );
    expect(output.record(ticket, ANSWERED)).toBe("1,0.9512,2,0.5,1.5,0.25,core-1,mood team,,\n");
    expect(output.record(ticket, FAILED)).toBe('1,,,,,,,,state_too_long,"too long, say ""why"""\n');
  });

  it("says how many chunks a long state took where a run may chunk", () => {
    const urgent = [question("urgent", "noul")];
    const output = csv([ticket], { chunks: true, questionSets: [urgent] });
    expect(output.head).toBe("id,body,urgent,model,chunks,error.code,error.message\n");
    expect(output.record(ticket, chunkedDecision({ urgent: noul(0.5) }))).toContain(",0.5,core-1,2,,\n");
    expect(output.record(ticket, decision({ urgent: noul(0.5) }))).toContain(",0.5,core-1,,,\n");
  });

  it("writes the cells of a malformed row as far as they go", () => {
    const row = malformedRow("7", ["id", "body"], ["7"]);
    expect(csv([ticket]).record(row, FAILED)).toMatch(/^7,,,,,,,,state_too_long,/);
  });

  it("spells JSON as the input does: strings bare, null empty, nested values compact", () => {
    const row = jsonRow('{"s": "a\\u00e9", "n": 139.0, "z": null, "o": {"k": [1.0, "x y"]}, "t": true, "5": 1}');
    const output = csv([row], { questionSets: [[question("urgent", "noul")]] });
    expect(output.head).toBe("s,n,z,o,t,5,urgent,model,error.code,error.message\n");
    expect(output.record(row, decision({ urgent: noul(1) }))).toBe(
      'aé,139.0,,"{""k"":[1.0,""x y""]}",true,1,1,core-1,,\n',
    );
  });

  it("names the column of plain text `text`, of JSON values that are no objects `value`", () => {
    expect(csv([rowOf({ type: "text", text: "x" })]).head).toMatch(/^text,urgent,/);
    expect(csv([jsonRow('"x"')]).head).toMatch(/^value,urgent,/);
  });

  it("has a column for every field of the first rows", () => {
    const rows = [jsonRow('{"a":1,"b":2}'), jsonRow('{"c":3,"a":4}')];
    const output = csv(rows);
    expect(output.head).toMatch(/^a,b,c,urgent,/);
    expect(rows.map((row) => output.record(row, FAILED).slice(0, 5))).toEqual(["1,2,,", "4,,3,"]);
  });

  it("matches cells to columns by name where files order them differently", () => {
    const other = recordRow([
      ["body", "b"],
      ["id", "8"],
    ]);
    expect(csv([ticket, other]).record(other, FAILED)).toMatch(/^8,b,/);
  });

  it("keeps what later rows hold beyond the columns, as JSON in other_keys", () => {
    const output = csv([jsonRow('{"a":1}')], { mayVary: true });
    expect(output.head).toMatch(/^a,other_keys,urgent,/);
    expect(output.record(jsonRow('{"x": 2.0, "a":1, "y": {"z": 1}}'), FAILED)).toMatch(
      /^1,"\{""x"":2.0,""y"":\{""z"":1\}\}",,/,
    );
    expect(output.record(jsonRow('{"a":1}'), FAILED)).toMatch(/^1,,,/);
    expect(csv([jsonRow('{"other_keys":1}')], { mayVary: true }).head).toMatch(/^other_keys,other_keys_2,urgent/);
  });

  it("holds only the row number, the id and the answers with onlyAnswers", () => {
    const row = jsonRow('{"user":{"id":12345678901234567890},"a":1}', 41);
    const output = csv([row], { onlyAnswers: true, idColumn: "user.id", mayVary: true });
    expect(output.head).toMatch(/^row_number,user.id,urgent,/);
    expect(output.record(row, ANSWERED)).toMatch(/^42,12345678901234567890,0.9512,/);
  });
});

describe("what a CSV cannot be is told before anything is run", () => {
  const message = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (error instanceof QaError) return `${error.code}: ${error.message}`;
    }
    return "no error";
  };

  it.each<[string, Row, readonly Question[]]>([
    ["team_confidence", recordRow([["team_confidence", ""]]), QUESTIONS],
    ["model", recordRow([["model", ""]]), QUESTIONS],
    ["error.code", jsonRow('{"error.code":1}'), QUESTIONS],
    ["team_confidence", ticket, [...QUESTIONS, question("team_confidence", "noul")]],
    ["model", ticket, [question("model", "noul")]],
  ])("names the column %s that would be there twice", (column, row, questions) => {
    expect(message(() => csv([row], { questionSets: [questions] }))).toMatch(
      `invalid_usage: the CSV would have the column ${column} twice`,
    );
  });

  it("asks for NDJSON where rows carry different questions", () => {
    const sets = [[question("a", "noul")], [question("b", "noul")]];
    expect(message(() => csv([ticket], { questionSets: sets }))).toMatch(/^invalid_usage: .*--to ndjson/);
    expect(message(() => csv([ticket], { questionSets: [] }))).toMatch(/^invalid_usage: .*--to ndjson/);
  });

  it("takes rows with the same questions in any order, and tells a later row that has others", () => {
    const output = csv([ticket], { questionSets: [QUESTIONS, QUESTIONS.toReversed()] });
    expect(output.misfit(QUESTIONS.toReversed())).toBeUndefined();
    expect(output.misfit(QUESTIONS.slice(1))?.code).toBe("invalid_usage");
    expect(output.misfit([question("urgent", "score", ["0"]), ...QUESTIONS.slice(1)])?.code).toBe("invalid_usage");
  });

  it("minds the labels only where each has a column", () => {
    const others = QUESTIONS.map((each) => (each.id === "team" ? question("team", "choice", ["x"]) : each));
    expect(csv([ticket]).misfit(others)).toBeUndefined();
    expect(csv([ticket], { probabilities: true }).misfit(others)?.code).toBe("invalid_usage");
  });

  it("refuses an id column that no row has, or that the answers use", () => {
    expect(message(() => csv([ticket], { idColumn: "nr" }))).toBe(
      "invalid_usage: --id-column nr is in none of the first rows; their columns are id, body",
    );
    expect(message(() => csv([jsonRow('{"model":1}')], { idColumn: "model" }))).toMatch(/^invalid_usage: .*rename/);
  });
});

describe("formatOfOutput", () => {
  it.each([
    ["-", undefined, "ndjson"],
    ["-", "csv", "csv"],
    ["a.csv", undefined, "csv"],
    ["dir.x/A.JSONL.gz", undefined, "ndjson"],
    ["a.csv.GZ", undefined, "csv"],
    ["a.txt", "JSONL", "ndjson"],
  ])("makes %s with --to %s %s", (out, to, format) => {
    expect(formatOfOutput(out, to)).toBe(format);
  });

  it.each([["a.json"], ["a"], ["a.gz"], ["out.d/a"]])("asks for --to where the name is %s", (out) => {
    expect(() => formatOfOutput(out)).toThrow(/pass --to, one of ndjson, jsonl, csv$/);
  });
});
