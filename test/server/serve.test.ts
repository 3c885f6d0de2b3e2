/** `qa serve` and its sister commands as processes: what they print, how they end, and what survives. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { Accounts } from "../../src/server/accounts/accounts.js";
import { BIN } from "../cli/packed.js";
import { REQUEST, temporaryDirectory, until } from "./open-app.js";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    createInterface({ input: child[name] }).on("line", (line) => {
      output[name] += `${line}\n`;
    });
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, output, ended };
}

async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { output, ended } = start(...args);
  return { code: await ended, ...output };
}

async function startService(data: string, ...args: string[]) {
  const service = start("serve", "--port", "0", "--workers", "1", "--data", data, ...args);
  await until(() => /TYPESAFE_DEFAULT_MODEL/.test(service.output.stdout), "the service has announced itself");
  const url = /TYPESAFE_BASE_URL=(\S+)/.exec(service.output.stdout)?.[1] ?? "";
  const printedKey = /TYPESAFE_API_KEY=(qa_\S+)/.exec(service.output.stdout)?.[1];
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, "it is ready");
  const call = (key: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/systemone`, {
      method: "POST",
      body: JSON.stringify(REQUEST),
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  return { ...service, url, printedKey, call };
}

describe("qa serve", () => {
  it("makes the first key and shows it once, answers with it, drains on SIGTERM and exits 0", async () => {
    const data = temporaryDirectory();
    const first = await startService(data);
    expect(first.output.stdout).toMatch(/^qa serves http:\/\/127\.0\.0\.1:\d+, and a page/);
    expect(first.output.stdout).toContain("checkpoints: core-0.3.20, core-multilingual-0.3.20");
    const key = first.printedKey ?? "";
    const calls = Array.from({ length: 8 }, () => first.call(key));
    await Promise.race(calls);
    first.child.kill("SIGTERM");
    const answered = (await Promise.allSettled(calls)).filter(
      (outcome) => outcome.status === "fulfilled" && outcome.value.status === 200,
    );
    expect(await first.ended).toBe(0);
    const accounts = Accounts.open(data);
    expect(accounts.usage("default").by_day.at(-1)?.calls).toBe(answered.length);
    accounts.close();
    const second = await startService(data);
    expect(second.printedKey).toBeUndefined();
    expect(second.output.stdout).toContain("TYPESAFE_API_KEY='<your key>'");
    expect((await second.call(key)).status).toBe(200);
  });

  it("refuses --no-auth off loopback, and a port that is taken", async () => {
    const data = temporaryDirectory();
    const open = await run("serve", "--no-auth", "--host", "0.0.0.0", "--port", "0", "--data", data);
    expect(open.code).toBe(2);
    expect(open.stderr).toContain("--no-auth would let anyone who reaches 0.0.0.0 in");
    const { url } = await startService(data, "--no-auth");
    const taken = await run("serve", "--port", new URL(url).port, "--data", data);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(/cannot listen on 127\.0\.0\.1 port \d+ \(EADDRINUSE\)/);
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
  });

  it("ends with a clear message where a checkpoint is missing", async () => {
    const folder = temporaryDirectory();
    const { code, stderr } = await run("serve", "--port", "0", "--data", folder, "--models", folder);
    expect(code).toBe(1);
    expect(stderr).toContain(`checkpoint core-0.3.20 is not in ${folder}`);
  });
});

describe("kill -9", () => {
  it("loses no answered call, charges no call twice, and the retried rest makes exactly the whole", async () => {
    const data = temporaryDirectory();
    const accounts = Accounts.open(data);
    accounts.keys.saveAccount("default");
    const { key } = accounts.keys.createKey("default");
    const ids = Array.from({ length: 30 }, (_, i) => `call-${i}`);
    const answered = new Set<string>();
    let cost = 0;
    const work = async (
      call: (key: string, headers: Record<string, string>) => Promise<Response>,
      killAt: number,
      kill: () => void,
    ) => {
      const waiting = ids.filter((id) => !answered.has(id));
      const ask = async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          const response = await call(key, { "x-typesafe-request-id": id });
          await response.text();
          expect(response.status).toBe(200);
          cost = Number(response.headers.get("x-qa-cost"));
          answered.add(id);
          if (answered.size === killAt) kill();
        }
      };
      await Promise.allSettled(Array.from({ length: 6 }, ask));
    };
    for (const killAt of [6, 14]) {
      const service = await startService(data);
      await work(service.call, killAt, () => service.child.kill("SIGKILL"));
      await service.ended;
      const { used } = accounts.usage("default");
      expect(used % cost).toBe(0);
      expect(used / cost).toBeGreaterThanOrEqual(answered.size);
      expect(used / cost).toBeLessThanOrEqual(answered.size + 6);
      expect(answered.size).toBeLessThan(ids.length);
    }
    const service = await startService(data);
    await work(service.call, ids.length, () => {});
    expect(answered.size).toBe(ids.length);
    expect(accounts.usage("default").used).toBe(ids.length * cost);
    accounts.close();
  });
});

describe("qa keys and qa usage", () => {
  it("make, list and revoke keys, and show what was used, beside a running service", async () => {
    const data = temporaryDirectory();
    const service = await startService(data);
    const made = await run("keys", "create", "--account", "batch", "--allowance", "1000000", "--data", data);
    const key = made.stdout.trim();
    expect(key).toMatch(/^qa_[0-9a-f]{12}_[0-9a-f]{48}$/);
    const response = await service.call(key);
    expect(response.status).toBe(200);
    const cost = Number(response.headers.get("x-qa-cost"));
    const usage = JSON.parse((await run("usage", "--account", "batch", "--json", "--data", data)).stdout);
    expect(usage).toMatchObject({ account: "batch", used: cost, allowance: 1_000_000, remaining: 1_000_000 - cost });
    const text = await run("usage", "--account", "batch", "--data", data);
    expect(text.stdout).toMatch(new RegExp(`^batch, \\d{4}-\\d\\d: ${cost} processed tokens \\(1000000 allowed`));
    expect((await run("keys", "revoke", key, "--data", data)).code).toBe(0);
    expect((await service.call(key)).status).toBe(401);
    const listed = await run("keys", "list", "--json", "--data", data);
    const keys = listed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(keys.map(({ account, revoked_at }) => [account, revoked_at !== null])).toEqual([
      ["default", false],
      ["batch", true],
    ]);
    expect(listed.stdout).not.toContain(key.slice(-48));
    expect((await run("keys", "list", "--data", data)).stdout).toMatch(/^id +account +created +last used +revoked\n/);
    const wrong = await run("keys", "revoke", "nope", "--data", data);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('there is no key with the id "nope"')]);
    expect((await run("usage", "--month", "soon", "--data", data)).code).toBe(2);
  });
});
