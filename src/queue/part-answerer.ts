/** Answers the parts of a run into their files; who answers is opened once, when the first part comes. */

import { randomBytes } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Answerer } from "../batch/answerer.js";
import { Journal } from "../batch/journal/journal.js";
import { readSidecar, sidecarOf } from "../batch/journal/sidecar.js";
import { createTally } from "../batch/progress/tally.js";
import { run } from "../batch/run.js";
import { QaError } from "../errors.js";
import type { PartJob, PartResult, RunSettings } from "./part-job.js";
import { digestOfQuestions, loadRunQuestions } from "./run-questions.js";

/** Who answers, closed by whoever opened it. */
export interface OpenedAnswerer extends Answerer {
  close(): void | Promise<void>;
}

type OpenAnswerer = (settings: RunSettings) => Promise<OpenedAnswerer>;

export class PartAnswerer {
  readonly #open: OpenAnswerer;
  readonly #opened = new Map<string, Promise<OpenedAnswerer>>(); // by deployment, and the parts of a run have one

  private constructor(open: OpenAnswerer) {
    this.#open = open;
  }

  /** @param open opens who answers, when the first part comes */
  static create(open: OpenAnswerer): PartAnswerer {
    return new PartAnswerer(open);
  }

  /**
   * Answers the rows of a part; its file and the sidecar beside it are there as a whole, or not at all.
   * @throws QaError those of `run`; `aborted` when it was stopped; `input_changed`, `run_changed` where the input or the
   * questions are not those that were pushed
   */
  async answer(job: PartJob, signal: AbortSignal): Promise<PartResult> {
    const answerer = await this.#answererOf(job.settings);
    // whoever else has this part in hand, since this worker was given up, writes a file of another name
    const beside = join(dirname(job.out), `.${randomBytes(4).toString("hex")}-${basename(job.out)}`);
    try {
      const result = await answerInto(beside, { answerer, job, signal });
      await assertSameInput(beside, job);
      await rename(beside, job.out);
      await rename(sidecarOf(beside), sidecarOf(job.out));
      return result;
    } finally {
      await removeLeftovers(job.out, beside);
    }
  }

  async close(): Promise<void> {
    for (const answerer of this.#opened.values()) await (await answerer).close();
  }

  #answererOf(settings: RunSettings): Promise<OpenedAnswerer> {
    const { deployment } = settings;
    const known = this.#opened.get(deployment);
    if (known !== undefined) return known;
    const answerer = this.#open(settings);
    this.#opened.set(deployment, answerer);
    answerer.catch(() => this.#opened.delete(deployment));
    return answerer;
  }
}

interface Answering {
  readonly answerer: Answerer;
  readonly job: PartJob;
  readonly signal: AbortSignal;
}

async function answerInto(out: string, { answerer, job, signal }: Answering): Promise<PartResult> {
  const { inputs, range: part, settings } = job;
  const { questions: source, ...options } = settings;
  const questions = await loadRunQuestions(source);
  if (digestOfQuestions(questions) !== job.facts.questions)
    throw new QaError(
      "run_changed",
      "the questions are not what they were when the run was pushed; push it to another --out",
    );
  const files = { out };
  const tally = createTally();
  const end = await run(answerer, {
    ...options,
    model: settings.model,
    inputs,
    part,
    questions,
    files,
    sink: await Journal.open({ files, restart: true, part }),
    tally,
    onRow: () => {},
    signal,
  });
  if (end !== "finished") throw new QaError("aborted", "the part was stopped");
  return { rows: tally.counts.rows, failed: tally.counts.failed };
}

async function assertSameInput(out: string, { facts }: PartJob): Promise<void> {
  const { rows, digest } = (await readSidecar(out)).input;
  if (rows === facts.rows && digest === facts.digest) return;
  throw new QaError("input_changed", "the input is not what it was when the run was pushed; push it to another --out");
}

/** What this worker left, and once the part is there also what workers left that died over it. */
async function removeLeftovers(out: string, beside: string): Promise<void> {
  const names = await readdir(dirname(out));
  const isDone = names.includes(basename(sidecarOf(out)));
  const isOurs = (name: string) => name.startsWith(basename(beside));
  const isOfPart = (name: string) => /^\.[0-9a-f]{8}-/.test(name) && name.slice(10).startsWith(basename(out));
  for (const name of names.filter((each) => isOurs(each) || (isDone && isOfPart(each))))
    await rm(join(dirname(out), name), { force: true });
}
