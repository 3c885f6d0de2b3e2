/**
 * The rows of a run sorted by what becomes of them, with a random sample of each kind: rows that one of the checkpoints
 * answers, and rows that end as errors. Kinds are measured apart, since a row of each costs something else.
 */

import { inputTokensOf } from "../../decision/room.js";
import type { ChunkOptions } from "../../engine/chunked-reading.js";
import type { Role } from "../../engine/deployment.js";
import type { Reading } from "../../engine/reading.js";
import { QaError } from "../../errors.js";
import type { RowRequest } from "../read/read-requests.js";
import { createReservoir, type Reservoir } from "../read/select-rows.js";
import { chunksOf } from "../room/room-survey.js";
import { createDuplicates, type Duplicates } from "./duplicates.js";

export interface SampledRow extends Pick<RowRequest, "row" | "request"> {
  /** Tokens of all its sequences; 0 of a row that is not answered. */
  readonly inputTokens: number;
}

export interface Stratum {
  /** All rows of the kind, duplicates among them. */
  rows: number;
  /** Of the rows that are not duplicates of an earlier one. */
  inputTokens: number;
  /** Likewise. */
  readonly sample: Reservoir<SampledRow>;
}

export interface RunStrata {
  readonly answered: ReadonlyMap<Role, Stratum>;
  readonly failed: Stratum;
  readonly duplicates: Pick<Duplicates, "rows" | "isExact">;
  add(item: RowRequest, reading: Reading | QaError): void;
}

const ANSWERED_SAMPLE = 256;
const FAILED_SAMPLE = 32;
const SEED = 1;

export function createRunStrata(chunk: ChunkOptions | undefined): RunStrata {
  const duplicates = createDuplicates(chunk);
  const failed = emptyStratum(FAILED_SAMPLE);
  const answered = new Map<Role, Stratum>();
  return {
    answered,
    failed,
    duplicates,
    add({ row, request }, reading) {
      const inputTokens = reading instanceof QaError ? undefined : tokensOf(reading, chunk);
      if (reading instanceof QaError || inputTokens === undefined) {
        failed.rows++;
        return failed.sample.add(() => sampled({ row, request }, 0));
      }
      const stratum = answered.get(reading.route.role) ?? emptyStratum(ANSWERED_SAMPLE);
      answered.set(reading.route.role, stratum);
      stratum.rows++;
      if (duplicates.add(reading.request)) return;
      stratum.inputTokens += inputTokens;
      stratum.sample.add(() => sampled({ row, request }, inputTokens));
    },
  };
}

function emptyStratum(size: number): Stratum {
  return { rows: 0, inputTokens: 0, sample: createReservoir(size, SEED) };
}

/** A copy, since a row is a slice that would keep its whole chunk of text alive; the questions are shared. */
function sampled({ row, request }: Pick<RowRequest, "row" | "request">, inputTokens: number): SampledRow {
  const copy = request instanceof QaError ? request : { ...request, state: structuredClone(request.state) };
  return { row: structuredClone(row), request: copy, inputTokens };
}

/** Tokens of all sequences of a row that is answered, `undefined` of one that is not. */
function tokensOf({ set, stateIds }: Reading, chunk: ChunkOptions | undefined): number | undefined {
  if (stateIds.length <= set.room) return inputTokensOf(set.prefixTokens, stateIds.length);
  return chunk === undefined || set.room <= 0 ? undefined : chunksOf(set, stateIds.length).inputTokens;
}
