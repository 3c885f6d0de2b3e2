/** `POST /v1/systemone`: admitted, parsed, weighed, reserved, answered, settled; in that order (CONTRACT 1, 2, 8). */

import { createHmac } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { stringifyJson } from "../../decision/json.js";
import { parseOrThrow } from "../../engine/api.js";
import { type Decision, decisionToJson } from "../../engine/decision.js";
import {
  assertQuestionCount,
  assertQuestionsFit,
  assertStateReadable,
  measureOf,
  type Reading,
} from "../../engine/reading.js";
import { explainRoute } from "../../engine/router.js";
import { QaError } from "../../errors.js";
import { callOf, whenOver } from "../call.js";
import { authenticate, type Caller } from "../caller.js";
import { parseBody } from "../json-body.js";
import { givenRequestId } from "../request-id.js";
import type { Service } from "../service.js";

export function systemOneRoute(app: FastifyInstance, service: Service): void {
  app.post(
    "/v1/systemone",
    { onRequest: async (request, reply) => admit(request, reply, service) },
    async (request, reply) => {
      const body = request.body as Buffer | undefined;
      const reading = await read(body, service);
      const { cost } = measureOf(reading);
      const decision = await answer({ request, body, reading, cost }, service);
      callOf(request).facts = factsOf(decision, cost);
      service.metrics.decision({ checkpoint: decision.model, inputTokens: decision.usage.inputTokens, cost });
      return reply
        .header("x-qa-cost", cost)
        .header("x-qa-route", explainRoute(decision.route))
        .type("application/json; charset=utf-8")
        .send(stringifyJson(decisionToJson(decision)));
    },
  );
}

/** Before the body is read: so a refusal is cheap. */
function admit(request: FastifyRequest, reply: FastifyReply, { config, readiness, admission, limiter }: Service): void {
  const caller = authenticate(request, config);
  callOf(request).caller = caller;
  readiness.assertAccepting();
  const leaveQueue = admission.enter();
  try {
    const leaveAccount = limiter.enter(caller.account);
    whenOver(reply, leaveAccount);
  } catch (error) {
    leaveQueue();
    throw error;
  }
  whenOver(reply, leaveQueue);
}

/** @throws QaError where the request is not one that can be answered in one call */
async function read(body: Buffer | undefined, { engine, turns }: Service): Promise<Reading> {
  await turns.next();
  const { choiceNeedsInstructions, limits } = engine.deployment;
  const parsed = parseOrThrow(parseBody(body), choiceNeedsInstructions);
  assertQuestionCount(parsed.questions.length, limits.english); // before any are tokenised; both roles have one limit
  const reading = await engine.prepare(parsed, { refuseEarly: true });
  assertQuestionsFit(reading, "call");
  assertStateReadable(reading, "call");
  return reading;
}

interface Weighed {
  readonly request: FastifyRequest;
  readonly body: Buffer | undefined;
  readonly reading: Reading;
  readonly cost: number;
}

async function answer({ request, body, reading, cost }: Weighed, service: Service): Promise<Decision> {
  const { caller, gone } = callOf(request);
  if (caller === undefined) throw new Error("a call was not admitted; this is a bug in qa");
  const { name: account, monthlyAllowance } = caller.account;
  const reservation = service.config.accounts.ledger.reserve({
    account,
    monthlyAllowance,
    tokens: cost,
    retry: retryOf(request, caller, body),
  });
  try {
    const signal = AbortSignal.any([gone.signal, service.stop]);
    const decision = await service.engine.answer(reading, { signal });
    if (signal.aborted) throw new QaError("aborted", "the request was aborted");
    await reservation.settle();
    return decision;
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** A retry is the same id with the same body; of the body only a hash is kept, keyed with what the service does not store. */
function retryOf(request: FastifyRequest, { key }: Caller, body: Buffer | undefined) {
  const requestId = givenRequestId(request.raw);
  if (requestId === undefined) return undefined;
  const digest = createHmac("sha256", key)
    .update(body ?? "")
    .digest();
  return { requestId, digest };
}

function factsOf({ model, route, usage }: Decision, cost: number): Record<string, string | number> {
  return { checkpoint: model, routed: explainRoute(route), input_tokens: usage.inputTokens, cost };
}
