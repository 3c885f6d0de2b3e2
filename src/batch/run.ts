/** A run: rows of the inputs to the engine, its outcomes to the output, one row out for each row in, in order. */

import type { Question } from "../decision/question.js";
import type { ParsedRequest } from "../decision/request.js";
import type { ChunkOptions } from "../engine/chunked-reading.js";
import type { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { createOutput, type Output, type OutputOptions } from "./output-format.js";
import { type ReadOptions, readRows } from "./read-rows.js";
import type { Row } from "./row.js";
import type { RowWriter } from "./row-queue.js";
import { type RowRequestOptions, toRequest } from "./row-request.js";
import { firstRows, sampleRows } from "./select-rows.js";
import { requestOfRow, resolveStateSource, type StateOptions } from "./state-of-row.js";
import type { Tally } from "./tally.js";

export interface RunOptions {
  /** Resolved inputs; see `resolveInputs`. */
  readonly inputs: readonly string[];
  readonly read: ReadOptions;
  readonly state: StateOptions;
  /** The questions for rows that carry none of their own. */
  readonly questions: readonly Question[] | undefined;
  readonly model: string | undefined;
  readonly limit: number | undefined;
  readonly sample: { readonly size: number; readonly seed: number } | undefined;
  readonly chunk: ChunkOptions | undefined;
  readonly output: OutputOptions;
  /** Opens the output, once all that can be wrong with the run before its first row is found. */
  readonly openWriter: () => Promise<RowWriter>;
  readonly tally: Tally;
  /** Told after every row. */
  readonly onRow: () => void;
  /** Ends the run behind the batches in hand. */
  readonly signal: AbortSignal;
}

export type RunEnd = "finished" | "interrupted" | "reader_gone";

/** Rows that tell the columns and the state before anything is run; of stdin one, since it may come slowly. */
const PEEKED_ROWS = 100;

/**
 * Answers every row.
 * @throws QaError `invalid_usage` before the first row; `input_missing`, `input_unsupported`, `input_damaged` (behind the rows
 * that could be read), `output_exists`, `output_failed`, `checkpoint_missing`, `checkpoint_damaged`
 */
export async function run(engine: Engine, options: RunOptions): Promise<RunEnd> {
  const { inputs, signal, tally } = options;
  const rows = peekable(selectRows(options));
  const peeked = inputs.includes("-") ? 1 : PEEKED_ROWS;
  const head = await rows.peek(peeked);
  const requests = requestOptions(engine, options, head);
  const output = createOutput(csvSource(options, requests, { head, isAll: head.length < peeked }), options.output);
  const writer = await options.openWriter();
  const stop = AbortSignal.any([signal, writer.readerGone]);
  try {
    await writer.write(output.head, 0);
    const items = toItems(rows.all(), { requests, output, tally });
    for await (const { item, outcome } of engine.decideAll(items, { ...options, limits: "split", signal: stop })) {
      if (stop.aborted && outcome instanceof QaError && outcome.code === "aborted") break;
      tally.add(item.row, outcome);
      await writer.write(output.record(item.row, outcome));
      options.onRow();
    }
  } catch (error) {
    if (!stop.aborted || !(error instanceof QaError) || error.code !== "aborted") {
      await writer.close().catch(() => {}); // what came first is what is told
      throw error;
    }
  }
  await writer.close();
  if (signal.aborted) return "interrupted";
  return writer.readerGone.aborted ? "reader_gone" : "finished";
}

function selectRows({ inputs, read, limit, sample, signal }: RunOptions): AsyncIterable<Row> {
  const rows = readRows(inputs, { ...read, signal });
  const limited = limit === undefined ? rows : firstRows(rows, limit);
  return sample === undefined ? limited : sampleRows(limited, sample);
}

function requestOptions(engine: Engine, options: RunOptions, head: readonly Row[]): RowRequestOptions {
  const { questions, model, state } = options;
  const { choiceNeedsInstructions } = engine.deployment;
  if (questions === undefined && head.length > 0 && !head.some((row) => requestOfRow(row) !== undefined))
    throw new QaError(
      "invalid_usage",
      "no questions; pass --questions FILE or --preset NAME (or rows with `state` and `questions` of their own)",
    );
  return { source: resolveStateSource(state, head), questions, model, choiceNeedsInstructions };
}

function csvSource(
  { inputs, questions }: RunOptions,
  requests: RowRequestOptions,
  { head, isAll }: { readonly head: readonly Row[]; readonly isAll: boolean },
) {
  const isTable = head.every((row) => row.format === "csv" || row.format === "tsv" || row.format === "text");
  const own = head.filter((row) => requestOfRow(row) !== undefined).map((row) => toRequest(row, requests));
  const ownSets = own.flatMap((request) => (request instanceof QaError ? [] : [request.questions]));
  const isMixed = own.length < head.length || own.length === 0;
  return {
    sample: head,
    mayVary: !isAll && (!isTable || inputs.length > 1),
    questionSets: [...(questions !== undefined && isMixed ? [questions] : []), ...ownSets],
  };
}

interface Item {
  readonly row: Row;
  readonly request: ParsedRequest | QaError;
}

async function* toItems(
  rows: AsyncIterable<Row>,
  { requests, output, tally }: { requests: RowRequestOptions; output: Output; tally: Tally },
): AsyncGenerator<Item, void, undefined> {
  for await (const row of rows) {
    tally.read();
    const request = toRequest(row, requests);
    const misfit = request instanceof QaError ? undefined : output.misfit(request.questions);
    yield { row, request: misfit ?? request };
  }
}

/** Rows of which the first few can be looked at before all are taken. */
function peekable(rows: AsyncIterable<Row>): {
  peek(count: number): Promise<readonly Row[]>;
  all(): AsyncGenerator<Row, void, undefined>;
} {
  const iterator = rows[Symbol.asyncIterator]();
  const peeked: Row[] = [];
  return {
    async peek(count) {
      while (peeked.length < count) {
        const next = await iterator.next();
        if (next.done === true) break;
        peeked.push(next.value);
      }
      return [...peeked];
    },
    async *all() {
      try {
        yield* peeked.splice(0);
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
      } finally {
        await iterator.return?.();
      }
    },
  };
}
