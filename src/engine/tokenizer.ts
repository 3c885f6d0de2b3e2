/** A checkpoint's tokenizer: text to ids without special tokens, none of which user text can bring in. */

import { readFile } from "node:fs/promises";
import { Tokenizer } from "@huggingface/tokenizers";
import { createForgedTokenFilter, type SpecialIds, type Tokenize } from "../decision/sequence.js";
import { QaError } from "../errors.js";
import type { Checkpoint } from "./checkpoint.js";

export interface CheckpointTokenizer {
  readonly tokenize: Tokenize;
  readonly special: SpecialIds;
}

/**
 * Loads `tokenizer.json`.
 * @throws QaError `checkpoint_damaged` where it lacks one of the manifest's special tokens
 */
export async function loadTokenizer(checkpoint: Checkpoint): Promise<CheckpointTokenizer> {
  const definition = JSON.parse(await readFile(checkpoint.tokenizerPath, "utf8")) as object;
  const tokenizer = new Tokenizer(definition, {});
  const idOf = (token: string): number => {
    const id = tokenizer.token_to_id(token);
    if (id !== undefined) return id;
    throw new QaError("checkpoint_damaged", `the tokenizer of ${checkpoint.name} has no special token ${token}`);
  };
  const { cls, sep, mask, pad } = checkpoint.specialTokens;
  const special = { cls: idOf(cls), sep: idOf(sep), mask: idOf(mask), pad: idOf(pad) };
  const withoutForged = createForgedTokenFilter(checkpoint.specialTokens);
  const forbidden = new Set(Object.values(special));
  const tokenizeSlice: Tokenize = (text) => {
    const ids: number[] = tokenizer.encode(text, { add_special_tokens: false }).ids;
    // a normaliser may still turn look-alikes (full-width letters) into a special token
    return ids.some((id) => forbidden.has(id)) ? ids.filter((id) => !forbidden.has(id)) : ids;
  };
  return { tokenize: (text) => slicesOf(withoutForged(text)).flatMap(tokenizeSlice), special };
}

/** Characters that the tokenizer takes at once: its recursion overflows the stack at some hundreds of thousands. */
const MAX_SLICE = 65_536;

/**
 * A text in slices that end behind whitespace where there is any. A text of several is over every window many times, so that
 * what the joints may change is only by how much.
 */
function slicesOf(text: string): readonly string[] {
  if (text.length <= MAX_SLICE) return [text];
  const slices: string[] = [];
  for (let from = 0; from < text.length; ) {
    const most = text.slice(from, from + MAX_SLICE);
    const border = /\s\S*$/.exec(most)?.index ?? -1;
    const length = from + MAX_SLICE >= text.length || border <= 0 ? most.length : border + 1;
    slices.push(text.slice(from, from + length));
    from += length;
  }
  return slices;
}
