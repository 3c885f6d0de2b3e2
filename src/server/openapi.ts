/** `/openapi.json`: the API described in OpenAPI 3.1, from the schemas of the wire and the table of errors. */

import { readFileSync } from "node:fs";
import { PACKAGE_DIR } from "../config.js";
import type { Deployment } from "../engine/deployment.js";
import { ERROR_KINDS } from "../errors.js";
import { WIRE_CODES } from "./errors.js";
import { type Schema, wireSchemas } from "./schemas.js";

interface Operation {
  readonly summary: string;
  readonly ok: string;
  readonly body?: string;
  readonly isOpen?: boolean;
  readonly refusedWith?: readonly number[];
}

const CALL_STATUSES = [400, 401, 402, 408, 413, 422, 429, 500, 529];

const OPERATIONS: Record<string, Record<string, Operation>> = {
  "/v1/systemone": {
    post: {
      summary: "Answer typed questions about one text",
      ok: "SystemOneResponse",
      body: "SystemOneRequest",
      refusedWith: CALL_STATUSES,
    },
  },
  "/v1/models": { get: { summary: "The names that a request may use", ok: "ModelList", refusedWith: [401, 500, 529] } },
  "/app/usage": { get: { summary: "The caller's use of this month", ok: "Usage", refusedWith: [401, 500] } },
  "/healthz": { get: { summary: "Whether the process lives", ok: "Health", isOpen: true } },
  "/readyz": { get: { summary: "Whether calls are answered; 503 where not", ok: "Readiness", isOpen: true } },
};

export function openApi(deployment: Deployment): Schema {
  const { version } = JSON.parse(readFileSync(`${PACKAGE_DIR}package.json`, "utf8")) as { version: string };
  return {
    openapi: "3.1.0",
    info: { title: "qa", version, description: "Typed questions about texts, answered with probabilities." },
    paths: Object.fromEntries(
      Object.entries(OPERATIONS).map(([path, methods]) => [
        path,
        Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, describe(operation)])),
      ]),
    ),
    components: {
      schemas: wireSchemas(deployment),
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "qa_<id>_<secret>" } },
    },
    security: [{ key: [] }],
  };
}

function describe({ summary, ok, body, isOpen = false, refusedWith = [] }: Operation): Schema {
  return {
    summary,
    ...(isOpen && { security: [] }),
    ...(body !== undefined && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: "The answer", content: json(ok) },
      ...(ok === "Readiness" && { 503: { description: "Not ready", content: json(ok) } }),
      ...Object.fromEntries(
        refusedWith.map((status) => [status, { description: codesOf(status), content: json("Error") }]),
      ),
    },
  };
}

function json(schema: string): Schema {
  return { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** The codes that a status comes with. */
function codesOf(status: number): string {
  return WIRE_CODES.filter((code) => ERROR_KINDS[code].status === status).join(", ");
}
