/** The entry of an inference worker: opens checkpoints as tasks name them and does one task at a time. */

import { parentPort } from "node:worker_threads";
import { QaError, toQaError } from "../errors.js";
import { type Family, type FamilyCheckpoint, openFamily } from "./family.js";
import type { FromWorker, Task, ToWorker } from "./inference.js";
import { openOnnxSession } from "./session.js";

const port = parentPort;
if (port === null) throw new QaError("internal", "worker.js was not started as a worker; this is a bug in qa");

const families = new Map<string, Promise<Family>>();
let last: Promise<void> = Promise.resolve();

port.on("message", (message: ToWorker) => {
  last = last.then(() => (message.type === "close" ? close() : answer(message.id, message.task)));
});

async function answer(id: number, task: Task): Promise<void> {
  const reply = await perform(task).then(
    (result): FromWorker => ({ type: "done", id, result }),
    (error: unknown): FromWorker => {
      const { code, message, details } = toQaError(error);
      return { type: "failed", id, error: { code, message: withCause(message, error), details } };
    },
  );
  port?.postMessage(reply);
}

/** The cause of an unexpected error, which cannot cross threads as an object: messages of the runtime, never user text. */
function withCause(message: string, error: unknown): string {
  return error instanceof QaError ? message : `${message} (${String(error)})`;
}

async function perform(task: Task): Promise<unknown> {
  const family = await familyOf(task.checkpoint);
  return task.type === "compile" ? family.compile(task.questions) : family.decide(task.groups);
}

function familyOf(checkpoint: FamilyCheckpoint): Promise<Family> {
  const opened = families.get(checkpoint.name) ?? openFamily(checkpoint, openOnnxSession);
  families.set(checkpoint.name, opened);
  return opened;
}

async function close(): Promise<void> {
  for (const family of families.values()) await (await family).close();
  port?.close();
}
