import { once } from "node:events";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parseRequest } from "../../src/decision/request.js";
import { WorkerPool } from "../../src/engine/worker-pool.js";
import { QaError } from "../../src/errors.js";
import { openApp, REQUEST, until } from "./open-app.js";

const opened = await openApp();
const statusOf = async (at: typeof opened) => (await at.call("/readyz")).json.status as unknown as string;

describe("health", () => {
  it("is ready with the numbers of queue and work once the checkpoints are loaded; until then calls get a 529", async () => {
    const starting = await openApp({ starting: true });
    const early = await starting.call("/v1/systemone", { json: REQUEST });
    expect([early.status, early.json.error.code]).toEqual([529, "worker_starting"]);
    expect([early.headers.get("retry-after"), early.headers.get("retry-after-ms")]).toEqual(["2", "2000"]);
    expect((await starting.call("/readyz")).status).toBe(503);
    expect((await starting.call("/healthz")).status).toBe(200);
    await starting.app.started;
    const { status, json } = await starting.call("/readyz");
    expect(status).toBe(200);
    expect(json).toEqual({ status: "ready", in_flight: 0, limit: 128, queue: 0, batches: 0, worker_crashes: 0 });
  });

  it("does not start where a checkpoint is missing", async () => {
    const broken = await openApp({ engine: { modelsDir: "/nowhere" }, starting: true });
    await expect(broken.app.started).rejects.toMatchObject({ code: "checkpoint_missing" });
    expect((await broken.call("/readyz")).status).toBe(503);
  });

  it("is not ready after a call lost its worker twice, and is again once all workers are warm", async () => {
    const fresh = await openApp();
    fresh.fake.crashes = 2;
    const compiled = fresh.fake.compiled;
    fresh.fake.failures.push(new QaError("worker_crashed", "an inference worker crashed twice"));
    const { status, json } = await fresh.call("/v1/systemone", { json: REQUEST });
    expect([status, json.error.code]).toEqual([500, "internal"]);
    await until(async () => (await statusOf(fresh)) === "ready", "it has recovered");
    expect(fresh.fake.compiled).toBeGreaterThan(compiled);
    expect((await fresh.call("/readyz")).json.worker_crashes).toBe(2);
    expect((await fresh.call("/v1/systemone", { json: REQUEST })).status).toBe(200);
  });
});

describe("a worker that crashes", () => {
  /** A worker that compiles, and ends its thread at the first `crashes` batches that any of them gets. */
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    parentPort.on("message", (message) => {
      if (message.type === "close") return parentPort.close();
      const { id, task } = message;
      if (task.type === "compile") {
        const options = task.questions.flatMap((question) => question.options).length;
        return parentPort.postMessage({ type: "done", id, result: { type: "fake", options } });
      }
      if (Atomics.sub(workerData, 0, 1) > 0) process.exit(1);
      const result = task.groups.flatMap(({ prefix, states }) => states.map(() => new Float32Array(prefix.options)));
      parentPort.postMessage({ type: "done", id, result });
    });`;
  const openCrashing = (crashes: number) => {
    const workerData = new Int32Array(new SharedArrayBuffer(4)).fill(crashes);
    return openApp({ inference: WorkerPool.open(2, () => new Worker(source, { eval: true, workerData })) });
  };

  it("is replaced, and what it had in hand is tried once more: the client sees nothing of it", async () => {
    const fresh = await openCrashing(1);
    expect((await fresh.call("/v1/systemone", { json: REQUEST })).status).toBe(200);
    expect((await fresh.call("/readyz")).json).toMatchObject({ status: "ready", worker_crashes: 1 });
  });

  it("twice on the same call is a typed 500, is not charged, and the service recovers", async () => {
    const fresh = await openCrashing(2);
    const { status, json } = await fresh.call("/v1/systemone", { json: REQUEST });
    expect([status, json.error.code]).toEqual([500, "internal"]);
    expect(fresh.accounts.usage("default").used).toBe(0);
    await until(async () => (await statusOf(fresh)) === "ready", "it has recovered");
    expect((await fresh.call("/readyz")).json.worker_crashes).toBe(2);
    expect((await fresh.call("/v1/systemone", { json: REQUEST })).status).toBe(200);
  });
});

describe("draining", () => {
  it("takes no more calls, answers those in hand, and closes", async () => {
    const fresh = await openApp();
    fresh.fake.hold();
    const inHand = fresh.call("/v1/systemone", { json: REQUEST });
    await until(() => fresh.fake.batches.length === 1, "a call runs");
    const drained = fresh.app.drain(10_000);
    expect((await fresh.call("/readyz")).json.status).toBe("draining");
    const late = await fresh.call("/v1/systemone", { json: REQUEST });
    expect([late.status, late.json.error.code]).toEqual([529, "worker_busy"]);
    fresh.fake.release();
    const { status, headers } = await inHand;
    expect(status).toBe(200);
    await drained;
    expect(fresh.accounts.usage("default").used).toBe(Number(headers.get("x-qa-cost")));
    await expect(fresh.call("/healthz")).rejects.toThrow();
  });

  it("gives up what waits when the time is over, with a typed 529 and no charge", async () => {
    const fresh = await openApp();
    fresh.fake.hold();
    const calls = [0, 1, 2].map((i) =>
      fresh.call("/v1/systemone", { json: { ...REQUEST, model: "core-0.3.20", state: "word ".repeat(1 + 60 * i) } }),
    );
    await until(() => fresh.fake.batches.length === 2, "two run, one waits");
    const drained = fresh.app.drain(50);
    setTimeout(() => fresh.fake.release(), 300);
    for (const { status, json } of await Promise.all(calls))
      expect([status, json.error.code]).toEqual([529, "worker_busy"]);
    await drained;
    expect(fresh.accounts.usage("default").used).toBe(0);
  });

  it("does not wait for a client that holds a connection which it never used", async () => {
    const fresh = await openApp();
    const { hostname, port } = new URL(fresh.url);
    const unused = connect(Number(port), hostname);
    await once(unused, "connect");
    await fresh.call("/healthz");
    const closed = once(unused, "close");
    const startedMs = performance.now();
    await fresh.app.drain(0);
    await closed;
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });
});

describe("/openapi.json", async () => {
  const { json: document } = await opened.call("/openapi.json");
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { date: true, "date-time": true } });
  ajv.addSchema(document as object, "api");
  const validatorOf = (name: string) => {
    const validate = ajv.getSchema(`api#/components/schemas/${name}`);
    if (validate === undefined) throw new Error(`no schema ${name}`);
    return validate;
  };

  it("describes every route of the API and every code of its errors", () => {
    expect(document).toMatchObject({ openapi: "3.1.0" });
    expect(Object.keys(document.paths as object)).toEqual([
      "/v1/systemone",
      "/v1/models",
      "/app/usage",
      "/healthz",
      "/readyz",
    ]);
    const text = JSON.stringify(document);
    for (const code of ["invalid_request", "state_too_long", "allowance_exhausted", "worker_starting"])
      expect(text).toContain(code);
  });

  const choice = { type: "choice", criteria: { a: null, b: "text" } };
  const noul = { type: "noul", instructions: "Is it?" };
  const score = { type: "score", criteria: ["low", null] };
  const texts = ["text", { a: 1 }, [1, "a"], null, 7, true, undefined, "", {}, []];
  const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, null]));
  const requests: unknown[] = [
    ...texts.map((state) => ({ state, questions: { q: noul } })),
    ...texts.map((model) => ({ model, state: "x", questions: { q: noul } })),
    ...texts.map((questions) => ({ state: "x", questions })),
    ...texts.map((q) => ({ state: "x", questions: { q } })),
    ...["choice", "noul", "score", "other", null, 1].map((type) => ({
      state: "x",
      questions: { q: { ...choice, type } },
    })),
    ...[choice, noul, score].flatMap((question) =>
      texts.flatMap((value) => [
        { state: "x", questions: { q: { ...question, instructions: value } } },
        { state: "x", questions: { q: { ...question, criteria: value } } },
        { state: "x", questions: { q: { ...question, unknown: value }, r: noul } },
      ]),
    ),
    ...texts.flatMap((value) => [
      { state: "x", questions: { q: { type: "choice", criteria: { a: value } } } },
      { state: "x", questions: { q: { type: "score", criteria: ["a", value] } } },
      { state: "x", questions: { q: { type: "noul", criteria: { true: value } } } },
      { state: "x", questions: { q: { type: "noul", criteria: { false: value, true: null } } } },
      { state: "x", questions: { q: { type: "noul", instructions: "q", criteria: { maybe: value } } } },
      { state: "x", questions: { q: { type: "noul", instructions: value, criteria: null } } },
    ]),
    ...[0, 1, 255, 256].map((n) => ({ state: "x", questions: { q: { type: "choice", criteria: labels(n) } } })),
    ...[0, 1, 10, 11].map((n) => ({ state: "x", questions: { q: { type: "score", criteria: Array(n).fill(null) } } })),
    ...["x", [], null, 7].map((value) => value),
  ].map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  it(`has a schema of requests that agrees with the parser on ${requests.length} requests`, () => {
    const validate = validatorOf("SystemOneRequest");
    for (const request of requests) {
      const parsed = parseRequest(request);
      expect([validate(request), request]).toEqual([parsed.type === "request", request]);
    }
  });

  it("has schemas that every response keeps", async () => {
    const calls: [string, string, unknown?][] = [
      ["/v1/systemone", "SystemOneResponse", REQUEST],
      ["/v1/systemone", "Error", { state: 1 }],
      ["/v1/models", "ModelList"],
      ["/app/usage", "Usage"],
      ["/healthz", "Health"],
      ["/readyz", "Readiness"],
      ["/nothing", "Error"],
    ];
    for (const [path, schema, json] of calls) {
      const answered = await opened.call(path, { ...(json !== undefined && { json }) });
      const validate = validatorOf(schema);
      expect([validate(answered.json), validate.errors], `${path} ${answered.text}`).toEqual([true, null]);
    }
  });
});
