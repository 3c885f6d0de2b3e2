/** The file of a report: what can be wrong with it is found before the run, and it is written whole or not at all. */

import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { PACKAGE_DIR } from "../../config.js";
import { QaError } from "../../errors.js";
import { codeOf } from "../write/output-errors.js";
import type { Report } from "./report.js";
import { GENERATOR, reportHtml } from "./report-html.js";
import { reportJson } from "./report-json.js";

export interface ReportOptions {
  /** `.html` or `.json`. */
  readonly file: string;
  /** What the run reads and writes, none of which may be the report. */
  readonly others: readonly (string | undefined)[];
}

export interface ReportFile {
  /** @throws QaError `output_failed` */
  write(report: Report): Promise<void>;
}

/** Characters within which a report says that it is one. */
const HEAD = 1000;

/**
 * Makes sure that a report can be written to a file, and leaves the file as it is. A report takes the place of an older one,
 * since a run that goes on reports anew, and of nothing else.
 * @throws QaError `invalid_usage`, `output_exists`
 */
export async function prepareReport({ file, others }: ReportOptions): Promise<ReportFile> {
  const print = await printerOf(file);
  if (others.some((other) => other !== undefined && other !== "-" && resolve(other) === resolve(file)))
    throw new QaError("invalid_usage", `--report ${file} is also an input or an output of the run; name another file`);
  const folder = dirname(file);
  const isFolder = await stat(folder).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new QaError("invalid_usage", `no folder ${folder} for the report; make it first: mkdir -p ${folder}`);
  const entry = await stat(file).catch(() => undefined);
  if (entry?.isDirectory()) throw new QaError("invalid_usage", `--report ${file} is a directory; name a file in it`);
  if (entry !== undefined && !(await isReport(file)))
    throw new QaError("output_exists", `${file} exists and is no report of qa; name another file`, {
      details: { file },
    });
  return { write: (report) => writeWhole(file, print(report)) };
}

async function printerOf(file: string): Promise<(report: Report) => string> {
  if (/\.json$/i.test(file)) return reportJson;
  if (!/\.html?$/i.test(file)) throw new QaError("invalid_usage", `--report ${file}: name it .html or .json`);
  const style = await readFile(`${PACKAGE_DIR}pages/report.css`, "utf8");
  return (report) => reportHtml(report, style);
}

async function isReport(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined);
  const { buffer, bytesRead } = (await handle?.read(Buffer.alloc(HEAD), 0, HEAD)) ?? {
    buffer: Buffer.alloc(0),
    bytesRead: 0,
  };
  await handle?.close();
  const head = buffer.toString("utf8", 0, bytesRead);
  return head.includes(`content="${GENERATOR}"`) || /^\{\s*"report_version":/.test(head);
}

async function writeWhole(file: string, text: string): Promise<void> {
  const part = `${file}.part`;
  try {
    await writeFile(part, text);
    await rename(part, file);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => {}); // what came first is what is told
    const why = `the report could not be written (${codeOf(cause) ?? "unknown error"}); the output is not touched by that`;
    throw new QaError("output_failed", `${file}: ${why}`, { cause });
  }
}
