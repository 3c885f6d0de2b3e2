import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/batch/read/row.js";
import { createReview } from "../../../src/batch/review/create-review.js";
import { QaError } from "../../../src/errors.js";
import { choice, decision, jsonRow, noul, recordRow, score } from "../write/output-rows.js";

const band = { low: 0.4, high: 0.6 };
const unsure = decision({
  urgent: noul(0.52),
  refund: noul(0.9),
  team: choice([
    ["billing", 0.41],
    ["technical", 0.46],
    ["other", 0.13],
  ]),
  mood: { ...score([0.3, 0.3, 0.4]), confidence: 0.41 } as ReturnType<typeof score>,
});
const sure = decision({ urgent: noul(0.99) });
const row = recordRow(
  [
    ["id", "7"],
    ["text", 'He said "no", twice'],
  ],
  4,
);

function csvOf(rows: readonly Row[], sample: readonly Row[] = rows, mayVary = false) {
  const review = createReview({ sample, mayVary }, { format: "csv", band });
  return review.head + rows.map((each) => review.record(each, unsure)).join("");
}

describe("a review as CSV", () => {
  it("has a line for each unsure answer, an empty cell for the person, and the input behind", () => {
    const records = parse(csvOf([row]), { bom: true, columns: true }) as Record<string, string>[];
    const input = { id: "7", text: 'He said "no", twice' };
    expect(records).toEqual([
      {
        row_number: "5",
        question: "urgent",
        answered: "yes",
        confidence: "",
        probabilities: "yes 0.52, no 0.48",
        your_answer: "",
        ...input,
      },
      {
        row_number: "5",
        question: "team",
        answered: "technical",
        confidence: "0.5",
        probabilities: "technical 0.46, billing 0.41, other 0.13",
        your_answer: "",
        ...input,
      },
      {
        row_number: "5",
        question: "mood",
        answered: "1.1",
        confidence: "0.41",
        probabilities: "0 0.3, 1 0.3, 2 0.4",
        your_answer: "",
        ...input,
      },
    ]);
  });

  it("begins with a byte order mark, by which Excel knows UTF-8", () => {
    expect(csvOf([]).charCodeAt(0)).toBe(0xfeff);
  });

  it("gives input columns of its own names another one", () => {
    const [header] = csvOf([recordRow([["question", "q"]])]).split("\n");
    expect(header?.endsWith(",your_answer,question_2")).toBe(true);
  });

  it("keeps what later rows have beyond the first in other_keys", () => {
    const records = parse(csvOf([jsonRow('{"text":"a","late":1}')], [jsonRow('{"text":"a"}')], true), {
      bom: true,
      columns: true,
    }) as Record<string, string>[];
    expect(records[0]).toMatchObject({ text: "a", other_keys: '{"late":1}' });
  });

  it("names twelve options of a choice of many, and how many there are more", () => {
    const many = choice(Array.from({ length: 30 }, (_, i) => [`label ${i}`, i / 1000]));
    const review = createReview({ sample: [row], mayVary: false }, { format: "csv", band });
    expect(review.record(row, decision({ team: many }))).toContain("label 18 0.018, and 18 more");
  });
});

describe("a review as NDJSON", () => {
  const review = createReview({ sample: [], mayVary: true }, { format: "ndjson", band });

  it("keeps the input in its own spelling under `input`, whatever its names", () => {
    const text = review.record(jsonRow('{"question":"mine","id":12345678901234567890}', 1), unsure);
    const lines = text?.trimEnd().split("\n") ?? [];
    expect(lines).toHaveLength(3);
    expect(lines[1]).toBe(
      '{"row_number":2,"question":"team","answered":"technical","confidence":0.5,"probabilities":{"billing":0.41,"technical":0.46,"other":0.13},"your_answer":null,"input":{"question":"mine","id":12345678901234567890}}',
    );
  });

  it("has nothing for rows that are sure, nor for those that failed", () => {
    expect(review.record(row, sure)).toBeUndefined();
    expect(review.record(row, new QaError("state_too_long", "x"))).toBeUndefined();
  });
});
