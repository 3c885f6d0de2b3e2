/** Opens a queue in Redis. The only file that loads BullMQ and its Redis client, which are optional packages. */

import type { Queue } from "bullmq";
import { QaError } from "../errors.js";
import type { PartJob, PartResult } from "./part-job.js";

export type PartQueue = Queue<PartJob, PartResult>;

export interface OpenedQueue {
  readonly name: string;
  readonly bullmq: typeof import("bullmq");
  readonly connection: { readonly url: string; readonly maxRetriesPerRequest: null };
  readonly queue: PartQueue;
  close(): Promise<void>;
}

export interface QueueAddress {
  /** `redis://` or `rediss://`, perhaps with a password. */
  readonly redis: string;
  readonly name: string;
}

const CONNECT_TIMEOUT_MS = 5000;

/**
 * Opens a queue; a Redis that goes away later is waited for.
 * @throws QaError `queue_unavailable`: no packages, no Redis
 */
export async function openQueue({ redis, name }: QueueAddress): Promise<OpenedQueue> {
  const { bullmq, ioredis } = await loadPackages();
  await assertReachable(ioredis.Redis, redis);
  const connection = { url: redis, maxRetriesPerRequest: null };
  const queue: PartQueue = new bullmq.Queue(name, { connection });
  queue.on("error", () => {}); // what a call meets is thrown by the call; between calls the client connects again by itself
  return { name, bullmq, connection, queue, close: () => queue.close() };
}

async function loadPackages() {
  try {
    return { bullmq: await import("bullmq"), ioredis: await import("ioredis") };
  } catch (cause) {
    const message =
      "qa queue needs the packages bullmq and ioredis; install them beside qa: npm install bullmq ioredis";
    throw new QaError("queue_unavailable", message, { cause });
  }
}

/** BullMQ itself would wait for a Redis that is not there without end and without a word. */
async function assertReachable(Redis: typeof import("ioredis").Redis, url: string): Promise<void> {
  const probe = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: CONNECT_TIMEOUT_MS });
  let failure: Error | undefined;
  probe.on("error", (error: Error) => {
    failure ??= error;
  });
  try {
    await probe.connect();
    await probe.ping();
  } catch (error) {
    const reason = (failure ?? (error as Error)).message;
    const message = `no Redis answers at ${new URL(url).host} (${reason}); start it, or pass --redis or QA_REDIS_URL`;
    throw new QaError("queue_unavailable", message, { cause: error });
  } finally {
    probe.disconnect();
  }
}
