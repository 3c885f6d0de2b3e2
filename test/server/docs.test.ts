/** The examples of docs/api.md and docs/migrating.md, run against a service; what they print has the shape that the page shows. */

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../src/decision/json.js";
import { WorkerPool } from "../../src/engine/worker-pool.js";
import { startBuiltWorker } from "../open-engine.js";
import { openApp } from "./open-app.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const opened = await openApp({ inference: WorkerPool.open(1, startBuiltWorker), engine: { workers: 2 } });

const bin = join(opened.directory, "bin");
mkdirSync(bin);
const { execPath } = process;
writeFileSync(
  join(bin, "qa"),
  `#!/bin/sh\ncommand=$1; shift\ncase $command in keys) set -- "$@" --data '${opened.directory}';; usage) set -- "$@" --data '${opened.directory}';; esac\nexec '${execPath}' '${ROOT}bin/qa.js' "$command" "$@"\n`,
  { mode: 0o755 },
);
const env = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH}`,
  TYPESAFE_BASE_URL: opened.url,
  TYPESAFE_API_KEY: opened.key,
  TYPESAFE_DEFAULT_MODEL: "compat-latest",
};

interface Example {
  readonly title: string;
  readonly language: "sh" | "js";
  readonly code: string;
  readonly printed: string | undefined;
}

function examplesOf(page: string): Example[] {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = "", code = ""]) => ({
    language,
    code,
  }));
  return blocks.flatMap(({ language, code }, i) => {
    if (language !== "sh" && language !== "js") return [];
    const next = blocks[i + 1];
    const printed = next?.language === "json" ? next.code : undefined;
    return [{ title: `${page}, block ${i + 1}`, language, code, printed } as Example];
  });
}

/** A value with its numbers and texts taken out; of a list the first item stands for all; an error's code stays. */
function shapeOf(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (value instanceof Map) return [...value].map(([name, item]) => [name, shapeOf(item, name)]);
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]);
  return key === "code" || key === "status" ? value : value === null ? null : typeof value;
}

describe.each([...examplesOf("api.md"), ...examplesOf("migrating.md")])("$title", ({ language, code, printed }) => {
  it("runs, and prints what the page says", async () => {
    const [file, args] =
      language === "sh"
        ? (["bash", ["-euo", "pipefail", "-c", code]] as const)
        : ([execPath, ["--input-type=module", "-e", code]] as const);
    const { stdout } = await run(file, [...args], { env, cwd: ROOT });
    if (printed !== undefined) expect(shapeOf(parseJson(stdout))).toEqual(shapeOf(parseJson(printed)));
  });
});
