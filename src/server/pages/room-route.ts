/** `POST /app/room`: what the playground shows of room, route and cost before anything is asked. Runs no inference, costs nothing. */

import type { FastifyPluginAsync } from "fastify";
import type { JsonValue } from "../../decision/json.js";
import { parseOrThrow } from "../../engine/api.js";
import type { Engine } from "../../engine/engine.js";
import { assertQuestionCount } from "../../engine/reading.js";
import { roomReport } from "../../engine/room-report.js";
import { QaError } from "../../errors.js";
import { parseBody } from "../json-body.js";
import type { RoomReply } from "./room-reply.js";

/** Measures a request's room; handed in by tests. */
export type MeasureRoom = (body: JsonValue) => Promise<RoomReply>;

/** A plugin with the route; it stands behind the same authentication as the API, and errors go to the app's error handler. */
export function roomRoute(measure: MeasureRoom): FastifyPluginAsync {
  return async (app) => {
    app.post<{ Body: Buffer | undefined }>("/app/room", (request) => measure(parseBody(request.body)));
  };
}

/**
 * Room of a request in the wire's form, held to what can be tokenised in no time.
 * @throws QaError `invalid_request`
 */
export function measureWith(engine: Engine): MeasureRoom {
  const { choiceNeedsInstructions, limits } = engine.deployment;
  return async (body) => {
    const request = parseOrThrow(body, choiceNeedsInstructions);
    try {
      assertQuestionCount(request.questions.length, limits.english);
      await engine.prepare(request, { refuseEarly: true });
      const { checkpoints, state } = await roomReport(engine, request);
      if (state === undefined) throw new Error("a state was given and not measured; this is a bug in qa");
      return { type: "measured", checkpoints, state };
    } catch (error) {
      if (error instanceof QaError && REFUSALS.has(error.code)) return { type: "refused", message: error.message };
      throw error;
    }
  };
}

const REFUSALS: ReadonlySet<string> = new Set(["too_many_questions", "state_too_long", "unknown_model"]);
