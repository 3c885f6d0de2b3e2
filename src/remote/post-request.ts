/** One call over HTTP, from its first byte to its last. What comes of it is data; only an abort is thrown. */

export interface OutgoingCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type Reply =
  | { readonly type: "response"; readonly status: number; readonly headers: Headers; readonly text: string }
  /** There was no connection. */
  | { readonly type: "unreachable"; readonly reason: string }
  /** It broke before the response was complete. */
  | { readonly type: "broken"; readonly reason: string }
  | { readonly type: "timeout" };

/** Far over any answer to the questions of one call. */
const MAX_RESPONSE_CHARACTERS = 2 ** 24;

/** Posts a body; redirects are not followed, since the key would go along. @throws the signal's reason */
export async function postRequest({ url, headers, body, timeoutMs, signal }: OutgoingCall): Promise<Reply> {
  signal.throwIfAborted();
  // not AbortSignal.any: its followers of a signal that lives as long as the run pile up
  const call = new AbortController();
  const abort = () => call.abort();
  signal.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: call.signal });
    return { type: "response", status: response.status, headers: response.headers, text: await textOf(response) };
  } catch (error) {
    signal.throwIfAborted();
    return call.signal.aborted ? { type: "timeout" } : failureOf(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The text of a body; what is longer than any answer is cut, and then not read as one. */
async function textOf({ body }: Response): Promise<string> {
  let text = "";
  if (body === null) return text;
  const utf8 = new TextDecoder();
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    text += utf8.decode(chunk, { stream: true });
    if (text.length > MAX_RESPONSE_CHARACTERS) break;
  }
  return text;
}

/** `fetch` says what went wrong in the cause of its error, mostly as the code of a system error. */
function failureOf(error: unknown): Reply {
  const { cause = error } = error as { cause?: unknown };
  const { code, message } = cause as { code?: unknown; message?: unknown };
  const reason = String(code ?? message ?? "no connection");
  return { type: BREAKS.test(reason) ? "broken" : "unreachable", reason };
}

/** Codes of connections that were there: of undici's socket, the system's, and the HTTP parser's. */
const BREAKS = /^(UND_ERR_(?!CONNECT_TIMEOUT)|ECONNRESET|EPIPE|ECONNABORTED|HPE_)/;
