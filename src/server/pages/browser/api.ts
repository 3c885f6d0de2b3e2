/** Calls of this server from its pages. Bodies are read with the order of their keys kept, so labels stay where they were. */

import { isJsonObject, type JsonValue, parseJson, valueAt } from "../../../decision/json.js";
import type { ApiError } from "./failure.js";

export type Reply =
  | { readonly type: "ok"; readonly body: JsonValue; readonly elapsedMs: number }
  | { readonly type: "error"; readonly error: ApiError }
  | { readonly type: "aborted" };

export interface Call {
  readonly path: string;
  readonly key: string | undefined;
  /** Absent means GET. */
  readonly body?: JsonText;
  readonly signal?: AbortSignal | undefined;
}

/** JSON text, as it goes over the wire. */
type JsonText = string;

/** Never rejects: whatever happens becomes a reply. */
export async function callServer({ path, key, body, signal = new AbortController().signal }: Call): Promise<Reply> {
  const startedMs = performance.now();
  try {
    const response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: headersOf(key, body !== undefined),
      cache: "no-store",
      credentials: "omit",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const read = readBody(await response.text());
    if (response.ok && read !== undefined) return { type: "ok", body: read, elapsedMs: performance.now() - startedMs };
    return { type: "error", error: errorOf(response.status, read) };
  } catch {
    if (signal.aborted) return { type: "aborted" };
    const message = "the server does not answer; see whether qa serve still runs";
    return { type: "error", error: { code: "unreachable", message, details: {} } };
  }
}

function headersOf(key: string | undefined, hasBody: boolean): Record<string, string> {
  return {
    accept: "application/json",
    ...(hasBody ? { "content-type": "application/json" } : {}),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
}

function readBody(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function errorOf(status: number, body: JsonValue | undefined): ApiError {
  const error = isJsonObject(body) ? valueAt(body, "error") : undefined;
  if (!isJsonObject(error))
    return { code: String(status), message: `the server answered with status ${status}`, details: {} };
  return {
    code: String(valueAt(error, "code") ?? status),
    message: String(valueAt(error, "message") ?? ""),
    details: error,
  };
}
