/** Answers the parts of a run into their files with one engine, opened when the first part comes. */

import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { engineAnswerer } from "../batch/answerer.js";
import { type Sidecar, sidecarOf } from "../batch/journal/sidecar-for-merge.js";
import { createTally } from "../batch/progress/tally.js";
import { run } from "../batch/run.js";
import { openReplacement } from "../batch/write/replace-file.js";
import type { EngineOptions } from "../config.js";
import { Engine } from "../engine/engine.js";
import { QaError } from "../errors.js";
import { readInputFacts } from "./input-facts.js";
import type { PartJob, PartResult } from "./part-job.js";
import { loadRunQuestions } from "./run-questions.js";

type OpenEngine = (options: EngineOptions) => Promise<Engine>;

export class PartEngine {
  readonly #options: EngineOptions;
  readonly #open: OpenEngine;
  readonly #engines = new Map<string, Promise<Engine>>(); // by deployment, and the parts of a run have one

  private constructor(options: EngineOptions, open: OpenEngine) {
    this.#options = options;
    this.#open = open;
  }

  /** @param open in place of an engine with inference workers, for tests */
  static create(options: Omit<EngineOptions, "deployment">, open: OpenEngine = Engine.open): PartEngine {
    return new PartEngine(options, open);
  }

  /**
   * Answers the rows of a part; its file is there as a whole, its sidecar beside it, or not at all.
   * @throws QaError those of `run`; `aborted` when it was stopped; `invalid_usage` where the input is not the one that was
   * pushed
   */
  async answer(job: PartJob, signal: AbortSignal): Promise<PartResult> {
    const { inputs, out, range, settings } = job;
    const { questions, ...options } = settings;
    const engine = await this.#engine(settings.deployment);
    await assertSameInput(job, signal);
    const { writer, commit, discard } = await openReplacement({ out, force: true });
    const tally = createTally();
    try {
      const end = await run(engineAnswerer(engine), {
        ...options,
        model: settings.model,
        inputs,
        part: range,
        questions: await loadRunQuestions(questions),
        openWriter: async () => writer,
        tally,
        onRow: () => {},
        signal,
      });
      if (end !== "finished") throw new QaError("aborted", "the part was stopped");
      await commit();
    } catch (error) {
      await discard();
      throw error;
    }
    await writeSidecar(job, tally.counts.rows);
    await removeLeftovers(out);
    return { rows: tally.counts.rows, failed: tally.counts.failed };
  }

  async close(): Promise<void> {
    for (const engine of this.#engines.values()) await (await engine).close();
  }

  #engine(deployment: string): Promise<Engine> {
    const known = this.#engines.get(deployment);
    if (known !== undefined) return known;
    const engine = this.#open({ ...this.#options, deployment });
    this.#engines.set(deployment, engine);
    engine.catch(() => this.#engines.delete(deployment));
    return engine;
  }
}

async function assertSameInput(job: PartJob, signal: AbortSignal): Promise<void> {
  const { rows, digest } = await readInputFacts(job, signal);
  if (rows === job.input.rows && digest === job.input.digest) return;
  throw new QaError("invalid_usage", "the input is not what it was when the run was pushed; push it to another --out");
}

async function writeSidecar({ out, settings, range, input }: PartJob, rows: number): Promise<void> {
  const { size } = await stat(out);
  const fingerprint = JSON.parse(JSON.stringify(settings)) as Sidecar["fingerprint"];
  const files = { [basename(out)]: { bytes: size } };
  const sidecar: Sidecar = { version: 1, fingerprint, part: range, rows, input, finished: true, files };
  await writeFile(sidecarOf(out), JSON.stringify(sidecar));
}

/** What workers that died left of this part. */
async function removeLeftovers(out: string): Promise<void> {
  for (const name of await readdir(dirname(out)))
    if (/^\.[0-9a-f]{8}-/.test(name) && name.slice(10) === basename(out))
      await rm(join(dirname(out), name), { force: true });
}
