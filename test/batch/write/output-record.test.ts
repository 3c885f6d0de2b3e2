import { describe, expect, it } from "vitest";
import { ndjsonRecord, replacedKeys } from "../../../src/batch/write/output-record.js";
import { QaError } from "../../../src/errors.js";
import { choice, chunkedDecision, decision, jsonRow, malformedRow, noul, recordRow, rowOf } from "./output-rows.js";

const SAID =
  '"model":"core-1","answers":{"urgent":{"type":"noul","noul":0.9}},"usage":{"input_tokens":10,"output_tokens":0}';
const answered = decision({ urgent: noul(0.9) });
const failed = new QaError("state_too_long", "too long", { details: { state_tokens: 9 } });
const ERROR = '"error":{"code":"state_too_long","message":"too long","state_tokens":9}';

describe("ndjsonRecord", () => {
  it.each([
    ['{"a":1}', `{"a":1,${SAID}}`],
    ['{ "price": 139.0, "id": 12345678901234567890 }', `{ "price": 139.0, "id": 12345678901234567890,${SAID} }`],
    ['{"10":"x","2":"y","t":"\\u00e9 } \\" ,"}', `{"10":"x","2":"y","t":"\\u00e9 } \\" ,",${SAID}}`],
    ["{}", `{${SAID}}`],
    ["{ }", `{${SAID} }`],
    ['{\n  "a": [\n    1,\r\n    2\n  ]\n}', `{ "a": [ 1, 2 ],${SAID} }`],
  ])("keeps the object %j as it is spelled, on one line", (raw, line) => {
    expect(ndjsonRecord(jsonRow(raw), answered)).toBe(`${line}\n`);
  });

  it.each<[string, string, string?]>([
    ['{"model":"old","a":1.0}', '{"a":1.0,'],
    ['{"a":1,"error":{"code":"x","answers":[1]}, "b" : 2}', '{"a":1, "b" : 2,'],
    ['{"a":1, "answers":{"x":"}"}}', '{"a":1,'],
    ['{ "us\\u0061ge":1 , "chunks" : [] }', "{", "  }"],
    ['{"a":{"model":1},"model":2,"model":3}', '{"a":{"model":1},'],
  ])("lets its own keys take the place of those of %j", (raw, start, end = "}") => {
    const line = ndjsonRecord(jsonRow(raw), answered);
    expect(line).toBe(`${start}${SAID}${end}\n`);
    expect(() => JSON.parse(line)).not.toThrow();
  });

  it("takes an old error from a row that is now answered, so that `error` tells a failed row", () => {
    expect(JSON.parse(ndjsonRecord(jsonRow('{"a":1,"error":{"code":"x"}}'), answered))).not.toHaveProperty("error");
  });

  it("ends a failed row with its error and the error's details", () => {
    expect(ndjsonRecord(jsonRow('{"a":1.50}'), failed)).toBe(`{"a":1.50,${ERROR}}\n`);
  });

  it("writes a CSV record as an object of strings in the order of its columns, integer-like names too", () => {
    const row = recordRow([
      ["b", "1"],
      ["10", 'say "hi"\n'],
      ["2", ""],
    ]);
    expect(ndjsonRecord(row, answered)).toBe(`{"b":"1","10":"say \\"hi\\"\\n","2":"",${SAID}}\n`);
  });

  it("lets its own keys take the place of CSV columns", () => {
    const row = recordRow([
      ["model", "T"],
      ["text", "x"],
    ]);
    expect(ndjsonRecord(row, answered)).toBe(`{"text":"x",${SAID}}\n`);
  });

  it("writes a line of text under text, a JSON value that is no object under value", () => {
    expect(ndjsonRecord(rowOf({ type: "text", text: "a b" }), answered)).toBe(`{"text":"a b",${SAID}}\n`);
    expect(ndjsonRecord(jsonRow("139.0"), failed)).toBe(`{"value":139.0,${ERROR}}\n`);
    expect(ndjsonRecord(jsonRow("[1.0,\n2]"), failed)).toBe(`{"value":[1.0, 2],${ERROR}}\n`);
  });

  it("keeps the exact text of a malformed row, of CSV also the cells under their columns", () => {
    expect(ndjsonRecord(malformedRow('{"a":'), failed)).toBe(`{"row":"{\\"a\\":",${ERROR}}\n`);
    expect(ndjsonRecord(malformedRow("1,2,3", ["a", "b"], ["1", "2", "3"]), failed)).toBe(
      `{"a":"1","b":"2","row":"1,2,3",${ERROR}}\n`,
    );
    expect(ndjsonRecord(malformedRow("1", ["row", "b"], ["1"]), failed)).toBe(`{"row":"1",${ERROR}}\n`);
  });

  it("keeps the order of labels that look like integers", () => {
    const line = ndjsonRecord(
      jsonRow("{}"),
      decision({
        n: choice([
          ["10", 0.25],
          ["2", 0.75],
        ]),
      }),
    );
    expect(line).toContain('"probabilities":{"10":0.25,"2":0.75}');
  });

  it("says from which chunks a long state was answered, and with explain what each answered", () => {
    const chunked = chunkedDecision({ urgent: noul(0.9) });
    const line = ndjsonRecord(jsonRow("{}"), chunked);
    expect(line).toContain(
      '"chunks":{"count":2,"combine":{"noul":"max","choice":"confidence","score":"confidence"},"from":{"urgent":[1]}}}',
    );
    const explained = JSON.parse(ndjsonRecord(jsonRow("{}"), chunked, { explain: true }));
    expect(explained.chunks.chunks).toHaveLength(2);
  });
});

describe("ndjsonRecord with a band", () => {
  const band = { low: 0.4, high: 0.6 };
  const unsure = decision({ urgent: noul(0.5), sure: noul(0.9), team: choice([["10", 1]]) });

  it("ends an answered row with the ids of its unsure answers, which stand as they are", () => {
    const { answers, uncertain } = JSON.parse(ndjsonRecord(jsonRow("{}"), unsure, { band }));
    expect(answers.urgent).toEqual({ type: "noul", noul: 0.5 });
    expect(uncertain).toEqual(["urgent", "team"]);
  });

  it("leaves rows without an unsure answer as they are, and takes an old mark from them", () => {
    expect(ndjsonRecord(jsonRow('{"a":1,"uncertain":["x"]}'), answered, { band })).toBe(`{"a":1,${SAID}}\n`);
    expect(ndjsonRecord(jsonRow("{}"), failed, { band })).toBe(`{${ERROR}}\n`);
  });
});

describe("ndjsonRecord with onlyAnswers", () => {
  it("leaves the input out and numbers the row as messages do", () => {
    expect(ndjsonRecord(jsonRow('{"a":1}', 6), answered, { onlyAnswers: true })).toBe(`{"row_number":7,${SAID}}\n`);
  });

  it.each([
    ["id", '{"id":12345678901234567890}', "12345678901234567890"],
    ["user.id", '{"user":{"id":"u1","x":[1]}}', '"u1"'],
    ["user.id", '{"user.id":1.0,"user":{"id":2}}', "1.0"],
    ["tags.1", '{"tags":["a",\n["b",\n1]]}', '["b", 1]'],
    ["id", '{"x":1}', "null"],
    ["id", "[1]", "null"],
    ["id.x", '{"id":"text with { in it"}', "null"],
  ])("keeps %s of %j as it is spelled", (idColumn, raw, id) => {
    expect(ndjsonRecord(jsonRow(raw), answered, { onlyAnswers: true, idColumn })).toBe(
      `{"row_number":1,${JSON.stringify(idColumn)}:${id},${SAID}}\n`,
    );
  });

  it("writes null for the id of a malformed row that does not reach it", () => {
    const row = malformedRow("1", ["a", "id"], ["1"]);
    expect(ndjsonRecord(row, failed, { onlyAnswers: true, idColumn: "id" })).toBe(
      `{"row_number":1,"id":null,${ERROR}}\n`,
    );
  });

  it("lets an id column named row_number be the id", () => {
    const row = jsonRow('{"row_number":"x"}', 4);
    expect(ndjsonRecord(row, answered, { onlyAnswers: true, idColumn: "row_number" })).toBe(
      `{"row_number":"x",${SAID}}\n`,
    );
  });
});

describe("replacedKeys", () => {
  it("names the fields that give way, but not the model that a request asks for", () => {
    expect(replacedKeys(jsonRow('{"model":"T","error":1,"a":2}'))).toEqual(["model", "error"]);
    expect(replacedKeys(jsonRow('{"model":"m","state":"s","questions":{}}'))).toEqual([]);
    expect(replacedKeys(recordRow([["usage", "1"]]))).toEqual(["usage"]);
    expect(replacedKeys(jsonRow("[1]"))).toEqual([]);
  });
});
