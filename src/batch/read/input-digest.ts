/** A digest of the rows of an input up to each of them: what tells a resumed run whether its input is still the same. */

import { createHash } from "node:crypto";
import type { Row } from "./row.js";

export interface InputDigest {
  /** Rows taken in. */
  readonly rows: number;
  /** Of all rows taken in, in order. */
  readonly value: string;
  /** Takes a row in and gives the digest up to it. */
  add(row: Row): string;
}

/** The digest of no rows yet: SHA-256 of the one before and what the row holds, 132 bits of it. */
export function createInputDigest(): InputDigest {
  let rows = 0;
  let value = "";
  return {
    get rows() {
      return rows;
    },
    get value() {
      return value;
    },
    add(row) {
      rows++;
      value = createHash("sha256")
        .update(`${value}\n${textOf(row)}`)
        .digest("base64url")
        .slice(0, 22);
      return value;
    },
  };
}

/** What a row holds, so that different rows have different texts. */
function textOf({ format, content }: Row): string {
  switch (content.type) {
    case "record":
      return JSON.stringify([format, content.columns, content.cells]);
    case "json":
    case "malformed":
      return JSON.stringify([format, content.type, content.raw]);
    case "text":
      return JSON.stringify([format, content.text]);
    default:
      return content satisfies never;
  }
}
