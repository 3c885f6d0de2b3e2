import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Answerer, engineAnswerer } from "../../../src/batch/answerer.js";
import { parseErrorLimit } from "../../../src/batch/error-limit.js";
import { type AskedRun, Sitting, type SittingOptions } from "../../../src/batch/sitting.js";
import { parseQuestions } from "../../../src/decision/question.js";
import { Engine } from "../../../src/engine/engine.js";
import { QaError } from "../../../src/errors.js";
import { createFakeInference } from "../../fake-inference.js";

const folder = mkdtempSync(join(tmpdir(), "qa-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});
const at = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(at(name));
const input = at("input.csv");
const { questions } = parseQuestions({ urgent: { type: "noul", instructions: "Is it urgent?" } });
const { questions: others } = parseQuestions({ urgent: { type: "noul", instructions: "Is it very urgent?" } });

/** Rows of which every seventh cannot be read, long enough for several packed blocks. */
function rows(from: number, to: number, note = "x".repeat(900)): string {
  return Array.from(
    { length: to - from },
    (_, i) => `${from + i},${i % 7 === 3 ? '"broken" ' : ""}text ${from + i},${note}\n`,
  ).join("");
}
function writeInput(count: number, note?: string): void {
  writeFileSync(input, `id,body,note\n${rows(0, count, note)}`);
}

/** Rows that can all be read. */
function writeSound(count: number): void {
  const lines = Array.from({ length: count }, (_, i) => `${i},text ${i},${"x".repeat(900)}\n`);
  writeFileSync(input, `id,body,note\n${lines.join("")}`);
}
const isEvery16th = (state: unknown) => Number(String(state).slice("text ".length)) % 16 === 0;

/** An answerer that fails some requests. */
function failing(answerer: Answerer, isFailing: (state: unknown) => boolean): Answerer {
  return {
    ...answerer,
    async answer(request, options) {
      if (isFailing(request.state)) throw new QaError("worker_crashed", "a worker crashed");
      return answerer.answer(request, options);
    },
  };
}

interface Sat {
  readonly end: string | undefined;
  readonly code: string | undefined;
  readonly message: string;
  readonly asked: number;
  readonly sitting: Sitting | undefined;
}

interface Interference {
  readonly stopAfter: number;
  readonly isFailing: (state: unknown) => boolean;
  /** Told of every row that is written. */
  readonly onWritten: () => void;
}

/** One sitting over the input; `stopAfter` rows it is interrupted. */
async function sit(
  out: string,
  {
    stopAfter,
    restart = false,
    retryFailed = false,
    isFailing = () => false,
    onWritten = () => {},
    ...changes
  }: Partial<AskedRun & SittingOptions & Interference> = {},
): Promise<Sat> {
  const inference = createFakeInference();
  const engine = await Engine.open({ maxBatchTokens: 256 }, inference);
  const stop = new AbortController();
  let count = 0;
  let sitting: Sitting | undefined;
  const asked: AskedRun = {
    inputs: [input],
    read: {},
    state: { stateColumn: "body" },
    questions,
    model: "core-0.3.20",
    output: { format: out.includes("csv") ? "csv" : "ndjson" },
    files: { out: at(out) },
    ...changes,
  };
  const onRow = () => {
    if (++count === stopAfter) stop.abort();
    onWritten();
  };
  try {
    sitting = await Sitting.open(asked, { restart, retryFailed });
    const end = await sitting.run(failing(engineAnswerer(engine), isFailing), {
      onRow,
      onBytes: () => {},
      signal: stop.signal,
    });
    return { end, code: undefined, message: "", asked: count, sitting };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { end: undefined, code, message, asked: count, sitting };
  } finally {
    await engine.close();
  }
}

const OUTPUTS = ["out.csv", "out.ndjson", "out.csv.gz", "out.ndjson.gz"];

describe("a run that goes on", () => {
  it.each(OUTPUTS)("writes the bytes of one that was never stopped, to %s", async (out) => {
    writeInput(1000);
    const files = (name: string) => ({
      files: { out: at(name), rejects: at(`${name}.rejects`), review: at(`${name}.review`) },
      review: { format: "csv", band: { low: 0.2, high: 0.8 } } as const,
    });
    const whole = await sit(`whole-${out}`, files(`whole-${out}`));
    for (const stopAfter of [1, 3, 200, 220]) {
      const sat = await sit(out, { stopAfter, ...files(out) });
      expect(sat.end).toBe("interrupted");
    }
    const last = await sit(out, files(out));
    expect(last.end).toBe("finished");
    expect(last.asked).toBeLessThan(1000 - 420);
    expect(read(out).equals(read(`whole-${out}`))).toBe(true);
    expect(read(`${out}.rejects`).equals(read(`whole-${out}.rejects`))).toBe(true);
    expect(read(`${out}.review`).equals(read(`whole-${out}.review`))).toBe(true);
    expect(read(`${out}.review`).length).toBeGreaterThan(100_000);
    expect(last.sitting?.tally.snapshot()).toEqual(whole.sitting?.tally.snapshot());
    expect(last.sitting?.timing.sittings).toBe(5);
  });

  it.each(OUTPUTS)("answers what has come to the input since it was finished, to %s", async (out) => {
    for (const count of [300, 320, 1000]) {
      writeInput(count);
      const sat = await sit(out);
      expect(sat.end).toBe("finished");
    }
    await sit(`whole-${out}`);
    expect(read(out).equals(read(`whole-${out}`))).toBe(true);
  });

  it("is not finished any more from its first row on, so that nothing takes its output for whole when it is killed", async () => {
    writeSound(40);
    await sit("out.csv");
    writeSound(60);
    const killed = ["out.csv", "out.csv.qa"].map((name) => [name, `killed-${name}`] as const);
    const onWritten = () => {
      for (const [name, copy] of killed) copyFileSync(at(name), at(copy));
    };
    await sit("out.csv", { onWritten });
    expect(await sit("killed-out.csv", { retryFailed: true })).toMatchObject({
      code: "invalid_usage",
      message: expect.stringContaining("is not finished"),
    });
    expect((await sit("killed-out.csv")).end).toBe("finished");
    expect(read("killed-out.csv").equals(read("out.csv"))).toBe(true);
  });

  it("asks nothing and changes nothing where all is done", async () => {
    writeInput(50);
    await sit("out.csv.gz");
    const before = read("out.csv.gz");
    expect(await sit("out.csv.gz")).toMatchObject({ end: "finished", asked: 0 });
    expect(read("out.csv.gz").equals(before)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(["input.csv", "out.csv.gz", "out.csv.gz.qa"]);
  });

  it("takes more rows where --limit is raised, and says so where it is below what is done", async () => {
    writeInput(50);
    await sit("out.csv", { limit: 20 });
    expect(await sit("out.csv", { limit: 30 })).toMatchObject({ end: "finished", asked: 10 });
    const sat = await sit("out.csv", { limit: 10 });
    expect(sat).toMatchObject({ code: "input_changed", message: expect.stringContaining("--limit takes only 10") });
  });

  it("repairs a last line that was torn off in the middle, and drops rows behind the last place that is known", async () => {
    writeInput(100);
    await sit("whole.csv");
    await sit("out.csv", { stopAfter: 40 });
    appendFileSync(at("out.csv"), '39,"torn');
    expect((await sit("out.csv")).end).toBe("finished");
    expect(read("out.csv").equals(read("whole.csv"))).toBe(true);
  });

  it("begins anew where the output is gone, over no file but its own", async () => {
    writeInput(30);
    const files = { out: at("out.csv"), rejects: at("rejects.ndjson") };
    await sit("out.csv", { files });
    rmSync(at("out.csv"));
    expect(await sit("out.csv", { files })).toMatchObject({ end: "finished", asked: 30 });
    rmSync(at("out.csv"));
    writeFileSync(at("mine.ndjson"), "mine\n");
    const others = { ...files, rejects: at("mine.ndjson") };
    expect(await sit("out.csv", { files: others })).toMatchObject({ code: "output_exists" });
    expect(read("mine.ndjson").toString()).toBe("mine\n");
  });

  it("begins anew with restart, whatever is there", async () => {
    writeInput(30);
    writeFileSync(at("out.csv"), "mine\n");
    expect(await sit("out.csv")).toMatchObject({
      code: "output_exists",
      message: expect.stringContaining("--restart"),
    });
    expect(read("out.csv").toString()).toBe("mine\n");
    expect(await sit("out.csv", { restart: true })).toMatchObject({ end: "finished", asked: 30 });
    expect(await sit("out.csv", { restart: true, questions: others })).toMatchObject({ end: "finished", asked: 30 });
  });
});

describe("a run that cannot go on changes nothing and says why:", () => {
  async function refused(changes: Parameters<typeof sit>[1], out = "out.csv"): Promise<Sat> {
    const before = read(out);
    const sat = await sit(out, changes);
    expect(read(out).equals(before)).toBe(true);
    expect(sat.asked).toBe(0);
    return sat;
  }

  beforeEach(async () => {
    writeInput(60);
    await sit("out.csv", { stopAfter: 20 });
  });

  it.each<[string, Parameters<typeof sit>[1], string]>([
    ["other questions", { questions: others }, "questions.urgent: changed"],
    ["another model", { model: "core-0.3.5" }, "model: core-0.3.20 -> core-0.3.5"],
    ["another column", { state: { stateColumn: "note" } }, "state.stateColumn: body -> note"],
    [
      "other columns in the output",
      { output: { format: "csv", onlyAnswers: true } },
      "output.onlyAnswers: none -> true",
    ],
    ["another shard", { part: { type: "shard", index: 0, count: 2 } }, "part"],
    ["a sample", { sample: { size: 5, seed: 1 } }, "sample"],
    ["rejects from now on", { files: { out: at("out.csv"), rejects: at("r.ndjson") } }, "rejects: none ->"],
  ])("%s", async (_, changes, told) => {
    expect(await refused(changes)).toMatchObject({ code: "run_changed", message: expect.stringContaining(told) });
  });

  it("an input that changed in the part that is done, but not behind it", async () => {
    const text = readFileSync(input, "utf8");
    writeFileSync(input, text.replace("text 3", "Text 3"));
    expect(await refused({})).toMatchObject({ code: "input_changed" });
    writeFileSync(input, text.replace("text 59", "Text 59"));
    expect((await sit("out.csv")).end).toBe("finished");
  });

  it("an input that has become shorter", async () => {
    writeInput(10);
    const sat = await refused({});
    expect(sat).toMatchObject({ code: "input_changed", message: expect.stringContaining("only 10 are left") });
  });

  it("an output that is shorter, or not the same", async () => {
    const text = read("out.csv").toString();
    writeFileSync(at("out.csv"), text.replace("core-0.3.20,,\n", "core-0.3.21,,\n"));
    truncateSync(at("out.csv"), 300);
    expect(await refused({})).toMatchObject({ code: "output_changed" });
  });

  it.each(OUTPUTS)("a finished output that is shorter, though no row is left to answer: %s", async (out) => {
    await sit(`done-${out}`);
    truncateSync(at(`done-${out}`), 300);
    expect(await refused({}, `done-${out}`)).toMatchObject({ code: "output_changed" });
  });

  it.each(["kept.csv", "kept.csv.gz"])("rejects that are gone, until they are there again: %s", async (out) => {
    const files = { out: at(out), rejects: at("rejects.ndjson") };
    await sit(out, { files });
    writeInput(70);
    renameSync(at("rejects.ndjson"), at("moved.ndjson"));
    expect(await refused({ files }, out)).toMatchObject({
      code: "output_changed",
      message: expect.stringContaining("rejects.ndjson is not as qa last wrote it; restore it"),
    });
    renameSync(at("moved.ndjson"), at("rejects.ndjson"));
    expect((await sit(out, { files })).end).toBe("finished");
    await sit(`whole-${out}`, { files: { out: at(`whole-${out}`), rejects: at("whole.ndjson") } });
    expect(read(out).equals(read(`whole-${out}`))).toBe(true);
  });

  it.each([
    ["of another version", { version: 99 }],
    ["without its files", { files: {} }],
    ["without its place in the input", { input: null }],
    ["without its fingerprint", { fingerprint: undefined }],
  ])("a sidecar %s", async (_, change) => {
    writeFileSync(at("out.csv.qa"), JSON.stringify({ ...JSON.parse(read("out.csv.qa").toString()), ...change }));
    expect(await refused({})).toMatchObject({ code: "input_damaged", message: expect.stringContaining("--restart") });
  });
});

describe("an output that cannot be written", () => {
  it.runIf(process.platform === "linux")(
    "ends a run before its first row: a folder that is read-only, for root too",
    async () => {
      writeInput(3);
      const sat = await sit("out.csv", { files: { out: "/sys/qa-out.csv" } });
      expect(sat).toMatchObject({
        code: "output_failed",
        message: expect.stringContaining("may not be written"),
        asked: 0,
      });
    },
  );
});

describe("the files of a run", () => {
  it("are apart also where they are yet to be made", async () => {
    writeInput(10);
    const files = { out: at("out.ndjson"), rejects: `${folder}/./out.ndjson` };
    expect(await sit("out.ndjson", { files })).toMatchObject({
      code: "invalid_usage",
      message: expect.stringContaining("is named for two outputs"),
    });
  });

  it.each(["-", "/dev/null", folder])("are files: %s", async (rejects) => {
    writeInput(10);
    const sat = await sit("out.ndjson", { files: { out: at("out.ndjson"), rejects }, restart: true });
    expect(sat).toMatchObject({ code: "invalid_usage", message: expect.stringContaining("name") });
    expect(readdirSync(folder)).toEqual(["input.csv"]);
  });

  it("are written by one run at a time, the rejects too", async () => {
    writeInput(100);
    const asked = (name: string) => ({ files: { out: at(name), rejects: at("rejects.ndjson") } });
    const names = ["1.ndjson", "2.ndjson"];
    const both = await Promise.all(names.map((name) => sit(name, asked(name))));
    expect(both.map(({ code }) => code)).toEqual([undefined, "output_locked"]);
    expect(read("rejects.ndjson").toString().split("\n")).toHaveLength(14 + 1);
    expect(readdirSync(folder).sort()).toEqual(["1.ndjson", "1.ndjson.qa", "input.csv", "rejects.ndjson"]);
  });

  it("have a folder, which is to be made first", async () => {
    writeInput(10);
    const nowhere = { out: at("out.ndjson"), rejects: at("none/rejects.ndjson") };
    expect(await sit("out.ndjson", { files: nowhere })).toMatchObject({ code: "invalid_usage" });
    expect(readdirSync(folder)).toEqual(["input.csv"]);
    for (const out of ["none/out.ndjson", "input.csv/out.ndjson"])
      expect(await sit(out)).toMatchObject({ code: "invalid_usage", message: expect.stringContaining("mkdir -p") });
  });
});

describe("the failed rows of a run", () => {
  it("are kept whole in --rejects, in a form that a run takes again", async () => {
    writeInput(30, "n");
    await sit("out.ndjson", { files: { out: at("out.ndjson"), rejects: at("rejects.ndjson") } });
    const rejects = read("rejects.ndjson")
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rejects).toHaveLength(4);
    expect(rejects[0]).toMatchObject({ id: "3", row: '3,"broken" text 3,n', error: { code: "malformed_row" } });
    const again = { inputs: [at("rejects.ndjson")], state: { stateColumn: "row" } };
    expect((await sit("again.ndjson", again)).end).toBe("finished");
    expect(read("again.ndjson").toString()).not.toContain('"error"');
  });

  it.each(OUTPUTS)("are answered again in their places, and nothing else is: %s", async (out) => {
    writeSound(400);
    await sit(`whole-${out}`);
    const failing = await sit(out, { isFailing: isEvery16th });
    expect(failing.sitting?.tally.counts.failed).toBe(25);
    expect(read(out).equals(read(`whole-${out}`))).toBe(false);
    const retried = await sit(out, { retryFailed: true });
    expect(retried).toMatchObject({ end: "finished", asked: 25 });
    expect(read(out).equals(read(`whole-${out}`))).toBe(true);
    expect(retried.sitting?.tally.counts).toMatchObject({ rows: 400, answered: 400, failed: 0 });
    expect(readdirSync(folder).filter((name) => name.includes(".qa-rows"))).toEqual([]);
    expect(await sit(out)).toMatchObject({ end: "finished", asked: 0 });
  });

  it("that are answered before it is stopped stay answered, the others stay as they were", async () => {
    writeSound(400);
    await sit("out.ndjson", { isFailing: isEvery16th });
    const stopped = await sit("out.ndjson", { retryFailed: true, stopAfter: 5 });
    expect(stopped.end).toBe("interrupted");
    const left = read("out.ndjson").toString().split('"error":').length - 1;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(25);
    expect(stopped.sitting?.tally.counts.failed).toBe(left);
    expect(await sit("out.ndjson", { retryFailed: true })).toMatchObject({ end: "finished", asked: left });
  });

  it("are answered again in the file that the output is a link to, for the same readers", async () => {
    writeSound(64);
    await sit("whole.ndjson");
    symlinkSync(at("elsewhere.ndjson"), at("out.ndjson"));
    await sit("out.ndjson", { isFailing: isEvery16th });
    chmodSync(at("elsewhere.ndjson"), 0o600);
    expect(await sit("out.ndjson", { retryFailed: true })).toMatchObject({ end: "finished", asked: 4 });
    expect(read("elsewhere.ndjson").equals(read("whole.ndjson"))).toBe(true);
    expect(lstatSync(at("out.ndjson")).isSymbolicLink()).toBe(true);
    expect(statSync(at("out.ndjson")).mode & 0o777).toBe(0o600);
  });

  it("are marked for review in lines of their own, behind what a person saved without a last line end", async () => {
    writeSound(64);
    const asked = {
      files: { out: at("out.csv"), review: at("review.csv") },
      review: { format: "csv", band: { low: 0, high: 1 } },
    } as const;
    await sit("out.csv", { ...asked, isFailing: isEvery16th });
    const saved = read("review.csv").toString().trimEnd();
    writeFileSync(at("review.csv"), saved);
    await sit("out.csv", { ...asked, retryFailed: true });
    const review = read("review.csv").toString();
    expect(review.startsWith(`${saved}\n`)).toBe(true);
    expect(review.split("\n")).toHaveLength(1 + 64 + 1);
  });

  it("take the places of all files where it was killed just then, whatever the next run names", async () => {
    writeSound(64);
    const files = { out: at("out.ndjson"), rejects: at("rejects.ndjson") };
    await sit("out.ndjson", { files, isFailing: isEvery16th });
    const names = ["out.ndjson", "rejects.ndjson"];
    const [before, failed] = [JSON.parse(read("out.ndjson.qa").toString()), names.map((name) => read(name))];
    await sit("out.ndjson", { files, retryFailed: true, isFailing: (state) => state === "text 16" });
    const [replacement, answered] = [JSON.parse(read("out.ndjson.qa").toString()), names.map((name) => read(name))];
    for (const [i, name] of names.entries()) {
      renameSync(at(name), at(`.qa-rows.${name}`));
      writeFileSync(at(name), failed[i] ?? "");
    }
    writeFileSync(at("out.ndjson.qa"), JSON.stringify({ ...before, replacement }));
    expect(await sit("out.ndjson")).toMatchObject({ code: "run_changed" });
    expect(await sit("out.ndjson", { files })).toMatchObject({ end: "finished", asked: 0 });
    expect(names.map((name) => read(name))).toEqual(answered);
  });

  it("are not answered again before the run is finished, nor where it is another one", async () => {
    writeInput(60);
    await sit("out.csv", { stopAfter: 10 });
    expect(await sit("out.csv", { retryFailed: true })).toMatchObject({ code: "invalid_usage" });
    await sit("out.csv");
    expect(await sit("out.csv", { retryFailed: true, questions: others })).toMatchObject({ code: "run_changed" });
    writeInput(60, "changed");
    expect(await sit("out.csv", { retryFailed: true })).toMatchObject({ code: "input_changed" });
    expect(await sit("none.csv", { retryFailed: true })).toMatchObject({ code: "input_missing" });
  });

  it("end a run early when they are too many, and it is gone on with when what failed is mended", async () => {
    writeInput(60);
    const files = { out: at("out.csv") };
    const sat = await sit("out.csv", { files, maxErrors: parseErrorLimit("3") });
    expect(sat).toMatchObject({ code: "too_many_errors", message: expect.stringContaining("4 of") });
    expect(read("out.csv").toString().split("malformed_row").length - 1).toBe(4);
    expect((await sit("out.csv", { files, maxErrors: parseErrorLimit("20") })).end).toBe("finished");
  });
});
