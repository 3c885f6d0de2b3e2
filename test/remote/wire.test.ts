import { describe, expect, it } from "vitest";
import { stringifyAnswers } from "../../src/decision/answer.js";
import { type JsonObject, parseJson, stringifyJson } from "../../src/decision/json.js";
import { parseQuestions } from "../../src/decision/question.js";
import { parseRequest } from "../../src/decision/request.js";
import { readRefusal, refusalError } from "../../src/remote/read-refusal.js";
import { readResponse } from "../../src/remote/read-response.js";
import { requestBody } from "../../src/remote/request-body.js";

const ASKED = `{
  "late": {"type": "noul", "instructions": "Is something late?", "criteria": {"true": {"is": "late"}}},
  "7": {"type": "choice", "instructions": null, "criteria": {"10": "ten", "9": null, "1": ["one", 1.50]}},
  "mood": {"type": "score", "instructions": {"ask": "How?"}, "criteria": ["calm", null, {"10": "x", "2": "y"}]},
  "bare": {"type": "noul", "instructions": "Bare?"}
}`;
const { questions } = parseQuestions(parseJson(ASKED));

describe("the body of a call", () => {
  it("is a request that parses back to the same questions and state, keys in the order given", () => {
    const state = parseJson('{"10":"a","2":{"b":null,"a":[1.5,true]},"ü":"\\ud83d\\ude00"}') as JsonObject;
    const body = requestBody({ model: "jev-latest", state, questions });
    expect(parseRequest(parseJson(body))).toEqual({
      type: "request",
      request: { model: "jev-latest", state, questions },
    });
    expect(body).toContain('"state":{"10":"a","2":{"b":null,"a":[1.5,true]},"ü":"😀"}');
    expect(body).toMatch(/"criteria":\{"10":"ten","9":null,"1":"\[\\"one\\", 1.5\]"\}/);
    expect(body).toContain('"bare":{"type":"noul","instructions":"Bare?"}');
  });
});

const ANSWERED = {
  late: '{"type":"noul","noul":0.25,"action":"none"}',
  "7": '{"type":"choice","choice":"9","confidence":0.5,"probabilities":{"1":0.1,"9":0.8,"10":0.1000}}',
  mood: '{"type":"score","score":1.05,"confidence":0.9,"legend":{"0":"?"},"probabilities":{"0":0.02,"1":0.91,"2":0.07}}',
  bare: '{"type":"noul","noul":1}',
};

function response(answers: Record<string, string | undefined> = {}, rest = '"usage":{"input_tokens":9}'): string {
  const all = Object.entries({ ...ANSWERED, ...answers }).filter(([, answer]) => answer !== undefined);
  return `{"model":"m","answers":{${all.map(([id, answer]) => `"${id}":${answer}`).join(",")}},${rest}}`;
}

describe("a response", () => {
  it("becomes answers in the order asked, with the numbers as they were and nothing beyond the contract", () => {
    const { model, answers, inputTokens } = readResponse(response(), questions, "h");
    expect({ model, inputTokens }).toEqual({ model: "m", inputTokens: 9 });
    expect(stringifyAnswers(answers)).toBe(
      `{"late":{"type":"noul","noul":0.25},` +
        `"7":{"type":"choice","choice":"9","confidence":0.5,"probabilities":{"10":0.1,"9":0.8,"1":0.1}},` +
        `"mood":{"type":"score","score":1.05,"confidence":0.9,"legend":{"0":"calm","1":null,"2":{"10":"x","2":"y"}},` +
        `"probabilities":{"0":0.02,"1":0.91,"2":0.07}},"bare":{"type":"noul","noul":1}}`,
    );
  });

  it.each([
    ["is not JSON", "<html>hello</html>", "the response"],
    ["is cut off", response().slice(0, -5), "the response"],
    ["is empty", "", "the response"],
    ["is a list", "[]", "the response"],
    ["has no model", '{"answers":{}}', "model"],
    ["has no answers", '{"model":"m"}', "answers"],
    ["has no usage", response({}, '"usage":null'), "usage"],
    ["has tokens that are no number", response({}, '"usage":{"input_tokens":"9"}'), "usage.input_tokens"],
    ["leaves a question out", response({ bare: undefined }), "answers.bare"],
    ["answers another type", response({ bare: ANSWERED["7"] }), "answers.bare.type"],
    ["has a probability over 1", response({ bare: '{"type":"noul","noul":1.2}' }), "answers.bare.noul"],
    ["has null for a probability", response({ bare: '{"type":"noul","noul":null}' }), "answers.bare.noul"],
    ["chooses a label that is none", response({ "7": ANSWERED["7"].replace('"9"', '"8"') }), "answers.7.choice"],
    ["leaves a label out", response({ "7": ANSWERED["7"].replace('"10"', '"8"') }), "answers.7.probabilities.10"],
    ["has a level too many", response({ mood: ANSWERED.mood.replace("1.05", "2.5") }), "answers.mood.score"],
  ])("that %s is an error that names the place and shows nothing of it", (_, text, path) => {
    expect(() => readResponse(text, questions, "host:1")).toThrowError(
      expect.objectContaining({ code: "endpoint_answer_invalid", details: { host: "host:1", path } }),
    );
  });
});

describe("a refusal", () => {
  const refused = (status: number, body: unknown) =>
    refusalError(readRefusal({ status, text: typeof body === "string" ? body : JSON.stringify(body) }, "h:1")).toJSON();

  it("of a request by one of our codes is the row's error, as if the engine had said it", () => {
    const error = { code: "state_too_long", message: "too long", state_tokens: 600, questions: { a: { room: 1 } } };
    expect(stringifyJson(refused(400, { error }))).toBe(stringifyJson(error));
  });

  it.each([
    [
      "ours",
      422,
      { error: { code: "invalid_request", message: "bad" } },
      "422 invalid_request, bad",
      "invalid_request",
    ],
    [
      "ollaya's",
      422,
      { error: "would be cut", code: "STATE_TRUNCATED" },
      "422 STATE_TRUNCATED, would be cut",
      "STATE_TRUNCATED",
    ],
    [
      "FastAPI's",
      422,
      { detail: [{ loc: ["body", "state"], msg: "Field required", input: "my text" }] },
      "422, state: Field required",
      undefined,
    ],
    ["a sentence", 400, { detail: "no" }, "400, no", undefined],
    ["a page of a proxy", 413, "<html>\nToo large</html>", "413", undefined],
    ["lines with escapes", 400, { error: { code: "x\u001b[31m", message: "a\r\nb" } }, "400 x [31m, a b", "x [31m"],
  ])("in %s words is endpoint_refused with status and code", (_, status, body, words, code) => {
    expect(refused(status, body)).toEqual({
      code: "endpoint_refused",
      message: `h:1 refused the request: ${words}`,
      host: "h:1",
      status,
      ...(code !== undefined && { endpoint_code: code }),
    });
  });

  it("cannot fill a row with its words", () => {
    expect(refused(400, { error: { message: "x".repeat(9999) } }).message.length).toBeLessThan(600);
  });
});
