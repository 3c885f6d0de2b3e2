import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { isTextDeeperThan } from "../../src/server/json-body.js";
import { assertOwnHostAndOrigin } from "../../src/server/origin-guard.js";
import { openApp, REQUEST, until } from "./open-app.js";

const opened = await openApp({ requestTimeoutMs: 1_500, headersTimeoutMs: 1_000 });

describe("keys", () => {
  it.each([
    ["no header", {}],
    ["another scheme", { authorization: `Basic ${opened.key}` }],
    ["a wrong secret", { authorization: `Bearer ${opened.key.slice(0, -4)}0000` }],
    ["a key in another header", { "x-api-key": opened.key }],
  ])("are read from the Authorization header only: %s is 401", async (_name, headers) => {
    for (const path of ["/v1/models", "/app/usage", `/v1/models?api_key=${opened.key}`]) {
      const response = await fetch(`${opened.url}${path}`, { headers: { accept: "application/json", ...headers } });
      expect(response.status, path).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  it("that are revoked are refused at once", async () => {
    const { id, key } = opened.accounts.keys.createKey("default");
    const get = () => fetch(`${opened.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect((await get()).status).toBe(200);
    opened.accounts.keys.revokeKey(id);
    expect((await get()).status).toBe(401);
  });

  it("are not needed with --no-auth, where everyone is the account default", async () => {
    const free = await openApp({ requireKey: false });
    const response = await fetch(`${free.url}/v1/systemone`, { method: "POST", body: JSON.stringify(REQUEST) });
    expect(response.status).toBe(200);
    expect(free.accounts.usage("default").used).toBe(Number(response.headers.get("x-qa-cost")));
  });
});

describe("Host and Origin", () => {
  const onLoopback = { isLoopback: true, allowedHosts: [], allowedOrigins: [] };
  const guard = (host: string | undefined, origin?: string, config = {}) => {
    try {
      assertOwnHostAndOrigin({ host, origin }, { ...onLoopback, ...config });
      return "ok";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each([
    ["localhost:8080", undefined, {}, "ok"],
    ["127.0.0.1:8080", undefined, {}, "ok"],
    ["127.4.5.6", undefined, {}, "ok"],
    ["[::1]:8080", undefined, {}, "ok"],
    ["LOCALHOST", undefined, {}, "ok"],
    ["evil.example", undefined, {}, "forbidden"],
    ["localhost.evil.example:8080", undefined, {}, "forbidden"],
    ["127.0.0.1.evil.example", undefined, {}, "forbidden"],
    ["", undefined, {}, "forbidden"],
    [undefined, undefined, {}, "forbidden"],
    ["localhost:8080", "http://localhost:8080", {}, "ok"],
    ["localhost:8080", "http://localhost:3000", {}, "forbidden"],
    ["localhost:8080", "https://localhost:8080", {}, "forbidden"],
    ["localhost:8080", "null", {}, "forbidden"],
    ["localhost:8080", "https://app.example", {}, "forbidden"],
    ["localhost:8080", "https://app.example", { allowedOrigins: ["https://app.example"] }, "ok"],
    ["qa.example", "https://qa.example", { allowedHosts: ["qa.example"] }, "ok"],
    ["qa.example", "https://app.example", { isLoopback: false }, "ok"],
  ])("%s from %s with %j is %s", (host, origin, config, verdict) => {
    expect(guard(host, origin, config)).toBe(verdict);
  });

  it("of another machine are a typed 403 on every route", async () => {
    const { port } = new URL(opened.url);
    for (const path of ["/v1/systemone", "/app", "/metrics"]) {
      const status = await new Promise((resolve, reject) => {
        httpRequest({ port, path, headers: { host: "rebound.example" } }, (response) => {
          response.resume();
          resolve([response.statusCode, response.headers["x-service-error-code"]]);
        })
          .on("error", reject)
          .end();
      });
      expect(status).toEqual([403, "forbidden"]);
    }
  });

  it("get no CORS headers unless allowed; an allowed origin gets its preflight answered", async () => {
    const { headers } = await opened.call("/v1/models");
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect((await opened.call("/v1/models", { method: "OPTIONS" })).status).toBe(405);
    const allowing = await openApp({ allowedOrigins: ["https://app.example"] });
    const preflight = await fetch(`${allowing.url}/v1/systemone`, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    const called = await allowing.call("/v1/models", { headers: { origin: "https://app.example" } });
    expect(called.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(called.headers.get("vary")).toContain("origin");
  });
});

describe("slow clients", () => {
  /** What a raw connection that sends some bytes and then stops is answered. */
  const send = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(opened.url);
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      let received = "";
      socket.on("data", (data) => {
        received += data;
      });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });

  it("that never finish their headers or body are cut off with a typed 408", async () => {
    const head = `POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${opened.key}\r\n`;
    const answers = await Promise.all([send(head), send(`${head}Content-Length: 100\r\n\r\n{"state":`)]);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(answer).toMatch(/x-service-error-code: request_timeout\r\n/);
      expect(answer).toMatch(/\{"error":\{"code":"request_timeout"/);
    }
    const inHand = async () => ((await opened.call("/readyz")).json as unknown as { in_flight: number }).in_flight;
    await until(async () => (await inHand()) === 0, "the queue is empty again");
  });

  it("that do not speak HTTP get a typed 400", async () => {
    expect(await send("HELO there\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\nx-service-error-code: invalid_http/,
    );
  });
});

describe("what is written down", () => {
  const secret = "Zanzibar";

  it("holds nothing of state, questions, labels or keys, in logs, metrics and the database's reports", async () => {
    const { logLines } = opened;
    logLines.length = 0;
    const questions = {
      [`${secret}-id`]: { type: "choice", instructions: `${secret}?`, criteria: { [`${secret}-label`]: secret } },
    };
    const calls = [
      { json: { state: secret, questions } },
      { json: { state: secret, questions, model: `${secret}-model` } },
      { json: { state: secret, questions: { [secret]: { type: secret } } } },
      { method: "POST", body: `{"state": "${secret}` },
      { json: { state: `${secret} `.repeat(3000), questions } },
    ];
    for (const call of calls) await opened.call("/v1/systemone", call);
    await opened.call(`/v1/${secret}?${secret}=1`, {
      headers: { "user-agent": secret, referer: `http://x/${secret}` },
    });
    opened.fake.failures.push(new Error("out of memory"));
    await opened.call("/v1/systemone", { json: { state: secret, questions } });
    const metrics = (await opened.call("/metrics")).text;
    await until(() => logLines.filter((line) => line.includes('"response"')).length >= 7, "all is logged");
    const written = logLines.join("") + metrics + JSON.stringify(opened.accounts.usage("default"));
    expect(written).not.toContain(secret);
    expect(written).not.toContain(opened.key);
    expect(written).toContain("out of memory");
  });

  it("tells of each request its id, route, status, code, time, account, checkpoint and why, tokens and cost", async () => {
    opened.logLines.length = 0;
    await opened.call("/v1/systemone", { json: REQUEST, headers: { "x-typesafe-request-id": "log-me" } });
    await until(() => opened.logLines.length > 0, "it is logged");
    expect(JSON.parse(opened.logLines[0] ?? "")).toEqual({
      level: 30,
      time: expect.any(Number),
      request_id: "log-me",
      method: "POST",
      route: "/v1/systemone",
      status: 200,
      code: "ok",
      ms: expect.any(Number),
      account: "default",
      checkpoint: "core-multilingual-0.3.20",
      routed: expect.stringMatching(/^looks English/),
      input_tokens: expect.any(Number),
      cost: expect.any(Number),
      msg: "response",
    });
  });

  it("labels metrics by this service's own names only", async () => {
    await opened.call("/v1/systemone", { json: REQUEST });
    const { text, headers } = await opened.call("/metrics");
    expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/^qa_responses_total\{route="\/v1\/systemone",status="200",code="ok"\} \d+$/m);
    expect(text).toMatch(/^qa_decisions_total\{checkpoint="core-multilingual-0\.3\.20"\} \d+$/m);
    const labels = [...text.matchAll(/(\w+)="/g)].map(([, name]) => name);
    expect([...new Set(labels)].sort()).toEqual(["checkpoint", "code", "le", "route", "status"]);
  });
});

describe("pages", () => {
  it("need no key, but what they ask the service for does, and has its place in the queue", async () => {
    const free = await openApp({ maxCallsInHand: 1 });
    const room = { method: "POST", body: JSON.stringify(REQUEST) };
    expect((await fetch(`${free.url}/app`)).status).toBe(200);
    expect((await fetch(`${free.url}/app/usage`, { headers: { accept: "text/html,*/*;q=0.8" } })).status).toBe(200);
    expect((await fetch(`${free.url}/app/usage`, { headers: { accept: "application/json, text/html" } })).status).toBe(
      401,
    );
    expect((await fetch(`${free.url}/app/usage`)).status).toBe(401);
    expect((await fetch(`${free.url}/app/room`, room)).status).toBe(401);
    free.fake.hold();
    const call = free.call("/v1/systemone", { json: REQUEST });
    await until(() => free.fake.batches.length === 1, "a call runs");
    expect((await free.call("/app/room", room)).json.error.code).toBe("worker_busy");
    free.fake.release();
    expect((await call).status).toBe(200);
    await until(async () => (await free.call("/app/room", room)).status === 200, "the queue has room");
  });

  it("come with a strict policy, and every response with nosniff", async () => {
    for (const path of ["/app", "/app/usage"]) {
      const { status, headers } = await opened.call(path, { headers: { accept: "text/html" } });
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'/);
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(headers.get("x-frame-options")).toBe("DENY");
    }
    for (const path of ["/v1/models", "/healthz", "/nothing"])
      expect((await opened.call(path)).headers.get("x-content-type-options")).toBe("nosniff");
  });
});

describe("the depth of JSON", () => {
  it.each([
    ["[[[]]]", 3, false],
    ["[[[]]]", 2, true],
    ['{"a":"[[[["}', 1, false],
    ['["\\"[[[",{}]', 2, false],
    ['["\\\\",[[]]]', 2, true],
    ["", 0, false],
  ])("%s is deeper than %i: %s", (text, limit, verdict) => {
    expect(isTextDeeperThan(text, limit)).toBe(verdict);
  });
});
