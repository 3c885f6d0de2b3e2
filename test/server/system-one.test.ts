import { describe, expect, it } from "vitest";
import { openApp, REQUEST, read, until } from "./open-app.js";

const opened = await openApp({ bodyLimitBytes: 2 ** 20 });
const post = async (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  read(
    await fetch(`${opened.url}/v1/systemone`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${opened.key}`, ...headers },
    }),
  );
const ask = (value: unknown, headers = {}) => post(JSON.stringify(value), headers);

describe("a response", () => {
  it("has exactly the wire's keys, in the order of questions and criteria", async () => {
    const { status, json, headers } = await ask(REQUEST);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(Object.keys(json)).toEqual(["model", "answers", "usage"]);
    const answers = json.answers as Record<string, Record<string, unknown>>;
    expect(Object.keys(answers)).toEqual(["refund", "team", "mood"]);
    expect(Object.keys(answers.team?.probabilities as object)).toEqual(["billing", "technical"]);
    expect(Object.keys(answers.mood ?? {})).toEqual(["type", "score", "confidence", "legend", "probabilities"]);
  });

  it("keeps integer-like labels and ids where they were, also those written with escapes", async () => {
    const { text } = await post(
      '{"state":"x","questions":{"b":{"type":"choice","criteria":{"b":null,"10":null,"2":null,"\\u0031":null}},"7":{"type":"noul","instructions":"q"}}}',
    );
    expect([...text.matchAll(/"(b|10|2|1|7)":/g)].map(([, label]) => label)).toEqual(["b", "b", "10", "2", "1", "7"]);
  });

  it("has harmless __proto__, constructor and toString as ids and labels", async () => {
    const { text, status } = await post(
      '{"__proto__":{"polluted":1},"state":{"__proto__":{"a":"x"}},"questions":{"__proto__":{"type":"choice","criteria":{"__proto__":null,"constructor":null,"toString":"t"}}}}',
    );
    expect(status).toBe(200);
    expect(text).toMatch(
      /"answers":\{"__proto__":\{"type":"choice".*"probabilities":\{"__proto__":.*"constructor":.*"toString":/,
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("answers and echoes lone surrogates as escapes, so that the body is UTF-8", async () => {
    const { text, status } = await post(
      '{"state":"broken \\ud800 text","questions":{"\\udc00":{"type":"score","instructions":"\\ud83d","criteria":["\\ud800","fine"]}}}',
    );
    expect(status).toBe(200);
    expect(text).toContain('"legend":{"0":"\\ud800","1":"fine"}');
  });

  it("tells cost and route in headers, and nothing of the text", async () => {
    const { headers } = await ask(REQUEST);
    expect(Number(headers.get("x-qa-cost"))).toBeGreaterThan(0);
    expect(headers.get("x-qa-route")).toMatch(/^looks English, but \d+ letters/);
  });
});

describe("a body", () => {
  it.each(["application/json", "text/plain", "application/x-www-form-urlencoded", "garbage;;", "multipart/form-data"])(
    "is JSON whatever the Content-Type says: %s",
    async (type) => {
      expect((await ask(REQUEST, { "content-type": type })).status).toBe(200);
    },
  );

  it("is JSON without any Content-Type, and with a byte order mark", async () => {
    expect((await post(new TextEncoder().encode(JSON.stringify(REQUEST)))).status).toBe(200);
    expect((await post(`\ufeff${JSON.stringify(REQUEST)}`)).status).toBe(200);
  });

  it.each([
    ["nothing", ""],
    ["half an object", '{"state": "secret'],
    ["a trailing comma", '{"state": "secret",}'],
    ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["nesting without end", "[".repeat(500_000)],
    ["nesting one level too deep", `${"[".repeat(201)}${"]".repeat(201)}`],
    ["deep nesting in a state", `{"state":${'{"a":'.repeat(5000)}1${"}".repeat(5000)},"questions":{}}`],
  ])("that is %s is invalid_json, and is not echoed", async (_name, body) => {
    const { status, json, text } = await post(body);
    expect([status, json.error.code]).toEqual([400, "invalid_json"]);
    expect(text).not.toContain("secret");
  });

  it("may be nested two hundred levels deep, and brackets in strings do not count", async () => {
    const nested = `${'{"a":'.repeat(198)}"${"[".repeat(500)}\\"["${"}".repeat(198)}`;
    expect((await post(`{"state":${nested},"questions":{"q":{"type":"noul","instructions":"q"}}}`)).status).toBe(200);
  });

  it("over the limit is body_too_large, with or without a Content-Length", async () => {
    const { status, json } = await ask({ ...REQUEST, state: "x".repeat(2 ** 20) });
    expect([status, json.error.code]).toEqual([413, "body_too_large"]);
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(2 ** 16).fill(0x20));
      },
    });
    const streamed = fetch(`${opened.url}/v1/systemone`, {
      method: "POST",
      body: stream,
      duplex: "half",
      headers: { authorization: `Bearer ${opened.key}` },
    } as RequestInit);
    const outcome = await streamed.then(
      (response) => response.status,
      () => "closed",
    );
    expect([413, "closed"]).toContain(outcome);
  });
});

describe("a request that cannot be answered", () => {
  it("reports every issue with its path, none with its value", async () => {
    const { status, json, text } = await ask({
      state: 7,
      model: 3,
      questions: { a: { type: "choice", criteria: {} }, b: "secret", c: { type: "score", criteria: ["x", 1] } },
    });
    expect([status, json.error.code]).toEqual([422, "invalid_request"]);
    const issues = json.error.issues as { path: string; message: string }[];
    expect(issues.map(({ path }) => path)).toEqual([
      "model",
      "state",
      "questions.a.criteria",
      "questions.b",
      "questions.c.criteria.1",
    ]);
    expect(text).not.toContain("secret");
  });

  const noul = { type: "noul", instructions: "Is it?" };
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`q${i}`, noul]));
  const words = (count: number) => "word ".repeat(count);

  it.each([
    [
      "unknown_model",
      { ...REQUEST, model: "gpt-4" },
      { model: "gpt-4", models: expect.arrayContaining(["jev-latest"]) },
    ],
    ["too_many_questions", { state: "x", questions: many(33) }, { questions: 33, limit: 32 }],
    [
      "state_too_long",
      { state: words(600), questions: { q: noul }, model: "core-0.3.20" },
      { state_tokens: 600, questions: { q: { room: expect.any(Number), fits: false } } },
    ],
    [
      "question_too_long",
      { state: "x", questions: { q: { type: "noul", instructions: words(490) } }, model: "core-0.3.20" },
      { question: "q", tokens: expect.any(Number), window: 512 },
    ],
    [
      "too_many_options",
      {
        state: "x",
        model: "core-0.3.20",
        questions: {
          q: {
            type: "choice",
            criteria: Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label ${i}`, words(3)])),
          },
        },
      },
      { question: "q", tokens: expect.any(Number), window: 512 },
    ],
    [
      "processed_tokens_exceeded",
      { state: words(300), questions: many(20), model: "core-0.3.20" },
      { cost: expect.any(Number), cap: 3500, questions: 20, longest_sequence: expect.any(Number) },
    ],
  ])("is a typed 400: %s", async (code, request, details) => {
    const { status, json, headers } = await ask(request);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code, ...details });
    expect(headers.get("x-service-error-code")).toBe(code);
    expect(headers.get("x-typesafe-request-id")).toMatch(/^req_/);
  });

  const endless = words(200_000);
  it.each([
    ["state", "state_too_long", { state: endless, questions: { q: noul } }, { questions: { q: { fits: false } } }],
    [
      "question",
      "question_too_long",
      { state: "x", questions: { q: { ...noul, instructions: endless } } },
      { question: "q" },
    ],
    [
      "set of questions",
      "processed_tokens_exceeded",
      {
        state: "x",
        questions: Object.fromEntries(Object.keys(many(32)).map((id) => [id, { ...noul, instructions: words(400) }])),
      },
      { questions: 32 },
    ],
  ])(
    "is refused by its start where it is an endless %s, on either checkpoint",
    async (_name, code, request, details) => {
      for (const model of ["core-0.3.20", "core-multilingual-0.3.20"]) {
        const { json } = await ask({ ...request, model });
        expect(json.error).toMatchObject({ code, at_least: true, ...details });
        const { state_tokens, tokens, cost } = json.error as unknown as Record<string, number>;
        expect(state_tokens ?? tokens ?? cost).toBeLessThan(10_000);
      }
    },
  );

  it("costs nothing", async () => {
    const before = opened.accounts.usage("default").used;
    await ask({ ...REQUEST, model: "gpt-4" });
    await post("{");
    await ask({ state: "x", questions: many(33) });
    expect(opened.accounts.usage("default").used).toBe(before);
  });

  it.each([
    ["GET", "/v1/systemone", 405, "method_not_allowed", "POST"],
    ["DELETE", "/v1/models", 405, "method_not_allowed", "GET"],
    ["POST", "/app/usage?x=1", 405, "method_not_allowed", "GET"],
    ["GET", "/v1/nothing", 404, "not_found", null],
    ["POST", "/", 404, "not_found", null],
    ["GET", "/%zz", 404, "not_found", null],
    ["GET", "/app/assets/../../package.json", 404, "not_found", null],
    ["GET", "/app/assets/..%2f..%2fpackage.json", 404, "not_found", null],
    ["GET", "/app/assets/__proto__", 404, "not_found", null],
  ])("%s %s is %i %s", async (method, path, status, code, allow) => {
    const answered = await opened.call(path, { method });
    expect([answered.status, answered.json.error.code]).toEqual([status, code]);
    expect(answered.headers.get("allow")).toBe(allow);
    expect(answered.headers.get("x-typesafe-request-id")).not.toBeNull();
  });
});

describe("usage", () => {
  it("charges a call's processed tokens: questions times the longest sequence", async () => {
    const fresh = await openApp();
    const { headers } = await fresh.call("/v1/systemone", { json: REQUEST });
    const { json } = await fresh.call("/app/usage", { headers: { accept: "application/json" } });
    expect(json).toMatchObject({ account: "default", used: Number(headers.get("x-qa-cost")), allowance: null });
    expect((json.by_day as unknown[]).at(-1)).toEqual({ day: expect.any(String), used: json.used, calls: 1 });
    const { json: room } = await fresh.call("/app/room", { json: REQUEST });
    expect((room.state as { cost: number }).cost).toBe(json.used);
    expect(fresh.accounts.usage("default").used).toBe(json.used);
  });

  it("charges a request id once with the same body, and each time with others", async () => {
    const fresh = await openApp();
    const headers = { "x-typesafe-request-id": "order-17" };
    const first = await fresh.call("/v1/systemone", { json: REQUEST, headers });
    const again = await fresh.call("/v1/systemone", { json: REQUEST, headers });
    expect(again.headers.get("x-typesafe-request-id")).toBe("order-17");
    expect(again.json).toEqual(first.json);
    const cost = Number(first.headers.get("x-qa-cost"));
    expect(fresh.accounts.usage("default").used).toBe(cost);
    const other = await fresh.call("/v1/systemone", { json: { ...REQUEST, state: "Hello" }, headers });
    expect(fresh.accounts.usage("default").used).toBe(cost + Number(other.headers.get("x-qa-cost")));
  });

  it("replaces a request id that could not be logged on one line, or is endless", async () => {
    for (const id of ["two words", "x".repeat(129)]) {
      const { headers } = await opened.call("/v1/models", { headers: { "x-typesafe-request-id": id } });
      expect(headers.get("x-typesafe-request-id")).toMatch(/^req_[0-9a-f-]{36}$/);
    }
  });

  it("charges nothing for a call that failed inside, and everything is released", async () => {
    const fresh = await openApp({ limits: { monthlyAllowance: 1000, requestsInFlight: 1 }, maxCallsInHand: 1 });
    fresh.fake.failures.push(new Error("boom"));
    expect((await fresh.call("/v1/systemone", { json: REQUEST })).status).toBe(500);
    expect(fresh.accounts.usage("default")).toMatchObject({ used: 0, refusals: { internal: 1 } });
    expect((await fresh.call("/v1/systemone", { json: REQUEST })).status).toBe(200);
  });

  it("refuses with 402 what is over the allowance, with the facts and without Retry-After", async () => {
    const fresh = await openApp({
      limits: { monthlyAllowance: 5 },
      now: () => Date.parse("2028-02-29T23:59:59.999Z"),
    });
    const { status, json, headers } = await fresh.call("/v1/systemone", { json: REQUEST });
    expect(status).toBe(402);
    expect(json.error).toMatchObject({
      code: "allowance_exhausted",
      used: 0,
      allowance: 5,
      resets_at: "2028-03-01T00:00:00Z",
    });
    expect(headers.get("retry-after")).toBeNull();
    expect(headers.get("retry-after-ms")).toBeNull();
  });

  it("limits requests in flight with 429 and both headers", async () => {
    const fresh = await openApp({ limits: { requestsInFlight: 1 } });
    fresh.fake.hold();
    const first = fresh.call("/v1/systemone", { json: REQUEST });
    await until(() => fresh.fake.batches.length === 1, "the first runs");
    const { status, json, headers } = await fresh.call("/v1/systemone", { json: REQUEST });
    expect([status, json.error.code]).toEqual([429, "in_flight_limited"]);
    expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual(["1", "1000"]);
    fresh.fake.release();
    expect((await first).status).toBe(200);
    await until(async () => (await fresh.call("/v1/systemone", { json: REQUEST })).status === 200, "one may go again");
  });
});

describe("cross-request batching", () => {
  it("has concurrent calls share batches, and calls that ask the same share one compiled question set", async () => {
    const fresh = await openApp();
    const compiledBefore = fresh.fake.compiled;
    const same = { ...REQUEST, model: "core-0.3.20" };
    fresh.fake.hold();
    const warm = [0, 1].map((i) =>
      fresh.call("/v1/systemone", { json: { ...same, state: `first ${"word ".repeat(60 * i)}` } }),
    );
    await until(() => fresh.fake.batches.length === 2, "both slots are taken");
    const rest = Array.from({ length: 12 }, (_, i) =>
      fresh.call("/v1/systemone", { json: { ...same, state: `I was charged twice, case ${i}` } }),
    );
    await until(
      async () => ((await fresh.call("/readyz")).json as unknown as { queue: number }).queue === 12,
      "twelve states wait",
    );
    fresh.fake.release();
    for (const { status } of await Promise.all([...warm, ...rest])) expect(status).toBe(200);
    expect(fresh.fake.batches.slice(2)).toEqual([12]);
    expect(fresh.fake.compiled - compiledBefore).toBe(1);
  });

  it("gives each call its own answer", async () => {
    const alone = await Promise.all(
      ["refund please", "it crashes", "calm words"].map((state) => ask({ ...REQUEST, state })),
    );
    const together = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        ask({ ...REQUEST, state: ["refund please", "it crashes", "calm words"][i % 3] }),
      ),
    );
    for (const [i, { json }] of together.entries()) expect(json.answers).toEqual(alone[i % 3]?.json.answers);
  });
});
