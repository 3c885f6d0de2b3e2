import {
  APIConnectionError,
  APIError,
  APITimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  choice,
  InternalServerError,
  NotFoundError,
  noul,
  PermissionDeniedError,
  RateLimitError,
  score,
  type TypeSafeClient,
  TypeSafeError,
  UnprocessableEntityError,
} from "@typesafe-ai/sdk";
import { describe, expect, it } from "vitest";
import { QaError } from "../../src/errors.js";
import { openApp, until } from "./open-app.js";

const app = await openApp();
const client = app.client();
const questions = { refund: noul("Is a refund requested?") };
const NO_RETRY = { retry: { maxRetries: 0 } };

/** A client whose requests are counted, and whose waits between them are measured by the fake clock of `fetch` calls. */
function countingClient(opened: { client: typeof app.client }, config = {}) {
  const sentAtMs: number[] = [];
  const counted: TypeSafeClient = opened.client({
    ...config,
    fetch: (input, init) => {
      sentAtMs.push(performance.now());
      return fetch(input, init);
    },
  });
  return { client: counted, sentAtMs };
}

describe("systemOne", () => {
  it("answers all three types, typed by the questions", async () => {
    const { model, answers, usage } = await client.systemOne({
      state: "I was charged twice for the same order, please refund one of them.",
      questions: {
        refund: noul("Is a refund requested?", { true: "asks for money back", false: null }),
        team: choice("Which team?", { billing: "charged, refund", technical: null }),
        mood: score("How upset?", ["calm", "annoyed", "furious"]),
      },
    });
    expect(model).toBe("core-multilingual-0.3.20");
    expect(answers.refund).toEqual({ type: "noul", noul: expect.any(Number) });
    expect(answers.team.choice).toBe("billing");
    expect(Object.keys(answers.team)).toEqual(["type", "choice", "confidence", "probabilities"]);
    expect(answers.mood.legend).toEqual({ 0: "calm", 1: "annoyed", 2: "furious" });
    expect(Object.keys(answers.mood)).toEqual(["type", "score", "confidence", "legend", "probabilities"]);
    expect(usage).toEqual({ input_tokens: expect.any(Number), output_tokens: 0 });
  });

  it("takes states and instructions that are objects or arrays, null instructions, and forwards what it ignores", async () => {
    const { answers } = await client.systemOne({
      state: { subject: "Refund", lines: ["charged twice", 2, null] },
      questions: {
        a: choice(null, { billing: null, technical: null }),
        b: noul({ task: "Is a refund requested?" }),
        c: score(["How", "upset?"], [{ level: "calm" }, null]),
      },
      user: "someone",
    } as Parameters<typeof client.systemOne>[0]);
    expect(Object.keys(answers)).toEqual(["a", "b", "c"]);
    expect((answers.c as unknown as { legend: unknown }).legend).toEqual({ 0: { level: "calm" }, 1: null });
  });

  it("answers for every name that models.list gives, with a checkpoint's name", async () => {
    const models = await client.models.list();
    expect(models.map(({ name }) => name)).toContain("jev-latest");
    for (const { name, description, release_date } of models) {
      const { model } = await client.systemOne({ model: name, state: "Hello", questions });
      expect(model, name).toMatch(/^core-(multilingual-)?\d/);
      expect(description.length, name).toBeGreaterThan(10);
      expect(release_date, name).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });

  it("gives the request id through withResponse and asResponse", async () => {
    const { data, response, requestId } = await client.systemOne({ state: "Hello", questions }).withResponse();
    expect(data.usage.output_tokens).toBe(0);
    expect(requestId).toMatch(/^req_/);
    expect(response.headers.get("x-qa-cost")).toBe(String(data.usage.input_tokens));
    const own = client.systemOne({ state: "Hello", questions }, { headers: { "x-typesafe-request-id": "mine-1" } });
    expect((await own.asResponse()).headers.get("x-typesafe-request-id")).toBe("mine-1");
  });
});

describe("errors come as the client's own classes", () => {
  const failing = async (call: Promise<unknown>) =>
    (await call.then(
      () => new Error("did not fail"),
      (error: unknown) => error,
    )) as APIError & { body: { error: { code: string; [detail: string]: unknown } } };

  it("400 BadRequestError for an unknown model", async () => {
    const error = await failing(client.systemOne({ model: "gpt", state: "Hello", questions }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.body.error).toMatchObject({ code: "unknown_model", model: "gpt" });
    expect(error.headers.get("x-service-error-code")).toBe("unknown_model");
    expect(error.requestId).toMatch(/^req_/);
    expect(error.message).toMatch(/^400 there is no such model/);
  });

  it("401 AuthenticationError for an unknown key", async () => {
    const error = await failing(app.client({ apiKey: "nonsense" }).models.list());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error.body.error.code).toBe("unauthorized");
  });

  it("403 PermissionDeniedError for a page of another origin", async () => {
    const error = await failing(client.models.list({ headers: { origin: "https://elsewhere.example" } }));
    expect(error).toBeInstanceOf(PermissionDeniedError);
  });

  it("404 NotFoundError for a base URL with a path too many", async () => {
    const error = await failing(app.client({ baseURL: `${app.url}/v2` }).models.list());
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.body.error.code).toBe("not_found");
  });

  it("422 UnprocessableEntityError that lists every issue, for a null state among them", async () => {
    const error = await failing(client.systemOne({ state: null, questions: { a: noul(), b: noul(null, {}) } }));
    expect(error).toBeInstanceOf(UnprocessableEntityError);
    expect((error.body.error.issues as { path: string }[]).map(({ path }) => path)).toEqual([
      "state",
      "questions.a",
      "questions.b",
    ]);
  });

  it("402 and 413 APIError, which are not retried", async () => {
    const poor = await openApp({ limits: { monthlyAllowance: 3 }, bodyLimitBytes: 300 });
    const { client: counted, sentAtMs } = countingClient(poor);
    const spent = await failing(counted.systemOne({ state: "Hello", questions }));
    expect(spent).toBeInstanceOf(APIError);
    expect(spent.status).toBe(402);
    expect(spent.headers.get("retry-after")).toBeNull();
    const large = await failing(counted.systemOne({ state: "x".repeat(400), questions }));
    expect(large.status).toBe(413);
    expect(large.body.error.code).toBe("body_too_large");
    expect(sentAtMs).toHaveLength(2);
  });

  it("429 RateLimitError with the wait in milliseconds", async () => {
    const slow = await openApp({ limits: { requestsPerMinute: 6 }, now: () => 1e12 });
    const limited = slow.client(NO_RETRY);
    for (let i = 0; i < 6; i++) await limited.systemOne({ state: "Hello", questions });
    const error = await failing(limited.systemOne({ state: "Hello", questions }));
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).retryAfterMs).toBe(10_000);
    expect(error.headers.get("retry-after")).toBe("10");
  });

  it("500 InternalServerError, without internals, for a worker that crashed twice and for a bug", async () => {
    const broken = await openApp();
    for (const failure of [new QaError("worker_crashed", "crashed"), new Error("secret internals of the machine")]) {
      broken.fake.failures.push(failure);
      const error = await failing(broken.client(NO_RETRY).systemOne({ state: "Hello", questions }));
      expect(error).toBeInstanceOf(InternalServerError);
      expect(error.status).toBe(500);
      expect(error.body.error.code).toBe("internal");
      expect(JSON.stringify(error.body)).not.toMatch(/secret|stack/);
    }
  });

  it("529 InternalServerError when the queue is full", async () => {
    const busy = await openApp({ maxCallsInHand: 1 });
    busy.fake.hold();
    const first = busy.client().systemOne({ state: "Hello", questions });
    const answered = first.then(({ model }) => model);
    await until(() => busy.fake.batches.length === 1, "the first call runs");
    const error = await failing(busy.client(NO_RETRY).systemOne({ state: "Hello", questions }));
    busy.fake.release();
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error.status).toBe(529);
    expect(error.body.error.code).toBe("worker_busy");
    expect(error.headers.get("retry-after-ms")).toBe("1000");
    await answered;
  });

  it("APIConnectionError where nobody listens, TypeSafeError for what the client itself refuses", async () => {
    const error = await failing(app.client({ baseURL: "http://127.0.0.1:9", ...NO_RETRY }).models.list());
    expect(error).toBeInstanceOf(APIConnectionError);
    expect(() => client.systemOne({ state: "x", questions: {} })).toThrow(TypeSafeError);
  });
});

describe("retries", () => {
  it("after a 429 the client waits what we say, and is then let in", async () => {
    // the service's clock stands still but for what the client waits between its attempts
    const clock = { ms: 1e12 };
    const opened = await openApp({ limits: { requestsPerMinute: 60 }, now: () => clock.ms });
    await Promise.all(Array.from({ length: 60 }, () => opened.client(NO_RETRY).systemOne({ state: "Hi", questions })));
    const sentAtMs: number[] = [];
    const counted = opened.client({
      fetch: (input, init) => {
        sentAtMs.push(performance.now());
        clock.ms += performance.now() - (sentAtMs.at(-2) ?? performance.now());
        return fetch(input, init);
      },
    });
    const { model } = await counted.systemOne({ state: "Hi", questions });
    expect(model).toMatch(/^core-/);
    expect(sentAtMs).toHaveLength(2);
    expect((sentAtMs[1] ?? 0) - (sentAtMs[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("after a 529 the client waits what we say, and is answered", async () => {
    const opened = await openApp({ maxCallsInHand: 1 });
    opened.fake.hold();
    const first = opened.client().systemOne({ state: "Hello", questions }).asResponse();
    await until(() => opened.fake.batches.length === 1, "the first call runs");
    const { client: counted, sentAtMs } = countingClient(opened);
    const second = counted.systemOne({ state: "Hello", questions }).asResponse();
    await until(() => opened.accounts.usage("default").refusals.worker_busy === 1, "the second call is refused");
    opened.fake.release();
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
    expect(sentAtMs).toHaveLength(2);
    expect((sentAtMs[1] ?? 0) - (sentAtMs[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });
});

describe("timeouts and cancellation", () => {
  it("a call that times out rejects with APITimeoutError, and is neither run nor charged once it is gone", async () => {
    const opened = await openApp();
    opened.fake.hold();
    const running = [opened.client().systemOne({ state: "Hello", questions })];
    running[0]?.catch(() => {});
    await until(() => opened.fake.batches.length === 1, "one batch runs");
    running.push(opened.client().systemOne({ state: "Hello there, this one is longer", questions }));
    await until(() => opened.fake.batches.length === 2, "both slots are taken");
    const late = opened.client({ timeout: 200, ...NO_RETRY }).systemOne({ state: "Hello", questions });
    await expect(late).rejects.toBeInstanceOf(APITimeoutError);
    const controller = new AbortController();
    const cancelled = opened.client().systemOne({ state: "Hello", questions }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    await expect(cancelled).rejects.toBeInstanceOf(APIUserAbortError);
    const inFlight = async () => ((await opened.call("/readyz")).json as unknown as { in_flight: number }).in_flight;
    await until(async () => (await inFlight()) === 2, "the gone calls have left the queue");
    opened.fake.release();
    const costs = await Promise.all(running.map(async (call) => (await call).usage.input_tokens));
    expect(opened.fake.batches).toEqual([1, 1]);
    expect(opened.accounts.usage("default").used).toBe(costs.reduce((sum, cost) => sum + cost, 0));
  });
});
