/** The addresses that `--endpoint` names. */

import { QaError } from "../errors.js";

export interface Endpoint {
  readonly url: string;
  /** Host and port, as messages and routes name it. */
  readonly host: string;
}

const PATH = "/v1/systemone";

/**
 * URLs separated by commas, each the base that the official clients take or the whole path of the call; one named twice counts
 * once.
 * @throws QaError `invalid_usage`
 */
export function parseEndpoints(text: string): readonly Endpoint[] {
  const given = text.split(",").map((part) => part.trim());
  const endpoints = new Map(given.filter((part) => part !== "").map((part) => parseEndpoint(part)));
  if (endpoints.size === 0) throw new QaError("invalid_usage", "--endpoint names no URL; pass http://HOST:PORT");
  return [...endpoints].map(([url, host]) => ({ url, host }));
}

function parseEndpoint(text: string): [url: string, host: string] {
  // not URL.parse, which Node 20 has not yet; what is refused is not shown, as a password may stand in it
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new QaError("invalid_usage", "--endpoint takes URLs such as http://127.0.0.1:8080, separated by commas");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new QaError(
      "invalid_usage",
      `--endpoint takes no user, password, query or fragment (${url.host}); a key goes into TYPESAFE_API_KEY`,
    );
  const path = url.pathname.replace(/\/+$/, "");
  return [`${url.origin}${path.endsWith(PATH) ? path : path + PATH}`, url.host];
}
