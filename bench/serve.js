/**
 * What HTTP adds to the engine, and what overload does to it. First a closed loop of 1, 8 and 64 clients (autocannon) on a
 * `qa serve` of its own process, in turn with as many concurrent calls of the bare engine in this one. Then ten times what
 * the service can answer: every response must be a 200 or a typed 429 or 529, /healthz must answer and memory must stay flat.
 * Usage: node bench/serve.js [seconds=4] [rounds=3]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import autocannon from "autocannon";
import { parseRequest } from "../dist/decision/request.js";
import { Engine } from "../dist/engine/engine.js";
import { median, printTable, ticketStates } from "./sample.js";

const [seconds = 4, rounds = 3] = process.argv.slice(2).map(Number);
const MODEL = "core-0.3.20";
const QUESTIONS = {
  refund: { type: "noul", instructions: "Does the customer ask for a refund?" },
  team: {
    type: "choice",
    instructions: "Which team should answer?",
    criteria: { billing: "invoices and payments", technical: "something does not work", sales: null, other: null },
  },
  urgency: { type: "score", instructions: "How urgent is it?", criteria: ["can wait", "this week", "today"] },
};
const requests = (await ticketStates(100)).map((state) => ({ model: MODEL, state, questions: QUESTIONS }));
const parsed = requests.map((request) => parseRequest(request).request);
const bodies = requests.map((request) => JSON.stringify(request));

const service = await startService();
const engine = await Engine.open();
await engine.warm();
try {
  await closedLoops();
  await overload();
} finally {
  await engine.close();
  service.child.kill("SIGTERM");
  await once(service.child, "close");
  await rm(service.data, { recursive: true });
}

async function closedLoops() {
  console.log(
    `closed loop, ${seconds} s each, median of ${rounds} rounds; ${availableParallelism()} cores, shared with the load generator`,
  );
  const rows = [];
  for (const clients of [1, 8, 64]) {
    const bare = [];
    const served = [];
    for (let round = 0; round < rounds; round++) {
      bare.push(await bareLoop(clients));
      served.push(
        await load({ connections: clients, amount: Math.max(4 * clients, Math.ceil(bare[round] * seconds)) }),
      );
    }
    const middle = (figure) => median(served.map(figure));
    const rate = middle((run) => run.rate);
    const bareRate = median(bare);
    const percentiles = [50, 95, 99].map((p) => middle((run) => run.percentile(p)).toFixed(0));
    rows.push([clients, rate.toFixed(1), ...percentiles, bareRate.toFixed(1), (rate / bareRate).toFixed(2)]);
  }
  printTable(["clients", "requests/s", "p50 ms", "p95 ms", "p99 ms", "bare engine/s", "ratio"], rows);
}

async function overload() {
  const control = await probed(() => bareLoop(64, 2 * seconds));
  const { rate: capacity } = await load({ connections: 64, amount: Math.ceil(control.result * 2 * seconds) });
  const memory = [];
  const sampler = setInterval(() => memory.push(residentMiB(service.child.pid)), 200);
  const flood = { connections: 640, overallRate: Math.ceil(10 * capacity), duration: 6 * seconds };
  const { result: run, times } = await probed(() => load(flood));
  clearInterval(sampler);
  const third = Math.floor(memory.length / 3);
  console.log(
    `\noverload: ${run.offered.toFixed(0)} requests/s answered or refused where ${capacity.toFixed(0)}/s can be answered, for ${6 * seconds} s`,
  );
  printTable(
    ["outcome", "responses"],
    [...run.outcomes].sort().map(([outcome, count]) => [outcome, count]),
  );
  console.log(`/healthz: ${summaryOf(times)}`);
  console.log(
    `/healthz of the idle service while the bare engine keeps the cores as busy: ${summaryOf(control.times)}`,
  );
  console.log(`answered 200: ${run.rate.toFixed(1)}/s, of ${capacity.toFixed(1)}/s without overload`);
  console.log(
    `memory: ${median(memory.slice(third, 2 * third))} MiB in the second third, ${median(memory.slice(-third))} MiB in the last, peak ${Math.max(...memory)} MiB`,
  );
}

/** Does something while a thread asks for /healthz every 50 ms. */
async function probed(work) {
  const workerData = { url: `${service.url}/healthz`, everyMs: 50 };
  const probe = new Worker(new URL("./probe.js", import.meta.url), { workerData });
  const result = await work();
  probe.postMessage("stop");
  const [times] = await once(probe, "message");
  return { result, times };
}

function summaryOf(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);
  const within = sorted.filter((ms) => ms <= 50).length;
  return `${sorted.length} probes, ${((100 * within) / sorted.length).toFixed(1)} % within 50 ms, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
}

/** Answers a second of the bare engine with so many calls in hand. */
async function bareLoop(concurrency, forSeconds = seconds) {
  const until = performance.now() + forSeconds * 1000;
  let done = 0;
  let next = 0;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < until) {
        await engine.decide(parsed[next++ % parsed.length]);
        done++;
      }
    }),
  );
  return done / ((performance.now() - from) / 1000);
}

/** Loads the service with so many requests, or at a rate for some time; the rate returned is that of 200s. */
async function load({ connections, ...extent }) {
  const outcomes = new Map();
  const latencies = [];
  const note = (outcome) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const from = performance.now();
  const instance = autocannon({
    url: `${service.url}/v1/systemone`,
    connections,
    timeout: 60,
    ...extent,
    requests: bodies.map((body) => ({
      method: "POST",
      headers: { authorization: `Bearer ${service.key}`, "content-type": "application/json" },
      body,
      onResponse: (status, text) => note(status === 200 ? "200" : `${status} ${codeOf(text)}`),
    })),
  });
  instance.on("response", (_client, status, _bytes, ms) => {
    if (status === 200) latencies.push(ms);
  });
  const result = await instance;
  const elapsed = (performance.now() - from) / 1000;
  if (result.errors > 0) outcomes.set("connection errors", result.errors);
  latencies.sort((a, b) => a - b);
  return {
    outcomes,
    offered: [...outcomes.values()].reduce((sum, count) => sum + count, 0) / elapsed,
    rate: (outcomes.get("200") ?? 0) / elapsed,
    percentile: (p) =>
      latencies[Math.min(latencies.length - 1, Math.floor((p / 100) * latencies.length))] ?? Number.NaN,
  };
}

function codeOf(text) {
  try {
    return JSON.parse(text).error.code;
  } catch {
    return "untyped";
  }
}

async function startService() {
  const data = await mkdtemp(join(tmpdir(), "qa-bench-"));
  const bin = new URL("../bin/qa.js", import.meta.url).pathname;
  const args = [bin, "serve", "--port", "0", "--data", data, "--log-level", "error"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let url = "";
  let key = "";
  for await (const line of createInterface({ input: child.stdout })) {
    url = /TYPESAFE_BASE_URL=(\S+)/.exec(line)?.[1] ?? url;
    key = /TYPESAFE_API_KEY=(\S+)/.exec(line)?.[1] ?? key;
    if (line.includes("TYPESAFE_DEFAULT_MODEL")) break;
  }
  while ((await fetch(`${url}/readyz`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
  return { child, url, key, data };
}

function residentMiB(pid) {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 1024);
}
