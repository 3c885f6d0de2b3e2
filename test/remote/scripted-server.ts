/** A System One service that does what a test tells it to, call by call, and a clock whose waits take no time. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import type { RemoteConfig } from "../../src/config.js";
import { entriesOf, isJsonObject, type JsonValue, parseJson, stringifyJson, valueAt } from "../../src/decision/json.js";
import { parseQuestions, type Question } from "../../src/decision/question.js";
import type { ParsedRequest } from "../../src/decision/request.js";
import type { Clock } from "../../src/remote/clock.js";

export interface ScriptedCall {
  readonly index: number;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly res: ServerResponse;
}

export type Script = (call: ScriptedCall) => void | Promise<void>;

export interface Scripted {
  readonly url: string;
  readonly host: string;
  readonly calls: ScriptedCall[];
  readonly inFlight: { now: number; most: number };
  close(): Promise<void>;
}

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Listens on a free port, or on the one given; closed after the test file. */
export async function openScripted(script: Script, port = 0): Promise<Scripted> {
  const calls: ScriptedCall[] = [];
  const inFlight = { now: 0, most: 0 };
  const server = createServer(async (req, res) => {
    inFlight.most = Math.max(inFlight.most, ++inFlight.now);
    res.once("close", () => inFlight.now--);
    const body = await text(req);
    const call = { index: calls.length, url: req.url ?? "", headers: req.headers, body, res };
    calls.push(call);
    await script(call);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  closers.push(close);
  return { url: `http://${host}`, host, calls, inFlight, close };
}

/** An address where nobody listens. */
export async function deadUrl(): Promise<string> {
  const { url, close } = await openScripted(() => {});
  await close();
  return url;
}

/** Answers what is asked: of noul 0.25, of the others the first option. */
export function answer({ body, res }: Pick<ScriptedCall, "body" | "res">): void {
  res.end(responseTo(body));
}

export function responseTo(body: string): string {
  const request = parseJson(body);
  const questions = isJsonObject(request) ? valueAt(request, "questions") : undefined;
  const asked = isJsonObject(questions) ? entriesOf(questions) : [];
  const answers = new Map(asked.map(([id, question]) => [id, answerTo(question)]));
  return stringifyJson({ model: "core-0.3.20", answers, usage: { input_tokens: 10 * asked.length, output_tokens: 0 } });
}

function answerTo(question: JsonValue): JsonValue {
  const { questions } = parseQuestions({ q: question });
  const { type, options, legend } = questions[0] as Question;
  if (type === "noul") return { type, noul: 0.25 };
  const probabilities = new Map(options.map(({ label }, i) => [label, i === 0 ? 1 : 0]));
  if (type === "choice") return { type, choice: options[0]?.label ?? "", confidence: 1, probabilities };
  const levels = new Map(legend.map((criterion, level) => [String(level), criterion]));
  return { type, score: 0, confidence: 1, legend: levels, probabilities };
}

/** An error as our own service words it. */
export function refuse(
  { res }: Pick<ScriptedCall, "res">,
  status: number,
  error: { readonly code: string; readonly message: string; readonly [detail: string]: JsonValue },
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, headers).end(stringifyJson({ error }));
}

export interface FakeClock extends Clock {
  readonly slept: number[];
  /** Stops at some sleep, so that something real can be done meanwhile; until it is told to go on. */
  stopAt(sleep: number): { readonly stopped: Promise<void>; readonly goOn: () => void };
}

/** Time goes on while somebody sleeps, and only then. */
export function fakeClock(): FakeClock {
  let now = 1e6;
  const slept: number[] = [];
  let stop: { readonly sleep: number; readonly stopped: () => void; readonly goOn: Promise<void> } | undefined;
  return {
    slept,
    stopAt(sleep) {
      let goOn = () => {};
      const gone = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const stopped = new Promise<void>((resolve) => {
        stop = { sleep, stopped: resolve, goOn: gone };
      });
      return { stopped, goOn: () => goOn() };
    },
    nowMs: () => now,
    dateMs: () => Date.UTC(2026, 0, 1) + now,
    random: () => 0,
    async sleep(ms, signal) {
      slept.push(ms);
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
      if (stop?.sleep === slept.length) {
        stop.stopped();
        await stop.goOn;
      }
      signal.throwIfAborted();
    },
  };
}

export function configOf(endpoint: string, config: Partial<RemoteConfig> = {}): RemoteConfig {
  return {
    endpoint,
    inFlightPerHost: 4,
    deadlineMs: 60_000,
    apiKey: "secret",
    defaultModel: "jev-latest",
    ...config,
  };
}

const { questions: urgent } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });

export function requestOf(state: string, questions: readonly Question[] = urgent): ParsedRequest {
  return { model: undefined, state, questions };
}
