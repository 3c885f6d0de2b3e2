import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRowQueue, type Sink } from "../../../src/batch/write/row-queue.js";
import { openRowWriter } from "../../../src/batch/write/write-rows.js";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "qa-write-"));
});
afterEach(() => rm(dir, { recursive: true }));

describe("openRowWriter", () => {
  it("writes the header and the rows in order, and counts the rows alone", async () => {
    const out = join(dir, "a.csv");
    const writer = await openRowWriter({ out });
    await writer.write("head\n", 0);
    for (let row = 0; row < 3000; row++) await writer.write(`${row}é\n`);
    await writer.close();
    expect(await readFile(out, "utf8")).toBe(`head\n${Array.from({ length: 3000 }, (_, row) => `${row}é\n`).join("")}`);
    expect(writer.rows).toBe(3000);
  });

  it("lets a reader see a row without waiting for the next", async () => {
    const out = join(dir, "a.ndjson");
    const writer = await openRowWriter({ out });
    await writer.write("{}\n");
    await expect.poll(() => readFile(out, "utf8")).toBe("{}\n");
    await writer.close();
  });

  it("packs a file whose name ends in .gz", async () => {
    const out = join(dir, "a.ndjson.gz");
    const writer = await openRowWriter({ out });
    const row = `${"x".repeat(99_999)}\n`;
    for (let i = 0; i < 25; i++) await writer.write(row); // more than two blocks
    await writer.close();
    expect(gunzipSync(await readFile(out)).toString()).toBe(row.repeat(25));
    expect(writer.rows).toBe(25);
  });

  it("leaves a file that exists alone, but for force", async () => {
    const out = join(dir, "a.csv");
    await writeFile(out, "old, and longer than what comes\n");
    await expect(openRowWriter({ out })).rejects.toMatchObject({
      code: "output_exists",
      message: expect.stringContaining("--restart"),
    });
    expect(await readFile(out, "utf8")).toMatch("old");
    const writer = await openRowWriter({ out, force: true });
    await writer.write("new\n");
    await writer.close();
    expect(await readFile(out, "utf8")).toBe("new\n");
  });

  it("names a folder that is missing, and a directory", async () => {
    const opened = openRowWriter({ out: join(dir, "none", "a.csv") });
    await expect(opened).rejects.toMatchObject({ code: "invalid_usage", message: expect.stringContaining("mkdir -p") });
    await expect(openRowWriter({ out: dir })).rejects.toMatchObject({ code: "invalid_usage" });
  });

  it("writes to a device without force", async () => {
    const writer = await openRowWriter({ out: "/dev/null" });
    await writer.write("a\n");
    await writer.close();
    expect(writer.rows).toBe(1);
  });

  it("keeps the rows that are written when it is aborted, and drops the rest", async () => {
    const out = join(dir, "a.ndjson.gz");
    const writer = await openRowWriter({ out });
    await writer.write("pending\n");
    await writer.abort();
    expect(await readFile(out)).toHaveLength(0);
  });
});

describe("a writer to stdout", () => {
  it("signals that the reader is gone, and takes further rows in silence", async () => {
    const reader = spawn("head", ["-n", "1"], { stdio: ["pipe", "pipe", "inherit"] });
    const writer = await openRowWriter({ out: "-", stdout: reader.stdin });
    const exited = once(reader, "exit");
    while (!writer.readerGone.aborted) await writer.write(`${"x".repeat(65_536)}\n`);
    await writer.write("more\n");
    await writer.close();
    await exited;
    expect(writer.readerGone.aborted).toBe(true);
  });

  it("waits for a reader that is slow", async () => {
    const stdout = new PassThrough({ highWaterMark: 1 });
    const writer = await openRowWriter({ out: "-", stdout });
    const row = `${"x".repeat(2 ** 20)}\n`;
    await writer.write(row); // on its way
    let isThrough = false;
    const second = writer.write(row).then(() => {
      isThrough = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isThrough).toBe(false);
    stdout.resume();
    await second;
    await writer.close();
    expect(writer.rows).toBe(2);
  });

  it("does not end stdout, and leaves no listener on it", async () => {
    const stdout = new PassThrough();
    const writer = await openRowWriter({ out: "-", stdout });
    await writer.write("a\n");
    await writer.close();
    expect(stdout.writableEnded).toBe(false);
    expect(stdout.listenerCount("error")).toBe(0);
    expect(stdout.read().toString()).toBe("a\n");
  });

  it("fails where stdout fails otherwise", async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("x"), { code: "EIO" })),
    });
    const writer = await openRowWriter({ out: "-", stdout });
    await writer.write("a\n");
    await expect(writer.close()).rejects.toMatchObject({ code: "output_failed" });
  });
});

describe("createRowQueue", () => {
  /** A sink that takes `room` blocks; then the disk is full. */
  function diskOf(room: number): { sink: Sink; blocks: string[]; state: { closed: number } } {
    const blocks: string[] = [];
    const state = { closed: 0 };
    return {
      blocks,
      state,
      sink: {
        async write(block) {
          if (blocks.length === room) throw Object.assign(new Error("full"), { code: "ENOSPC" });
          blocks.push(block.toString());
        },
        async close() {
          state.closed++;
        },
      },
    };
  }

  it("says how many rows are whole when the disk is full, and closes the sink", async () => {
    const { sink, blocks, state } = diskOf(2);
    const writer = createRowQueue(sink, { name: "a.csv", blockLength: 4 });
    for (const row of ["1\n", "2\n", "3\n", "4\n", "5\n"]) {
      await writer.write(row);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect(writer.close()).rejects.toMatchObject({
      code: "output_failed",
      message: "a.csv: no space is left; make room and run again; 4 rows were written whole",
      details: { rows: 4 },
    });
    await expect(writer.write("6\n")).rejects.toMatchObject({ code: "output_failed" });
    expect(blocks).toEqual(["1\n2\n", "3\n4\n"]);
    expect(state.closed).toBe(1);
  });

  it("gathers the rows that come while a block is on its way", async () => {
    const { sink, blocks } = diskOf(10);
    const writer = createRowQueue(sink, { name: "a.csv" });
    for (const row of ["1\n", "2\n", "3\n"]) await writer.write(row);
    await writer.close();
    expect(blocks.join("")).toBe("1\n2\n3\n");
  });

  it("closes once, however often it is asked", async () => {
    const { sink, state } = diskOf(10);
    const writer = createRowQueue(sink, { name: "a.csv" });
    await Promise.all([writer.close(), writer.close()]);
    await writer.abort();
    expect(state.closed).toBe(1);
  });
});
