/** `POST /app/room`: what the playground shows of room, route and cost before anything is asked. Runs no inference, costs nothing. */

import type { FastifyPluginAsync } from "fastify";
import type { JsonValue } from "../../decision/json.js";
import { parseRequest } from "../../decision/request.js";
import type { Engine } from "../../engine/engine.js";
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
 * Room of a request in the wire's form.
 * @throws QaError `invalid_request`, `unknown_model`
 */
export function measureWith(engine: Engine): MeasureRoom {
  return async (body) => {
    const parsed = parseRequest(body, {
      choiceNeedsInstructions: engine.deployment.choiceNeedsInstructions,
    });
    if (parsed.type === "issues") {
      const issues = parsed.issues.map(({ path, message }) => ({ path, message }));
      throw new QaError("invalid_request", "the request has issues; mend each at its path", { details: { issues } });
    }
    const { checkpoints, state } = await roomReport(engine, parsed.request);
    if (state === undefined) throw new Error("a state was given and not measured; this is a bug in qa");
    return { checkpoints, state };
  };
}
