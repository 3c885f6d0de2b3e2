import { describe, expect, it } from "vitest";
import type { RemoteConfig } from "../../src/config.js";
import { parseQuestions } from "../../src/decision/question.js";
import { SYSTEM_CLOCK } from "../../src/remote/clock.js";
import { openRemote } from "../../src/remote/remote-answerer.js";
import { until } from "../server/open-app.js";
import {
  answer,
  configOf,
  deadUrl,
  fakeClock,
  openScripted,
  refuse,
  requestOf,
  responseTo,
  type Script,
} from "./scripted-server.js";

const NEVER = new AbortController().signal;

/** A server with a script, and an answerer of it whose waits take no time. */
async function opened(script: Script, config: Partial<RemoteConfig> = {}) {
  const server = await openScripted(script);
  const clock = fakeClock();
  const remote = openRemote(configOf(server.url, config), clock);
  const ask = (state = "hello", signal = NEVER) => remote.answer(requestOf(state), { signal });
  return { server, clock, remote, ask };
}

function nouls(count: number) {
  const asked = Array.from({ length: count }, (_, i) => [`q${i}`, { type: "noul", instructions: `Is it ${i}?` }]);
  return parseQuestions(Object.fromEntries(asked)).questions;
}

const idsOf = ({ body }: { body: string }) => Object.keys((JSON.parse(body) as { questions: object }).questions);

describe("a row that is answered", () => {
  it("goes to the path of the service with key, model and id, and tells the host that answered", async () => {
    const { server, ask } = await opened(answer);
    const { model, answers, usage, route } = await ask();
    expect({ model, usage, route }).toEqual({
      model: "core-0.3.20",
      usage: { inputTokens: 10 },
      route: { reason: { type: "endpoint", host: server.host } },
    });
    expect(answers).toEqual(new Map([["urgent", { type: "noul", noul: 0.25 }]]));
    const [call] = server.calls;
    expect(call?.url).toBe("/v1/systemone");
    expect(JSON.parse(call?.body ?? "")).toMatchObject({ model: "jev-latest", state: "hello" });
    expect(call?.headers.authorization).toBe("Bearer secret");
    expect(call?.headers["x-typesafe-request-id"]).toMatch(/^qa-[\w-]{36}$/);
  });

  it("goes without a key where there is none, and with the model that it names", async () => {
    const { server, remote } = await opened(answer, { apiKey: undefined });
    await remote.answer({ ...requestOf("hello"), model: "laya" }, {});
    expect(server.calls[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(server.calls[0]?.body ?? "")).toMatchObject({ model: "laya" });
  });
});

describe("a call that fails", () => {
  it.each([
    ["429 with retry-after-ms", 429, { "retry-after-ms": "80" }, [80]],
    ["429 with Retry-After in seconds", 429, { "retry-after": "2" }, [500, 1500]],
    [
      "503 with a Retry-After date",
      503,
      { "retry-after": new Date(fakeClock().dateMs() + 3000).toUTCString() },
      [500, 2500],
    ],
    ["429 that tells no wait", 429, {}, [500]],
    ["500", 500, {}, [500]],
    ["529", 529, {}, [500]],
    ["408", 408, {}, [500]],
  ])("with %s is tried again after the wait it tells, else after half a second", async (_, status, headers, slept) => {
    const { server, clock, ask } = await opened((call) =>
      call.index === 0
        ? refuse(call, status, { code: "busy", message: "later" }, headers as Record<string, string>)
        : answer(call),
    );
    await ask();
    expect(clock.slept).toEqual(slept);
    const [first, second] = server.calls;
    expect(second?.headers["x-typesafe-request-id"]).toBe(first?.headers["x-typesafe-request-id"]);
    expect(second?.headers["x-typesafe-retry-count"]).toBe("1");
    expect(second?.body).toBe(first?.body);
  });

  it("by a connection that breaks, before the response or within it, is tried again", async () => {
    const { server, ask } = await opened((call) => {
      if (call.index === 0) return void call.res.socket?.destroy();
      if (call.index > 1) return answer(call);
      call.res.writeHead(200, { "content-length": "1000" });
      call.res.write(responseTo(call.body).slice(0, 20), () => call.res.socket?.destroy());
    });
    expect((await ask()).answers.size).toBe(1);
    expect(server.calls).toHaveLength(3);
  });

  it("until the deadline is the row's error, with status and tries, and the next row is answered", async () => {
    const { server, clock, ask } = await opened((call) =>
      call.body.includes("poison") ? refuse(call, 500, { code: "internal", message: "crashed" }) : answer(call),
    );
    await ask();
    const startedMs = clock.nowMs();
    await expect(ask("poison")).rejects.toMatchObject({
      code: "endpoint_failed",
      message: expect.stringMatching(/deadline of 60 s.*500 internal, crashed$/),
      details: { host: server.host, status: 500, tries: expect.any(Number) },
    });
    expect(clock.nowMs() - startedMs).toBeLessThanOrEqual(60_000);
    expect(server.calls.length).toBeGreaterThan(5);
    await ask();
  });

  it("as its answer is slower than the deadline is the row's error", async () => {
    const server = await openScripted((call) => (call.body.includes("slow") ? undefined : answer(call)));
    const remote = openRemote(configOf(server.url, { deadlineMs: 1_500 }), { ...SYSTEM_CLOCK, random: () => 0 });
    const [slow, quick] = await Promise.allSettled(
      ["slow", "quick"].map((state) => remote.answer(requestOf(state), { signal: NEVER })),
    );
    expect(quick?.status).toBe("fulfilled");
    expect(slow).toMatchObject({
      reason: { code: "endpoint_failed", message: expect.stringContaining("did not answer") },
    });
  });
});

describe("a call that is refused", () => {
  it("is the row's error with status and code, not tried again, and the next row is answered", async () => {
    const { server, ask } = await opened((call) =>
      call.index === 0 ? refuse(call, 422, { code: "invalid_request", message: "no" }) : answer(call),
    );
    await expect(ask()).rejects.toMatchObject({
      code: "endpoint_refused",
      details: { host: server.host, status: 422, endpoint_code: "invalid_request" },
    });
    await ask();
    expect(server.calls).toHaveLength(2);
  });

  it.each([
    [401, "TYPESAFE_API_KEY"],
    [403, "TYPESAFE_API_KEY"],
    [404, "--endpoint"],
    [405, "--endpoint"],
    [307, "redirects are not followed"],
  ])("with %d before anything was answered ends the run, all rows with the same error", async (status, advice) => {
    const elsewhere = await openScripted(answer);
    const { ask } = await opened((call) =>
      refuse(call, status, { code: "no", message: "not here" }, { location: `${elsewhere.url}/v1/systemone` }),
    );
    const ended = await Promise.allSettled([ask(), ask(), ask()]);
    for (const each of ended)
      expect(each).toMatchObject({
        reason: {
          code: "endpoint_unusable",
          message: expect.stringMatching(`systemone refuses .*${status} no, not here.*${advice}`),
        },
      });
    expect(elsewhere.calls).toEqual([]);
  });

  it.each([401, 404])("with %d once the host has answered is an error of the row", async (status) => {
    const { ask } = await opened((call) =>
      call.index === 1 ? refuse(call, status, { code: "no", message: "not now" }) : answer(call),
    );
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: "endpoint_refused", details: { status } });
    await ask();
  });
});

describe("a response that cannot be used", () => {
  it.each([
    ["garbage", "<html>welcome</html>"],
    ["nothing", ""],
    [
      "answers to other questions",
      '{"model":"m","answers":{"other":{"type":"noul","noul":1}},"usage":{"input_tokens":1}}',
    ],
  ])("(%s) is an error of the row, not tried again", async (_, text) => {
    const { server, ask } = await opened((call) => (call.index === 0 ? void call.res.end(text) : answer(call)));
    await expect(ask()).rejects.toMatchObject({ code: "endpoint_answer_invalid" });
    await ask();
    expect(server.calls).toHaveLength(2);
  });
});

describe("several hosts", () => {
  const pair = async (first: Script, second: Script, config: Partial<RemoteConfig> = {}) => {
    const servers = [await openScripted(first), await openScripted(second)] as const;
    const clock = fakeClock();
    const remote = openRemote(configOf(servers.map(({ url }) => url).join(","), config), clock);
    const askMany = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => remote.answer(requestOf(`row ${i}`), { signal: NEVER })));
    return { servers, clock, remote, askMany };
  };

  it("share the rows, each with no more in flight than it may have", async () => {
    const later: Script = (call) => void setTimeout(() => answer(call), 5);
    const { servers, askMany } = await pair(later, later, { inFlightPerHost: 3 });
    await askMany(60);
    expect(servers.map(({ calls }) => calls.length)).toEqual([expect.closeTo(30, -1), expect.closeTo(30, -1)]);
    expect(servers.map(({ inFlight }) => inFlight.most)).toEqual([3, 3]);
  });

  it("answer all rows while one is dead", async () => {
    const { url: alive, calls } = await openScripted(answer);
    const remote = openRemote(configOf(`${await deadUrl()},${alive}`), fakeClock());
    const rows = Array.from({ length: 50 }, (_, i) => remote.answer(requestOf(`row ${i}`), { signal: NEVER }));
    expect(new Set((await Promise.all(rows)).map(({ answers }) => answers.size))).toEqual(new Set([1]));
    expect(calls).toHaveLength(50);
  });

  it("are spared calls while they fail, and get their share again once they answer", async () => {
    const state = { broken: true };
    const { servers, clock, askMany } = await pair(
      (call) => (state.broken ? refuse(call, 500, { code: "internal", message: "ill" }) : answer(call)),
      answer,
      { inFlightPerHost: 1 },
    );
    await askMany(100);
    const [ill] = servers;
    expect(ill.calls.length).toBeLessThan(10);
    state.broken = false;
    await clock.sleep(5_000, NEVER);
    const before = ill.calls.length;
    await askMany(100);
    expect(ill.calls.length - before).toBeGreaterThan(40);
  });

  it("answer in the place of one that takes calls and never answers, within the deadline", async () => {
    const silent = await openScripted(() => {});
    const alive = await openScripted(answer);
    const endpoint = `${silent.url},${alive.url}`;
    const remote = openRemote(configOf(endpoint, { deadlineMs: 4_000, inFlightPerHost: 1 }), SYSTEM_CLOCK);
    const rows = Array.from({ length: 5 }, (_, i) => remote.answer(requestOf(`row ${i}`), { signal: NEVER }));
    expect((await Promise.all(rows)).map(({ answers }) => answers.size)).toEqual([1, 1, 1, 1, 1]);
    expect(silent.calls.length).toBeGreaterThan(0);
  });
});

describe("endpoints that nobody answers at", () => {
  it("end the run within seconds where nothing was ever heard of them", async () => {
    const clock = fakeClock();
    const remote = openRemote(configOf(await deadUrl()), clock);
    const startedMs = clock.nowMs();
    await expect(remote.answer(requestOf("hello"), {})).rejects.toMatchObject({
      code: "endpoint_unusable",
      message: expect.stringMatching(/no endpoint could be reached .*ECONNREFUSED/),
    });
    expect(clock.nowMs() - startedMs).toBeLessThanOrEqual(15_000);
  });

  it("end the run after a deadline without a word, once they have answered", async () => {
    const { server, clock, ask } = await opened(answer);
    await ask();
    await server.close();
    const startedMs = clock.nowMs();
    await expect(ask()).rejects.toMatchObject({ code: "endpoint_unusable" });
    expect(clock.nowMs() - startedMs).toBeGreaterThan(40_000);
  });

  it("are found again when they come back before that", async () => {
    const { server, clock, remote } = await opened(answer);
    await remote.answer(requestOf("before"), {});
    await server.close();
    const { stopped, goOn } = clock.stopAt(clock.slept.length + 3);
    const row = remote.answer(requestOf("meanwhile"), {});
    await stopped; // or the row's time is over before the server is back
    const back = await openScripted(answer, Number(new URL(server.url).port)).catch(() => undefined);
    goOn();
    if (back === undefined) return void (await row.catch(() => {})); // another process took the port meanwhile
    expect((await row).answers.size).toBe(1);
    expect(back.calls).toHaveLength(1);
  });

  it("cost no row that was under way when they went, however long it had been", async () => {
    const { server, clock, ask } = await opened((call) => {
      if (call.index === 0) return answer(call);
      if (call.index < 9) return refuse(call, 503, { code: "busy", message: "later" });
      return void call.res.socket?.destroy();
    });
    await ask();
    const { stopped, goOn } = clock.stopAt(8);
    const row = ask();
    await stopped; // half of the deadline is gone
    expect(server.calls.length).toBeGreaterThan(8);
    await server.close();
    const goneMs = clock.nowMs();
    goOn();
    await expect(row).rejects.toMatchObject({ code: "endpoint_unusable" });
    expect(clock.nowMs() - goneMs).toBeGreaterThan(45_000);
  });

  it("do not end the run for a row that one of them dies of, while the others answer", async () => {
    const { ask } = await opened((call) =>
      call.body.includes("poison") ? void call.res.socket?.destroy() : answer(call),
    );
    const poisoned = ask("poison");
    const state = { over: false };
    poisoned.catch(() => {}).finally(() => (state.over = true));
    while (!state.over) await ask();
    await expect(poisoned).rejects.toMatchObject({ code: "endpoint_failed" });
  });
});

describe("many questions", () => {
  it("go in calls of 32, their answers and tokens joined", async () => {
    const { server, remote } = await opened(answer);
    const { answers, usage } = await remote.answer(requestOf("hello", nouls(40)), {});
    expect(server.calls.map((call) => idsOf(call).length)).toEqual([32, 8]);
    expect([...answers.keys()]).toEqual(nouls(40).map(({ id }) => id));
    expect(usage).toEqual({ inputTokens: 400 });
  });

  it.each(["processed_tokens_exceeded", "too_many_questions"])(
    "are halved until no call is over (%s)",
    async (code) => {
      const { server, remote } = await opened((call) =>
        idsOf(call).length > 2 ? refuse(call, 400, { code, message: "over", cap: 2 }) : answer(call),
      );
      const { answers, usage } = await remote.answer(requestOf("hello", nouls(7)), {});
      expect(server.calls.map((call) => idsOf(call).length)).toEqual([7, 4, 2, 2, 3, 2, 1]);
      expect([...answers.keys()]).toEqual(nouls(7).map(({ id }) => id));
      expect(usage).toEqual({ inputTokens: 70 });
    },
  );

  it("of which a single one is over are the row's error, in the words of the service", async () => {
    const error = { code: "processed_tokens_exceeded", message: "over", cost: 9, cap: 2 };
    const { remote } = await opened((call) => refuse(call, 400, error));
    await expect(remote.answer(requestOf("hello", nouls(3)), {})).rejects.toMatchObject({
      code: error.code,
      message: "over",
      details: { cost: 9, cap: 2 },
    });
  });

  it("that different models answered are an error, as a row tells of one", async () => {
    const { remote } = await opened(
      (call) => void call.res.end(responseTo(call.body).replace("core-0.3.20", `core-${call.index}`)),
    );
    await expect(remote.answer(requestOf("hello", nouls(40)), {})).rejects.toMatchObject({
      code: "endpoint_answer_invalid",
      message: expect.stringContaining("different models"),
    });
  });
});

describe("an end", () => {
  it.each(["the run's signal", "close"])(
    "by %s ends calls in flight, those that wait, and waits themselves",
    async (by) => {
      const server = await openScripted((call) =>
        call.index === 0 ? refuse(call, 503, { code: "x", message: "y" }) : undefined,
      );
      const remote = openRemote(configOf(server.url, { inFlightPerHost: 2 }));
      const controller = new AbortController();
      const rows = Array.from({ length: 20 }, (_, i) =>
        remote.answer(requestOf(`row ${i}`), { signal: controller.signal }),
      );
      const ended = Promise.allSettled(rows);
      await until(() => server.inFlight.now === 2, "two calls are in flight");
      if (by === "close") remote.close();
      else controller.abort();
      for (const each of await ended) expect(each).toMatchObject({ reason: { code: "aborted" } });
      await until(() => server.inFlight.now === 0, "no call is left at the server");
      const late = remote.answer(requestOf("late"), { signal: controller.signal });
      await expect(late).rejects.toMatchObject({ code: "aborted" });
      expect(server.calls.length).toBeLessThan(5);
    },
  );
});

it("the identity of a run is the endpoints in whatever order and spelling, and the default name", async () => {
  const identityOf = (endpoint: string) => openRemote(configOf(endpoint)).identity();
  const identity = await identityOf("http://a:1,http://b:2");
  expect(identity).toEqual({
    endpoints: ["http://a:1/v1/systemone", "http://b:2/v1/systemone"],
    default_model: "jev-latest",
  });
  expect(await identityOf("http://b:2/v1/systemone/, http://a:1/")).toEqual(identity);
});

it("a key that no header can carry is refused before any call, and not shown", () => {
  const open = () => openRemote(configOf("http://127.0.0.1:1", { apiKey: "hunter2\nx" }));
  expect(open).toThrow(
    expect.objectContaining({ code: "invalid_usage", message: expect.not.stringContaining("hunter2") }),
  );
});
