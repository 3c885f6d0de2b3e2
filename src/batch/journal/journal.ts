/**
 * The files of a run that can be gone on with, whenever and however it ended. The output is the record of what is done; the
 * sidecar says up to where all files are whole, and is brought up to date behind them, so that it never promises too much.
 */

import { stat } from "node:fs/promises";
import { QaError } from "../../errors.js";
import type { Part } from "../read/part.js";
import type { InputPlace } from "../read/read-requests.js";
import { outputExists } from "../write/output-errors.js";
import { packingOf } from "../write/pack.js";
import { pathsOf, type RowTexts, type RunFiles, type RunSink, type RunStart } from "../write/run-sink.js";
import { assertSameRun } from "./changes.js";
import {
  assertUnchanged,
  type JournaledFile,
  type JournaledFileStart,
  openJournaledFile,
  readPackedRest,
} from "./journaled-file.js";
import { lockOutputs, type OutputLock } from "./output-lock.js";
import { settleReplacement } from "./replacement.js";
import { type FileFacts, type FileRole, findSidecar, type Mark, type Sidecar, writeSidecar } from "./sidecar.js";

export interface JournalOptions {
  readonly files: RunFiles;
  /** Begin anew, whatever is there. */
  readonly restart: boolean;
  /** Default: all rows. */
  readonly part?: Part | undefined;
  /** Milliseconds between two notes of how far the run is: a killed run answers again at most what came since. */
  readonly intervalMs?: number | undefined;
}

interface Found {
  readonly lock: OutputLock;
  readonly sidecar: Sidecar | undefined;
  /** Whether the output is. */
  readonly isThere: boolean;
}

const INTERVAL_MS = 1000;
const NOWHERE: InputPlace = { rows: 0, digest: "" };

export class Journal implements RunSink {
  readonly readerGone: AbortSignal = new AbortController().signal; // of a file, nobody is
  readonly #options: JournalOptions;
  readonly #lock: OutputLock;
  /** What is known of the output, be it there or not. */
  readonly #known: Sidecar | undefined;
  /** What earlier sittings left to go on from. */
  readonly #before: Sidecar | undefined;
  readonly #startedMs = performance.now();
  readonly #files = new Map<FileRole, JournaledFile>();
  #run: RunStart | undefined;
  /** What takes back what earlier sittings noted: not before the first row comes, since none may be left. */
  #beforeFirstRow: (() => Promise<void>) | undefined;
  #rows = 0;
  #input = NOWHERE;
  /** Of a packed output: the place behind its last full block. */
  #full: (() => Promise<Mark>) | undefined;
  #notedMs = performance.now();
  #noting: Promise<void> | undefined;
  #failure: unknown;

  private constructor(options: JournalOptions, { lock, sidecar, isThere }: Found) {
    this.#options = options;
    this.#lock = lock;
    this.#known = sidecar;
    this.#before = isThere && sidecar !== undefined && sidecar.rows > 0 ? sidecar : undefined;
  }

  /**
   * Locks the files and reads what is known of the output; nothing is changed yet.
   * @throws QaError `output_locked`, `output_exists`, `invalid_usage`, `input_damaged`, `output_failed`
   */
  static async open(options: JournalOptions): Promise<Journal> {
    const { files, restart } = options;
    const packed = [files.rejects, files.review].find((path) => path !== undefined && packingOf(path) !== undefined);
    if (packed !== undefined)
      throw new QaError("invalid_usage", `${packed} cannot be packed; name it without .gz or .zst`);
    for (const [, path] of pathsOf(files))
      if (await isNoFile(path)) throw new QaError("invalid_usage", `${path} is a folder or a device; name a file`);
    const lock = lockOutputs(pathsOf(files).map(([, path]) => path));
    try {
      const known = restart ? undefined : await findSidecar(files.out);
      const sidecar = known && (await settleReplacement(files, known));
      const isThere = await exists(files.out);
      if (isThere && sidecar === undefined && !restart) throw outputExists(files.out, BEGIN_ANEW);
      return new Journal(options, { lock, sidecar, isThere });
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The sidecar as earlier sittings left it, if this run goes on with theirs. */
  get before(): Sidecar | undefined {
    return this.#before;
  }

  get done(): InputPlace | undefined {
    return this.#before?.input;
  }

  /** @throws QaError `run_changed`, `output_changed`, `output_exists`, `invalid_usage`, `output_failed` */
  async begin(run: RunStart): Promise<void> {
    this.#run = run;
    const before = this.#before;
    if (before === undefined) return this.#beginAnew(run);
    const { files, part = null } = this.#options;
    assertSameRun(files.out, before, { fingerprint: run.fingerprint, part });
    this.#rows = before.rows;
    this.#input = before.input;
    const { full } = before;
    if (full === undefined) {
      await this.#openFiles((role) => ({ type: "go_on", facts: factsOf(before, role) }));
      if (before.finished) this.#beforeFirstRow = () => this.#save(before, { finished: false });
      return;
    }
    const rest = await readPackedRest(files.out, factsOf(full, "out"), factsOf(before, "out"));
    for (const [role, path] of pathsOf(files)) await assertUnchanged(path, factsOf(before, role));
    this.#beforeFirstRow = () => this.#openBeforeRest(before, full, rest);
  }

  async write(texts: RowTexts, at: InputPlace): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await this.#beforeFirstRow?.().catch((error: unknown) => {
      this.#failure = error; // what is noted now is true, and what the first row was to be noted with is not
      throw error;
    });
    this.#beforeFirstRow = undefined;
    const written = this.#put(texts, 1);
    this.#rows++;
    this.#input = at;
    this.#note();
    await written;
  }

  async close({ finished, input }: { readonly finished: boolean; readonly input: InputPlace }): Promise<void> {
    try {
      await this.#noting;
      if (this.#failure !== undefined) throw this.#failure;
      await Promise.all([...this.#files.values()].map((file) => file.flush()));
      const isFull = this.#files.get("out")?.isBlockEnd ?? true;
      const full = isFull ? undefined : await this.#full?.();
      const end = { rows: this.#rows, input: finished ? input : this.#input, tally: this.#tally.snapshot() };
      if (this.#beforeFirstRow !== undefined) {
        const { files, full: before } = this.#before as Sidecar; // no row came
        await this.#save({ ...end, files }, { finished, full: before });
      } else await this.#save({ ...end, files: await this.#closeFiles() }, { finished, full });
    } finally {
      await this.abort();
    }
  }

  async abort(): Promise<void> {
    await this.#noting?.catch(() => {}); // thrown where the next row is written
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(files.map((file) => file.abort().catch(() => {}))); // what came first is what is told
    this.#lock.release();
  }

  get #tally(): RunStart["tally"] {
    if (this.#run === undefined) throw new Error("a journal was used before it began; this is a bug in qa");
    return this.#run.tally;
  }

  async #beginAnew({ heads }: RunStart): Promise<void> {
    for (const [role, path] of pathsOf(this.#options.files))
      if (!this.#mayOverwrite(role, path) && (await exists(path))) throw outputExists(path, BEGIN_ANEW);
    // before the files, so that those which a killed run has just made are known as its own
    await this.#save({ rows: 0, input: NOWHERE, files: {}, tally: this.#tally.snapshot() }, { finished: false });
    await this.#openFiles(() => ({ type: "overwrite" }));
    await this.#put(heads, 0);
  }

  /** Whether a file is one that an earlier sitting began. */
  #mayOverwrite(role: FileRole, path: string): boolean {
    if (this.#options.restart) return true;
    return this.#known !== undefined && (role === "out" || this.#known.fingerprint[role] === path);
  }

  async #openBeforeRest(before: Sidecar, full: Mark, rest: string): Promise<void> {
    await this.#save(full, { finished: false }); // from here on the rest is not in the file
    this.#full = async () => full;
    await this.#openFiles((role) =>
      role === "out"
        ? { type: "go_on", facts: factsOf(full, role), rest }
        : { type: "go_on", facts: factsOf(before, role) },
    );
  }

  async #openFiles(startOf: (role: FileRole) => JournaledFileStart): Promise<void> {
    for (const [role, path] of pathsOf(this.#options.files))
      this.#files.set(role, await openJournaledFile(path, startOf(role)));
    if (this.#isPacked) this.#full ??= this.#takeMark();
  }

  async #put(texts: RowTexts, rows: number): Promise<void> {
    await Promise.all([...this.#files].map(([role, file]) => file.write(texts[role] ?? "", rows)));
  }

  get #isPacked(): boolean {
    return packingOf(this.#options.files.out) !== undefined;
  }

  /** Takes note of this place, where a run can go on from it and the last note is old enough; then in the background. */
  #note(): void {
    if (this.#files.get("out")?.isBlockEnd !== true) return;
    const isDue =
      this.#noting === undefined && performance.now() - this.#notedMs >= (this.#options.intervalMs ?? INTERVAL_MS);
    if (!isDue && !this.#isPacked) return;
    const mark = this.#takeMark();
    if (this.#isPacked) this.#full = mark;
    if (!isDue) return;
    this.#noting = this.#saveMark(mark);
    this.#noting.then(
      () => {
        this.#noting = undefined;
        this.#notedMs = performance.now();
      },
      (error: unknown) => {
        this.#failure = error;
      },
    );
  }

  async #saveMark(mark: () => Promise<Mark>): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.flush()));
    await this.#save(await mark(), { finished: false });
  }

  /** The place behind the last row; what it gives is known once the files are flushed. */
  #takeMark(): () => Promise<Mark> {
    const marks = [...this.#files].map(([role, file]) => [role, file.mark()] as const);
    const at = { rows: this.#rows, input: this.#input, tally: this.#tally.snapshot() };
    return async () => {
      const facts = await Promise.all(marks.map(async ([role, factsAt]) => [role, await factsAt()] as const));
      return { ...at, files: Object.fromEntries(facts) };
    };
  }

  async #closeFiles(): Promise<Mark["files"]> {
    const facts: [FileRole, FileFacts][] = [];
    for (const [role, file] of this.#files) {
      this.#files.delete(role);
      facts.push([role, await file.close()]);
    }
    return Object.fromEntries(facts);
  }

  async #save(mark: Mark, { finished, full }: { finished: boolean; full?: Mark | undefined }): Promise<void> {
    const { files, part = null } = this.#options;
    const sidecar: Sidecar = {
      version: 1,
      fingerprint: (this.#run as RunStart).fingerprint,
      part,
      ...mark,
      finished,
      ...(full === undefined ? {} : { full }),
      sittings: (this.#before?.sittings ?? 0) + 1,
      elapsedMs: (this.#before?.elapsedMs ?? 0) + Math.round(performance.now() - this.#startedMs),
    };
    await writeSidecar(files.out, sidecar);
  }
}

const BEGIN_ANEW = "begin anew with --restart";

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Whether something is there that rows can be no journal in. */
async function isNoFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === false;
}

function factsOf({ files }: Mark, role: FileRole): FileFacts {
  const facts = files[role];
  if (facts === undefined) throw new Error(`the sidecar has no ${role}; this is a bug in qa`);
  return facts;
}
