/**
 * Bytes to text, nothing silently replaced. A byte that is no UTF-8 becomes the lone surrogate U+DC00 + byte, which
 * valid text can never hold: the row that holds one is told by `isDamaged` and becomes a malformed row.
 */

import { isUtf8 } from "node:buffer";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

export interface Decoder {
  push(bytes: Uint8Array): string;
  /** The text of a character that the end of the input cut. */
  end(): string;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
const BOM = "\ufeff";
const INVALID = 0xdc00;
const LINE_FEED = 0x0a;

/** Whether a text holds bytes that were no text. */
export function isDamaged(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

/** The text with U+FFFD in the place of bytes that were no text. */
export function mendText(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}

/** A streaming decoder; a byte order mark at the start is taken off. */
export function createDecoder(encoding: Encoding): Decoder {
  const decode = encoding === "utf-8" ? decodeUtf8 : encoding === "utf-16le" ? decodeUtf16Le : decodeUtf16Be;
  const tailOf = encoding === "utf-8" ? utf8Tail : (bytes: Buffer) => bytes.length % 2;
  let tail: Buffer = Buffer.alloc(0);
  let started = false;
  function push(chunk: Uint8Array, cut: boolean): string {
    const own = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = tail.length === 0 ? own : Buffer.concat([tail, own]);
    const end = bytes.length - (cut ? 0 : tailOf(bytes));
    tail = Buffer.from(bytes.subarray(end));
    const text = decode(bytes.subarray(0, end));
    if (started || text === "") return text;
    started = true;
    return text.startsWith(BOM) ? text.slice(1) : text;
  }
  return { push: (bytes) => push(bytes, false), end: () => push(new Uint8Array(0), true) };
}

/** Length of the UTF-8 sequence that the end of the bytes cuts, 0 where it cuts none. */
function utf8Tail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed + 1;
    const line = bytes.subarray(start, end);
    text += isUtf8(line) ? line.toString("utf8") : markInvalid(line);
    start = end;
  }
  return text;
}

function markInvalid(bytes: Buffer): string {
  let text = "";
  let valid = 0; // where the run of valid bytes began
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    const length = sequenceLength(byte);
    const sequence = bytes.subarray(at, at + length);
    if (length === 1 || (length > 1 && sequence.length === length && isUtf8(sequence))) {
      at += length;
      continue;
    }
    text += bytes.toString("utf8", valid, at) + String.fromCharCode(INVALID + byte);
    valid = ++at;
  }
  return text + bytes.toString("utf8", valid);
}

function decodeUtf16Le(bytes: Buffer): string {
  const whole = bytes.length - (bytes.length % 2);
  const text = bytes.toString("utf16le", 0, whole); // keeps lone surrogates as they are
  return whole === bytes.length ? text : text + String.fromCharCode(INVALID + (bytes[whole] ?? 0));
}

function decodeUtf16Be(bytes: Buffer): string {
  const whole = bytes.length - (bytes.length % 2);
  return decodeUtf16Le(Buffer.concat([Buffer.from(bytes.subarray(0, whole)).swap16(), bytes.subarray(whole)]));
}
