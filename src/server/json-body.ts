/** A request's body as JSON, whatever its Content-Type says: UTF-8, bounded in depth, keys in the order given. */

import { type JsonValue, MAX_DEPTH, parseJson } from "../decision/json.js";
import { QaError } from "../errors.js";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws QaError `invalid_json` */
export function parseBody(body: Buffer | undefined): JsonValue {
  if (body === undefined || body.length === 0)
    throw new QaError("invalid_json", "the request has no body; send a JSON object with state and questions");
  const text = decode(body);
  if (isTextDeeperThan(text, MAX_DEPTH))
    throw new QaError("invalid_json", `the body is nested more than ${MAX_DEPTH} levels deep; flatten it`);
  try {
    return parseJson(text);
  } catch (cause) {
    const at = /position (\d+)/.exec((cause as Error).message)?.[1];
    const where = at === undefined ? "" : `; it breaks at character ${at}`;
    throw new QaError("invalid_json", `the body is not JSON${where}`, { cause });
  }
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new QaError("invalid_json", "the body is not UTF-8; send JSON in UTF-8", { cause });
  }
}

/** Whether brackets outside of strings are nested deeper than a limit; broken JSON is left to the parser. */
export function isTextDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > limit) return true;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}
