/** A Redis of the tests' own, on a free port, that keeps nothing. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";

const INSTALL =
  "the queue tests need redis-server; install it: apt-get install -y redis-server (macOS: brew install redis)";

export interface StartedRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a Redis; throws where there is none to start, since a queue that was not tested must not pass. */
export async function startRedis(): Promise<StartedRedis> {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn("redis-server", [...options, "--dir", tmpdir()], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error(INSTALL, { cause })));
    child.once("exit", (code) => reject(new Error(`redis-server ended at once with code ${code}`)));
    child.stdout.on("data", (text: Buffer) => {
      if (text.includes("Ready to accept connections")) resolve();
    });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      const exit = once(child, "exit");
      child.kill();
      await exit;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
