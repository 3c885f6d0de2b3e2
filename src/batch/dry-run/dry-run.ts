/**
 * A run that answers and writes nothing: every row is read, routed and tokenised, equal rows are counted, and a random sample
 * is answered for a few seconds to expect the time and the output's size.
 */

import type { Role } from "../../engine/deployment.js";
import type { Engine } from "../../engine/engine.js";
import { engineAnswerer } from "../answerer.js";
import { type PlanOptions, planRun, type RunPlan } from "../plan-run.js";
import { type RoomSurvey, surveyRoom } from "../room/room-survey.js";
import type { Pack } from "../write/output-sink.js";
import { packingOf } from "../write/pack.js";
import { expectTime, type Rate, rateOf, type TimeRange } from "./expected-time.js";
import { type Measured, measureSample } from "./measure-sample.js";
import { createRunStrata, type RunStrata, type SampledRow, type Stratum } from "./run-strata.js";

export interface DryRunOptions extends PlanOptions {
  readonly onRow?: ((rows: number) => void) | undefined;
  readonly signal: AbortSignal;
  /** Time that a sample is answered for; default 4 s. */
  readonly measureMs?: number | undefined;
}

export interface DryRun {
  readonly survey: RoomSurvey;
  /** Rows that would be answered, duplicates among them. */
  readonly answered: number;
  /** Tokens of all sequences of these rows, each of equal rows counted. */
  readonly duplicates: { readonly rows: number; readonly isExact: boolean };
  readonly time: TimeRange;
  readonly outputBytes: number;
  /** What time and size rest on. */
  readonly measured: { readonly rows: number; readonly ms: number; readonly workers: number };
}

const MEASURE_MS = 4_000;

/**
 * @throws QaError `invalid_usage`, `input_missing`, `input_unsupported`, `input_damaged`, `checkpoint_missing`,
 * `checkpoint_damaged`, `aborted`
 */
export async function dryRun(engine: Engine, options: DryRunOptions): Promise<DryRun> {
  const { chunk, onRow, signal } = options;
  const plan = await planRun(engineAnswerer(engine), options, { stop: signal });
  const strata = createRunStrata(chunk);
  const survey = await surveyRoom(engine, plan.requests.all, { onRow, onReading: strata.add });
  const { kinds, onceMs } = await measureKinds(engine, strata, { ...options, plan });
  const answering = kinds.flatMap(({ inputTokens, rate }) => (rate === undefined ? [] : [{ inputTokens, rate }]));
  return {
    survey,
    answered: survey.rows - strata.failed.rows,
    duplicates: { rows: strata.duplicates.rows, isExact: strata.duplicates.isExact },
    time: expectTime(answering, onceMs),
    outputBytes: await expectBytes(kinds, { head: plan.heads.out, pack: packingOf(options.files.out)?.pack }),
    measured: {
      rows: kinds.reduce((sum, { measured, rate }) => sum + (rate === undefined ? 0 : measured.records.length), 0),
      ms: kinds.reduce((sum, { ms }) => sum + ms, 0),
      workers: engine.config.workers,
    },
  };
}

interface Kind extends Pick<Stratum, "rows" | "inputTokens"> {
  readonly measured: Measured;
  readonly ms: number;
  /** None of rows that are not answered. */
  readonly rate: Rate | undefined;
}

async function measureKinds(
  engine: Engine,
  { answered, failed }: RunStrata,
  { plan, chunk, signal, measureMs = MEASURE_MS }: DryRunOptions & { readonly plan: RunPlan },
): Promise<{ kinds: Kind[]; onceMs: number }> {
  const answerer = engineAnswerer(engine);
  const measure = async ({ rows, inputTokens }: Stratum, sample: readonly SampledRow[]): Promise<Kind> => {
    const startMs = performance.now();
    const forMs = measureMs / Math.max(1, answered.size);
    const measured = await measureSample(answerer, sample, { plan, forMs, chunk, signal });
    const ms = performance.now() - startMs;
    return { rows, inputTokens, measured, ms, rate: inputTokens === 0 ? undefined : rateOf(measured.marks, startMs) };
  };
  const roles: Role[] = [...answered.keys()];
  const startMs = performance.now();
  await engine.warm(roles);
  const onceMs = performance.now() - startMs;
  const kinds: Kind[] = [];
  for (const stratum of [...answered.values(), failed]) kinds.push(await measure(stratum, stratum.sample.kept));
  return { kinds, onceMs };
}

/** The mean output row of each kind, as often as the kind is there. */
async function expectBytes(
  kinds: readonly Kind[],
  { head, pack }: { readonly head: string; readonly pack: Pack | undefined },
): Promise<number> {
  const sums = kinds.map(({ rows, measured: { records } }) => {
    const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
    return records.length === 0 ? 0 : (bytes / records.length) * rows;
  });
  const bytes = sums.reduce((sum, own) => sum + own, Buffer.byteLength(head));
  if (pack === undefined) return Math.round(bytes);
  const sample = Buffer.from(kinds.flatMap(({ measured: { records } }) => records).join(""));
  return sample.length === 0 ? 0 : Math.round((bytes * (await pack(sample)).length) / sample.length);
}
