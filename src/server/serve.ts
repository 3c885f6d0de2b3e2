/** A service that listens: opened, announced, and shut down in order. Owns its engine, its accounts and its socket. */

import type { AddressInfo } from "node:net";
import type { EngineOptions } from "../config.js";
import { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { Accounts, DEFAULT_ACCOUNT } from "./accounts/accounts.js";
import { type App, createApp } from "./app.js";
import { isLoopback, type ServerOptions } from "./config.js";

export interface ServeOptions extends Omit<ServerOptions, "accounts"> {
  readonly engine: EngineOptions;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Folder of the accounts. */
  readonly dataDir: string;
}

export interface Serving {
  readonly url: string;
  readonly checkpoints: readonly string[];
  /** The key that was made because there was none. */
  readonly newKey: string | undefined;
  /** Resolves when the checkpoints are loaded; rejects where they cannot be. */
  readonly started: Promise<void>;
  /** Drains for at most so long, then closes all that was opened. */
  close(drainMs: number): Promise<void>;
}

/**
 * Opens engine and accounts and listens. Calls get a 529 until `started`.
 * @throws QaError `invalid_usage`, `unknown_deployment`, `accounts_unavailable`, `address_unavailable`
 */
export async function serve({ engine: engineOptions, dataDir, port, ...options }: ServeOptions): Promise<Serving> {
  if (options.requireKey === false && !isLoopback(options.host))
    throw new QaError(
      "invalid_usage",
      `--no-auth would let anyone who reaches ${options.host} in; use it with --host 127.0.0.1, or have keys`,
    );
  const engine = await Engine.open(engineOptions);
  const accounts = Accounts.open(dataDir);
  const app = await createApp(engine, { ...options, accounts });
  const close = async (drainMs: number) => {
    await app.drain(drainMs);
    accounts.close();
    await engine.close();
  };
  try {
    const url = await listen(app, options.host, port);
    const needsKey = options.requireKey !== false && accounts.keys.keys().length === 0;
    const newKey = needsKey ? createFirstKey(accounts) : undefined;
    return { url, checkpoints: Object.values(engine.deployment.checkpoints), newKey, started: app.started, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

function createFirstKey({ keys }: Accounts): string {
  keys.saveAccount(DEFAULT_ACCOUNT);
  return keys.createKey(DEFAULT_ACCOUNT).key;
}

async function listen({ http }: App, host: string, port: number): Promise<string> {
  try {
    await http.listen({ host, port });
  } catch (cause) {
    throw new QaError(
      "address_unavailable",
      `cannot listen on ${host} port ${port} (${(cause as NodeJS.ErrnoException).code}); pass another --port, or stop what listens there`,
      { cause },
    );
  }
  const { port: actual } = http.server.address() as AddressInfo;
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${actual}`;
}
