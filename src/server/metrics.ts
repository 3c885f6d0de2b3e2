/** Numbers for Prometheus. Labels are names of this service alone: routes, codes, checkpoints; never anything a user sent. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface LoadSources {
  readonly inHand: () => number;
  readonly waiting: () => number;
  readonly running: () => number;
  readonly workerCrashes: () => number;
  readonly isReady: () => boolean;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  response(facts: {
    readonly route: string;
    readonly status: number;
    readonly code: string;
    readonly seconds: number;
  }): void;
  decision(facts: { readonly checkpoint: string; readonly inputTokens: number; readonly cost: number }): void;
}

const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(load: LoadSources, { processMetrics }: { readonly processMetrics: boolean }): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const responses = new Counter({
    name: "qa_responses_total",
    help: "Responses by route, status and error code",
    labelNames: ["route", "status", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "qa_response_seconds",
    help: "Time from the request's headers to the end of its response",
    labelNames: ["route"],
    buckets: BUCKETS_S,
    registers,
  });
  const counterOf = (name: string, help: string) => new Counter({ name, help, labelNames: ["checkpoint"], registers });
  const decisions = counterOf("qa_decisions_total", "Calls answered");
  const inputTokens = counterOf("qa_input_tokens_total", "Tokens of all sequences, without padding");
  const processedTokens = counterOf("qa_processed_tokens_total", "Processed tokens: what calls cost");
  gauge("qa_calls_in_hand", "Calls admitted and not yet answered", load.inHand);
  gauge("qa_states_waiting", "States that wait for a batch", load.waiting);
  gauge("qa_batches_running", "Batches handed to workers", load.running);
  gauge("qa_worker_crashes", "Inference workers that ended unasked since the start", load.workerCrashes);
  gauge("qa_ready", "1 where /readyz answers 200", () => Number(load.isReady()));

  function gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  }

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    response({ route, status, code, seconds: elapsed }) {
      responses.inc({ route, status, code });
      seconds.observe({ route }, elapsed);
    },
    decision({ checkpoint, inputTokens: tokens, cost }) {
      decisions.inc({ checkpoint });
      inputTokens.inc({ checkpoint }, tokens);
      processedTokens.inc({ checkpoint }, cost);
    },
  };
}
