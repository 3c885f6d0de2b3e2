/** Who calls: the account of the key in the Authorization header, and nowhere else. */

import type { FastifyRequest } from "fastify";
import { QaError } from "../errors.js";
import { DEFAULT_ACCOUNT } from "./accounts/accounts.js";
import { bearerOf } from "./accounts/key.js";
import type { Account } from "./accounts/key-store.js";
import type { ServerConfig } from "./config.js";

export interface Caller {
  readonly account: Account;
  /** The key as it was sent; empty where none is required. */
  readonly key: string;
}

/** @throws QaError `unauthorized` */
export function authenticate(
  request: FastifyRequest,
  { accounts, requireKey }: Pick<ServerConfig, "accounts" | "requireKey">,
): Caller {
  if (!requireKey) return { account: accounts.keys.account(DEFAULT_ACCOUNT), key: "" };
  const key = bearerOf(request.headers.authorization);
  if (key === undefined)
    throw new QaError("unauthorized", "there is no API key; send it as Authorization: Bearer qa_...");
  const found = accounts.keys.find(key);
  if (found === undefined)
    throw new QaError("unauthorized", "the API key is unknown or revoked; qa keys create makes a new one");
  accounts.ledger.noteUse(found.keyId);
  return { account: found.account, key };
}
