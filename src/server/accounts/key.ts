/** An API key: `qa_<id>_<secret>` (CONTRACT 8). The id finds it, its SHA-256 is all that is stored. Pure but for randomness. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const ID_BYTES = 6;
/** 192 random bits. */
const SECRET_BYTES = 24;
const KEY = /^qa_([0-9a-f]{12})_[0-9a-f]{48}$/;
const BEARER = /^Bearer +(\S+) *$/i;

export interface NewKey {
  readonly id: string;
  /** The whole key, to be shown once. */
  readonly key: string;
  readonly hash: Buffer;
}

export function createKey(): NewKey {
  const id = randomBytes(ID_BYTES).toString("hex");
  const key = `qa_${id}_${randomBytes(SECRET_BYTES).toString("hex")}`;
  return { id, key, hash: hashOfKey(key) };
}

/** SHA-256 of the whole key: its secret is random, so that a plain hash cannot be guessed back. */
export function hashOfKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** The id of a well-formed key. */
export function idOfKey(key: string): string | undefined {
  return KEY.exec(key)?.[1];
}

/** The token of an `Authorization: Bearer` header. */
export function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}

/** Compares hashes in constant time; a key that is not stored is compared with zeros, so that it takes as long. */
export function isSameHash(hash: Buffer, stored: Buffer | undefined): boolean {
  const isSame = timingSafeEqual(hash, stored ?? Buffer.alloc(hash.length));
  return stored !== undefined && isSame;
}
