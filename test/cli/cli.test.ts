import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { afterAll, describe, expect, it } from "vitest";
import { FIXTURES, installPacked, readFile, readNdjson, runCommand, runShell } from "./packed.js";

const installed = installPacked();
afterAll(() => installed.remove());
const qa = (args: readonly string[], options?: { input?: string; cwd?: string }) =>
  runCommand(installed.bin, args, options);
const temp = (name: string) => join(installed.folder, name);

const ASKED = ["--questions", `${FIXTURES}triage.yaml`, "--template", "{{subject}}\\n{{body}}"];
const REMOTE = ["run", `${FIXTURES}mails.txt`, "--preset", "guard", "--endpoint"];
const ENGLISH = ["--deployment", "b", "--model", "core-0.3.5"]; // the fast one
const ticketRows = parse(readFileSync(`${FIXTURES}tickets.csv`), { relax_column_count: true }) as string[][];

describe("qa run, installed from the packed tarball", () => {
  it("answers the sample tickets: one row out for each row in, in order, two of them as errors", async () => {
    const [out, report] = [temp("tickets.ndjson"), temp("tickets.html")];
    const { code, stderr } = await qa(["run", `${FIXTURES}tickets.csv`, ...ASKED, "--out", out, "--report", report]);
    expect(code).toBe(3);
    expect(readFile(report)).toContain("--bar: #2b59c3"); // the page's style is packed too
    const rows = readNdjson(readFile(out));
    expect(rows.map((row) => row.id)).toEqual(ticketRows.slice(1).map(([id]) => id));
    const failed = rows.filter((row) => row.error !== undefined).map((row) => (row.error as { code: string }).code);
    expect(failed).toEqual(["malformed_row", "state_too_long"]);
    for (const row of rows.filter((each) => each.error === undefined))
      expect(Object.keys(row.answers as object)).toEqual([
        "team",
        "refund",
        "urgency",
        "mood",
        "churn_risk",
        "needs_person",
      ]);
    expect(new Set(rows.map((row) => row.model))).toEqual(
      new Set(["core-0.3.20", "core-multilingual-0.3.20", undefined]),
    );
    expect(stderr).toContain("72 of 74 rows answered");
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(`74 rows are in ${out}`);
  });

  it("writes CSV with the input's columns and a flat column per answer, failed rows in their place", async () => {
    const out = temp("tickets.csv");
    const limited = ["--limit", "40", ...ENGLISH, "--probabilities", "--out", out, "--quiet"];
    const { code, stderr } = await qa(["run", `${FIXTURES}tickets.csv`, ...ASKED, ...limited]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    const [header = [], ...rows] = parse(readFile(out)) as string[][];
    expect(header.slice(0, 9)).toEqual([...(ticketRows[0] ?? []), "team", "team_confidence", "team.billing"]);
    expect(header.slice(-3)).toEqual(["model", "error.code", "error.message"]);
    expect(rows).toHaveLength(40);
    const [failed = []] = rows.filter((row) => row.at(-2) !== "");
    expect(failed.slice(header.indexOf("team"), -2).join("")).toBe("");
    expect(failed.at(-2)).toBe("malformed_row");
  });

  it("answers rows that are requests with their own questions, other keys passed through as they were", async () => {
    const { code, stdout } = await qa(["run", `${FIXTURES}requests.ndjson`, "--quiet"]);
    expect(code).toBe(0);
    const lines = stdout.trim().split("\n");
    const inputs = readFileSync(`${FIXTURES}requests.ndjson`, "utf8").trim().split("\n");
    expect(lines).toHaveLength(inputs.length);
    expect(readNdjson(stdout).map((row) => row.ref)).toEqual(readNdjson(inputs.join("\n")).map((row) => row.ref));
    expect(stdout).toContain("139.0");
    expect(lines[4]).toMatch(/"probabilities":\{"10":[^}]*"6":[^}]*"4":[^}]*"2":/);
  });

  it("splits 40 questions over calls; a state over the room is chunked when asked", async () => {
    const questions = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`q${i}`, { type: "noul", instructions: `Is ${i} meant?` }]),
    );
    writeFileSync(temp("forty.json"), JSON.stringify(questions));
    writeFileSync(temp("long.ndjson"), `${JSON.stringify({ text: readFile(`${FIXTURES}long-contract.txt`) })}\n`);
    const long = [temp("long.ndjson"), "--questions", temp("forty.json"), ...ENGLISH, "--quiet"];
    const rejected = await qa(["run", ...long]);
    expect(rejected.code).toBe(3);
    expect(readNdjson(rejected.stdout)[0]?.error).toMatchObject({
      code: "state_too_long",
      questions: { q0: { fits: false } },
    });
    const chunked = await qa(["run", ...long, "--long", "chunk", "--explain"]);
    expect(chunked.code).toBe(0);
    const [row] = readNdjson(chunked.stdout);
    expect(Object.keys(row?.answers as object)).toHaveLength(40);
    const chunks = row?.chunks as { count: number; from: Record<string, number[]>; chunks: { answers: object }[] };
    expect(chunks.chunks).toHaveLength(chunks.count);
    const best = Math.max(...chunks.chunks.map((chunk) => (chunk.answers as { q0: { noul: number } }).q0.noul));
    expect(row?.answers).toMatchObject({ q0: { noul: best } });
  });

  it("reads gzip and stdin, writes gzip and stdout", async () => {
    writeFileSync(temp("mails.txt.gz"), gzipSync(readFileSync(`${FIXTURES}mails.txt`)));
    const asked = ["--preset", "email", ...ENGLISH, "--limit", "3", "--only-answers", "--quiet"];
    const packed = await qa(["run", temp("mails.txt.gz"), ...asked, "--out", temp("mails.ndjson.gz")]);
    expect(packed.code).toBe(0);
    const piped = await qa(["run", "-", "--from", "text", ...asked], { input: readFile(`${FIXTURES}mails.txt`) });
    expect(piped.stdout).toBe(gunzipSync(readFileSync(temp("mails.ndjson.gz"))).toString());
    expect(readNdjson(piped.stdout).map((row) => row.row_number)).toEqual([1, 2, 3]);
  });

  it("draws the same sample for the same seed", async () => {
    const sampled = ["--sample", "3", "--seed", "7", "--only-answers", "--id-column", "id", ...ENGLISH, "--quiet"];
    const run = () => qa(["run", `${FIXTURES}reviews.ndjson`, "--preset", "review", ...sampled]);
    const [first, second] = [await run(), await run()];
    expect(readNdjson(first.stdout)).toHaveLength(3);
    expect(second.stdout).toBe(first.stdout);
  });

  it("ends quietly and well when the reader of its output goes", async () => {
    const line = `qa run ${FIXTURES}mails.txt --preset guard --deployment b --model core-0.3.5 --quiet | head -n 1`;
    const { code, stdout, stderr } = await runShell(installed.bin, line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readNdjson(stdout)).toHaveLength(1);
  });

  it("goes on to the end when the reader of its progress goes", async () => {
    const out = temp("unfollowed.ndjson");
    const run = `qa run ${FIXTURES}mails.txt --preset guard --deployment b --model core-0.3.5 --out ${out}`;
    const { stdout } = await runShell(installed.bin, `{ { ${run}; echo $? >&3; } 2>&1 >/dev/null | true; } 3>&1`);
    expect({ stdout, rows: readNdjson(readFile(out)).length }).toEqual({ stdout: "0\n", rows: 12 });
  });

  it("ends at Ctrl-C with a whole last row and exit code 130", async () => {
    const input = temp("many.txt");
    writeFileSync(input, readFile(`${FIXTURES}mails.txt`).repeat(200));
    const out = temp("interrupted.ndjson");
    const child = spawn(installed.bin, ["run", input, "--preset", "guard", ...ENGLISH, "--out", out, "--quiet"]);
    while (!existsSync(out) || readFile(out) === "") await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).toBe(130);
    const text = readFile(out);
    expect(text.endsWith("}\n")).toBe(true);
    const rows = readNdjson(text);
    expect(rows.length).toBeLessThan(2400);
    for (const row of rows) expect(row.error).toBeUndefined();
  });

  it("ends at once at a second Ctrl-C, by the signal", async () => {
    const input = temp("many-more.txt");
    writeFileSync(
      input,
      readFile(`${FIXTURES}long-contract.txt`).replaceAll("\n", " ").slice(0, 1500).concat("\n").repeat(500),
    );
    const out = temp("killed.ndjson");
    const child = spawn(installed.bin, ["run", input, "--preset", "guard", ...ENGLISH, "--out", out, "--quiet"]);
    while (!existsSync(out) || readFile(out) === "") await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    const [code, signal] = await new Promise<unknown[]>((resolve) => child.once("close", (...ended) => resolve(ended)));
    expect([code, signal]).toEqual([null, "SIGINT"]);
    for (const row of readNdjson(readFile(out))) expect(row.error).toBeUndefined();
  });
});

describe("what a person does wrong", () => {
  it.each([
    ["a flag that does not exist", ["run", `${FIXTURES}mails.txt`, "--bogus"], 2, "--bogus"],
    ["no questions", ["run", `${FIXTURES}mails.txt`], 2, "pass --questions FILE or --preset NAME"],
    [
      "both kinds of questions",
      ["run", "x.txt", "--preset", "guard", "--questions", "y.yaml"],
      2,
      "exclude each other",
    ],
    [
      "a preset that does not exist",
      ["run", "x.txt", "--preset", "none"],
      2,
      "email, guard, moderation, review, triage",
    ],
    ["an input that does not exist", ["run", "nothing-here.csv", "--preset", "guard"], 2, "nothing-here.csv"],
    [
      "a column that does not exist",
      ["run", `${FIXTURES}tickets.csv`, "--preset", "guard", "--state-column", "mail"],
      2,
      "its columns are id, received, channel, customer, subject, body",
    ],
    [
      "a state column beside rows that are requests",
      ["run", `${FIXTURES}requests.ndjson`, "--preset", "guard", "--state-column", "mail", ...ENGLISH, "--limit", "1"],
      0,
      "1 row answered",
    ],
    ["a model that does not exist", ["ask", "hello", "--preset", "guard", "--model", "gpt"], 2, "compat-latest"],
    ["a deployment that does not exist", ["ask", "hello", "--preset", "guard", "--deployment", "c"], 2, '"a", "b"'],
    ["what is begun anew and mended at once", ["run", "x.txt", "--retry-failed", "--restart"], 2, "--restart"],
    ["nothing asked", ["ask", "hello"], 2, "pass --question"],
    ["an endpoint that is no URL", [...REMOTE, "localhost:8080"], 2, "http://127.0.0.1:8080"],
    ["chunks asked of an endpoint", [...REMOTE, "http://127.0.0.1:1", "--long", "chunk"], 2, "--long chunk needs"],
    ["workers for an endpoint", [...REMOTE, "http://127.0.0.1:1", "--workers", "2"], 2, "--workers"],
    [
      "chunks' flags without chunks",
      ["run", `${FIXTURES}mails.txt`, "--preset", "guard", "--overlap", "2"],
      2,
      "add --long chunk",
    ],
    ["a seed without a sample", ["run", "x.txt", "--preset", "guard", "--seed", "2"], 2, "--sample"],
    ["a report of a dry run", ["run", "x.txt", "--preset", "guard", "--dry-run", "--report", "r.html"], 2, "--report"],
    [
      "a deadline for the engine",
      ["run", `${FIXTURES}mails.txt`, "--preset", "guard", "--deadline", "5"],
      2,
      "--endpoint",
    ],
  ])("%s ends with code and advice", async (_, args, code, advice) => {
    const ended = await qa(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(advice);
  });

  it("a wrong flag is told in a few lines, not pushed off the screen by the whole help", async () => {
    const { stderr } = await qa(["run", "--bogus"]);
    expect(stderr).toContain("--help");
    expect(stderr.split("\n").length).toBeLessThan(6);
  });

  it("an output that qa did not begin is kept unless --restart is given", async () => {
    const out = temp("kept.ndjson");
    writeFileSync(out, "mine\n");
    const args = ["run", `${FIXTURES}mails.txt`, "--preset", "guard", ...ENGLISH, "--limit", "1", "--out", out];
    const refused = await qa(args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--restart");
    expect(readFile(out)).toBe("mine\n");
    expect((await qa([...args, "--restart"])).code).toBe(0);
    expect(readNdjson(readFile(out))).toHaveLength(1);
  });

  it("says of a run that cannot go on only why, not again what its earlier sitting came to", async () => {
    const out = temp("other.ndjson");
    const args = ["run", `${FIXTURES}mails.txt`, ...ENGLISH, "--limit", "1", "--out", out];
    const first = await qa([...args, "--preset", "guard"]);
    expect(first.stderr).toContain("1 row answered");
    expect(first.stderr).toContain(`1 row is in ${out}`);
    const { code, stderr } = await qa([...args, "--preset", "email"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^qa: /);
  });

  it("a missing checkpoint is an error that says what to do, and nothing is written", async () => {
    mkdirSync(temp("no-models"));
    const out = temp("none.ndjson");
    const args = ["run", `${FIXTURES}mails.txt`, "--preset", "guard", "--models", temp("no-models"), "--out", out];
    const { code, stderr } = await qa(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/checkpoint core-.* is not in .*restore it/);
  });
});

describe("qa ask and qa room", () => {
  it("asks one text from stdin and prints the wire's response", async () => {
    const input = "I was charged twice, please refund one of them.\n";
    const asked = [
      "--question",
      "refund=Is a refund requested?",
      "--question",
      "team=Which team? :: billing | technical",
    ];
    const { code, stdout } = await qa(["ask", "--json", ...asked], { input });
    expect(code).toBe(0);
    const response = JSON.parse(stdout) as { model: string; answers: { team: { choice: string } } };
    expect(Object.keys(response)).toEqual(["model", "answers", "usage"]);
    expect(response.model).toBe("core-multilingual-0.3.20");
    expect(response.answers.team.choice).toBe("billing");
  });

  it("sends the same short English message to the other checkpoint on deployment b", async () => {
    const asked = ["--question", "Is a refund requested?", "--deployment", "b", "--json"];
    const { stdout } = await qa(["ask", "I was charged twice for my invoice, please refund one of them.", ...asked]);
    expect(JSON.parse(stdout)).toMatchObject({ model: "core-0.3.5" });
  });

  it("draws answers as bars", async () => {
    const { stdout } = await qa(["ask", "The app crashes.", "--question", "team=Which team? :: billing | technical"]);
    expect(stdout).toMatch(/^team: technical {2}\(confidence/m);
    expect(stdout).toMatch(/technical {2}█+/);
  });

  it("shows the room of every question before anything runs", async () => {
    const { code, stdout } = await qa(["room", "--questions", `${FIXTURES}triage.yaml`, "--json"]);
    expect(code).toBe(0);
    expect(JSON.stringify(JSON.parse(stdout))).toContain("core-multilingual-0.3.20");
  });
});

describe("the README", () => {
  const readme = readFile(new URL("../../README.md", import.meta.url).pathname);
  const blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```/gms)].map(([, language, text = ""]) => ({ language, text }));
  const commands = blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trim().split("\n"))
    .map((line) => line.replace("npm ci && ", ""))
    .filter((line) => line.includes("npx qa ") && !line.includes("npx qa serve"));
  const isRemote = (line: string) => line.includes("--endpoint");
  const folder = temp("readme");
  const fixtures = join(folder, "fixtures");
  mkdirSync(fixtures, { recursive: true });
  for (const file of readdirSync(FIXTURES)) symlinkSync(join(FIXTURES, file), join(fixtures, file));
  // all of the tickets are answered above
  rmSync(join(fixtures, "tickets.csv"));
  writeFileSync(join(fixtures, "tickets.csv"), stringify(ticketRows.slice(0, 16)));

  it("shows how to ask another machine, and what is written is what this one would have written", async () => {
    const serving = spawn(installed.bin, ["serve", "--no-auth", "--port", "0", "--data", temp("data")]);
    try {
      const [announced] = (await once(serving.stdout, "data")) as [Buffer];
      const url = /qa serves (\S+),/.exec(announced.toString())?.[1];
      const [line = ""] = commands.filter(isRemote);
      const over = line.replaceAll("npx qa", "qa").replace("http://127.0.0.1:8080", `${url}`);
      const remote = await runShell(installed.bin, over, folder);
      const local = await runShell(
        installed.bin,
        over.replace(/--endpoint \S+/, "").replace("remote.", "local."),
        folder,
      );
      expect([remote.code, local.code], remote.stderr).toEqual([0, 0]);
      expect(remote.stderr).toContain("answered by 127.0.0.1:");
      expect(readFile(join(folder, "remote.csv"))).toBe(readFile(join(folder, "local.csv")));
    } finally {
      serving.kill();
      await once(serving, "close");
    }
  }, 180_000); // a service and two runs, each of which loads checkpoints

  it.each(commands.filter((line) => !isRemote(line)))("%s works as it stands", async (line) => {
    const { code, stderr } = await runShell(installed.bin, line.replaceAll("npx qa", "qa"), folder);
    expect([0, 3], stderr).toContain(code);
  });

  it("shows a program that works as it stands", async () => {
    const [program] = blocks.filter(({ language }) => language === "js");
    writeFileSync(temp("program.mjs"), program?.text ?? "");
    const { code, stdout, stderr } = await runCommand(process.execPath, [temp("program.mjs")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^0\.\d+ billing$/m);
  });

  it("shows questions that parse", async () => {
    const [yaml] = blocks.filter(({ language }) => language === "yaml");
    writeFileSync(temp("readme.yaml"), yaml?.text ?? "");
    const { code, stdout } = await qa(["room", "--questions", temp("readme.yaml"), "--json"]);
    expect({ code, ids: /team.*urgent.*anger/.test(stdout) }).toEqual({ code: 0, ids: true });
  });
});
