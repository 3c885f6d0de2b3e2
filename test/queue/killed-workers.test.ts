import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BIN } from "../cli/packed.js";
import { createSeeded } from "../seeded.js";
import { type StartedRedis, startRedis } from "./start-redis.js";

const KILLS = 3;
const folder = mkdtempSync(join(tmpdir(), "qa-killed-"));
const parts = join(folder, "parts");
const workers: ChildProcess[] = [];
let redis: StartedRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const worker of workers) worker.kill("SIGKILL");
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  const env = { ...process.env, QA_REDIS_URL: redis.url };
  return spawn(process.execPath, [BIN, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
}

/** Runs qa to its end and gives its exit code. */
async function qa(...args: readonly string[]): Promise<unknown> {
  const [code] = await once(start(args), "exit");
  return code;
}

function startWorker(): ChildProcess {
  const worker = start(["queue", "work", "--out", parts, "--until-empty", "--lease", "2", "--workers", "1", "--quiet"]);
  workers.push(worker);
  return worker;
}

const partsDone = () => readdirSync(parts).filter((name) => /^part-.*\.csv$/.test(name)).length;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 50));
}

it("a queue whose workers are killed at random gives the file that one run gives, byte for byte", async () => {
  const draw = createSeeded(Date.now() % 1000);
  const input = join(folder, "in.csv");
  const questions = join(folder, "ask.yaml");
  writeFileSync(questions, "refund: {type: noul, instructions: Is a refund requested?}\n");
  const rows = Array.from({ length: 48 }, (_, i) => `${i},"please refund my order ${i}\nthanks"\n`);
  rows[30] = "30,too,many cells\n"; // a row that fails keeps its place
  writeFileSync(input, `id,text\n${rows.join("")}`);
  const asked = [input, "--questions", questions, "--model", "core-0.3.20", "--quiet"];

  expect(await qa("queue", "push", ...asked, "--to", "csv", "--chunk-rows", "2", "--out", parts)).toBe(0);
  let alive = [startWorker(), startWorker()];
  for (let kills = 0; kills < KILLS; kills++) {
    const before = partsDone();
    await until(() => partsDone() > before);
    await new Promise((resolve) => setTimeout(resolve, draw(0, 150)));
    const [victim, other] = draw(0, 1) === 0 ? alive : alive.toReversed();
    victim?.kill("SIGKILL");
    alive = [startWorker(), ...(other === undefined ? [] : [other])];
  }
  const codes = await Promise.all(alive.map(async (worker) => worker.exitCode ?? (await once(worker, "exit"))[0]));
  expect(codes).toEqual([0, 0]);
  expect(await qa("queue", "status", "--out", parts)).toBe(0);

  const [merged, plain] = [join(folder, "merged.csv"), join(folder, "plain.csv")];
  expect(await qa("run", ...asked, "--out", plain, "--workers", "1")).toBe(3);
  const files = readdirSync(parts).map((name) => join(parts, name));
  expect(await qa("merge", ...files, "--out", merged, "--quiet")).toBe(0);
  expect(readFileSync(merged, "utf8")).toBe(readFileSync(plain, "utf8"));
  expect(files.filter((file) => !/\/part-\d{5}-of-00024\.csv(\.qa)?$/.test(file))).toEqual([]);
}, 150_000); // some 15 s where nothing else runs
