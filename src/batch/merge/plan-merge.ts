/**
 * Proves by their sidecars that parts are one whole run: all there, none twice, of one input, made alike; and says in which
 * order their rows stand. Pure; that the files hold what the sidecars say is left to
 * part-reader.ts.
 */

import { QaError } from "../../errors.js";
import { differingKeys } from "../journal/differing-keys.js";
import type { Sidecar } from "../journal/sidecar.js";
import { nameOfPart, type Part, type Range, rowsInPart, type Shard } from "../read/part.js";

export interface MergeInput {
  readonly file: string;
  readonly sidecar: Sidecar;
}

/** Parts in the order in which they are read: one row of each in turn, or one after the other. */
export interface MergePlan {
  readonly type: "round_robin" | "concatenate";
  readonly parts: readonly { readonly file: string; readonly rows: number }[];
  /** Rows of the whole. */
  readonly rows: number;
}

interface Piece<P extends Part = Part> extends MergeInput {
  readonly part: P;
}

/**
 * How parts are merged.
 * @throws QaError `invalid_usage`: they are not one whole run; the message names the part and what to do
 */
export function planMerge(inputs: readonly MergeInput[]): MergePlan {
  const pieces = inputs.map(pieceOf);
  const [first] = pieces;
  if (first === undefined) throw new QaError("invalid_usage", "no parts; name the outputs of qa run --shard");
  for (const piece of pieces) assertAlike(piece, first);
  const ordered =
    first.part.type === "shard" ? inShardOrder(pieces.filter(isShard)) : inRangeOrder(pieces.filter(isRange));
  for (const { file, sidecar, part } of ordered) {
    const rows = rowsInPart(part, sidecar.input.rows);
    if (sidecar.rows !== rows)
      throw unfit(`${file} has ${sidecar.rows} rows, and ${nameOfPart(part)} has ${rows}; make it again`);
  }
  return {
    type: first.part.type === "shard" ? "round_robin" : "concatenate",
    parts: ordered.map(({ file, sidecar }) => ({ file, rows: sidecar.rows })),
    rows: first.sidecar.input.rows,
  };
}

function pieceOf({ file, sidecar }: MergeInput): Piece {
  const { part, finished, rows } = sidecar;
  if (part === null) throw unfit(`${file} is no part but a whole run; nothing has to be merged`);
  if (!finished)
    throw unfit(`${file} (${nameOfPart(part)}) is not finished, ${rows} rows are written; finish its run first`);
  return { file, sidecar, part };
}

function isShard(piece: Piece): piece is Piece<Shard> {
  return piece.part.type === "shard";
}

function isRange(piece: Piece): piece is Piece<Range> {
  return piece.part.type === "range";
}

function assertAlike(piece: Piece, first: Piece): void {
  const both = `${first.file} and ${piece.file}`;
  const isOneDivision =
    first.part.type === "shard"
      ? piece.part.type === "shard" && piece.part.count === first.part.count
      : piece.part.type === "range";
  if (!isOneDivision) {
    const names = `${nameOfPart(first.part)} and ${nameOfPart(piece.part)}`;
    throw unfit(`${both} are ${names}, parts of different divisions; merge the parts of one`);
  }
  const keys = differingKeys(first.sidecar.fingerprint, piece.sidecar.fingerprint);
  if (keys.length > 0)
    throw unfit(
      `${both} were not made alike, these differ: ${keys.join(", ")}; make one of them again like the others`,
    );
  const [a, b] = [first.sidecar.input, piece.sidecar.input];
  if (a.rows !== b.rows)
    throw unfit(`${both} saw different inputs, of ${a.rows} and ${b.rows} rows; make them again over one input`);
  if (a.digest !== b.digest)
    throw unfit(`${both} saw different inputs: as many rows, but not the same; make them again over one input`);
}

function inShardOrder(pieces: readonly Piece<Shard>[]): readonly Piece<Shard>[] {
  const count = pieces[0]?.part.count ?? 0;
  const byIndex = new Map<number, Piece<Shard>>();
  for (const piece of pieces) {
    const twin = byIndex.get(piece.part.index);
    if (twin !== undefined)
      throw unfit(`${twin.file} and ${piece.file} are both ${nameOfPart(piece.part)}; name one of them`);
    byIndex.set(piece.part.index, piece);
  }
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !byIndex.has(index));
  if (missing.length > 0) {
    const names = missing.slice(0, 5).map((index) => `${index + 1}/${count}`);
    const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : "";
    throw unfit(`${missing.length} of ${count} shards are missing: ${names.join(", ")}${more}; name their files too`);
  }
  return [...byIndex.values()].sort((a, b) => a.part.index - b.part.index);
}

function inRangeOrder(pieces: readonly Piece<Range>[]): readonly Piece<Range>[] {
  const ordered = [...pieces].sort((a, b) => a.part.from - b.part.from || a.part.to - b.part.to);
  let reached = 0;
  let before: string | undefined;
  for (const { file, part } of ordered) {
    if (part.from < reached) throw unfit(`${before} and ${file} both hold row ${part.from + 1}; name one of them`);
    if (part.from > reached)
      throw unfit(`rows ${reached + 1} to ${part.from} are missing before ${file}; name the file that holds them too`);
    reached = part.to;
    before = file;
  }
  const rows = ordered[0]?.sidecar.input.rows ?? 0;
  if (reached < rows)
    throw unfit(`rows ${reached + 1} to ${rows} are missing behind ${before}; name the file that holds them too`);
  return ordered;
}

function unfit(message: string): QaError {
  return new QaError("invalid_usage", message);
}
