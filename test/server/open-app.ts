/** A service over a fake inference in a data directory of its own, listening on a free port; closed after the test file. */

import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TypeSafeClient, type TypeSafeClientConfig } from "@typesafe-ai/sdk";
import { afterAll } from "vitest";
import type { EngineOptions } from "../../src/config.js";
import { Engine } from "../../src/engine/engine.js";
import type { Inference } from "../../src/engine/inference.js";
import { Accounts } from "../../src/server/accounts/accounts.js";
import type { AccountLimits } from "../../src/server/accounts/key-store.js";
import { type App, createApp } from "../../src/server/app.js";
import type { ServerOptions } from "../../src/server/config.js";
import { FakeInference } from "./fake-inference.js";
import { writeFakeModels } from "./fake-models.js";

export interface Opened {
  readonly app: App;
  readonly url: string;
  readonly key: string;
  readonly accounts: Accounts;
  readonly fake: FakeInference;
  readonly directory: string;
  readonly logLines: string[];
  client(config?: TypeSafeClientConfig): TypeSafeClient;
  /** A call with the key, JSON in and out. */
  call(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { error: { code: string; message: string; [detail: string]: unknown } } & Record<string, unknown>;
}

export interface OpenOptions extends Partial<Omit<ServerOptions, "accounts">> {
  readonly engine?: EngineOptions;
  readonly inference?: Inference;
  readonly limits?: Partial<AccountLimits>;
  /** Do not wait until the checkpoints are loaded. */
  readonly starting?: boolean;
}

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "qa-server-"));
  closers.push(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function openApp({ engine: options = {}, inference, limits, starting, ...server }: OpenOptions = {}) {
  const directory = temporaryDirectory();
  const fake = new FakeInference();
  const models = inference === undefined ? { modelsDir: writeFakeModels(join(directory, "models")) } : {};
  const engine = await Engine.open({ workers: 2, ...models, ...options }, inference ?? fake);
  const accounts = Accounts.open(directory, server.now === undefined ? {} : { now: server.now });
  accounts.keys.saveAccount("default", limits);
  const { key } = accounts.keys.createKey("default");
  const logLines: string[] = [];
  const log = { level: "trace", stream: { write: (line: string) => void logLines.push(line) } };
  const app = await createApp(engine, { log, ...server, accounts });
  await app.http.listen({ host: "127.0.0.1", port: 0 });
  closers.push(async () => {
    await app.drain(0);
    accounts.close();
    await engine.close();
  });
  if (!starting) await app.started;
  const url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`;
  const opened: Opened = {
    app,
    url,
    key,
    accounts,
    fake,
    directory,
    logLines,
    client: (config = {}) => new TypeSafeClient({ apiKey: key, baseURL: url, logLevel: "off", ...config }),
    async call(path, { json, ...init } = {}) {
      const method = json === undefined ? "GET" : "POST";
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const headers = { authorization: `Bearer ${key}`, ...init.headers };
      return read(await fetch(`${url}${path}`, { method, ...body, ...init, headers }));
    },
  };
  return opened;
}

export async function read(response: Response): Promise<Answered> {
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("application/json") ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, text, json };
}

export const REQUEST = {
  state: "I was charged twice for the same order, please refund one of them.",
  questions: {
    refund: { type: "noul", instructions: "Is a refund requested?" },
    team: { type: "choice", instructions: "Which team?", criteria: { billing: "charged, refund", technical: null } },
    mood: { type: "score", instructions: "How upset?", criteria: ["calm", "annoyed", "furious"] },
  },
} as const;

/** Resolves once a condition holds; fails after some seconds. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000; // a process that starts beside busy ones takes many times what it takes alone
  while (performance.now() < deadline) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited in vain until ${what}`);
}
