/** A thread of bench/serve.js that asks for a URL again and again, and tells how long each answer took, in ms. */

import { parentPort, workerData } from "node:worker_threads";

const { url, everyMs } = workerData;
const times = [];
let isStopped = false;
parentPort.once("message", () => {
  isStopped = true;
});
while (!isStopped) {
  const from = performance.now();
  const response = await fetch(url);
  await response.text();
  times.push(response.ok ? performance.now() - from : Number.POSITIVE_INFINITY);
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
parentPort.postMessage(times);
