/** What the pages are told of the server: made once at start. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { PACKAGE_DIR } from "../../config.js";
import { type JsonValue, stringifyJson } from "../../decision/json.js";
import { type Deployment, modelNames } from "../../engine/deployment.js";
import type { PagePreset } from "./page-data.js";
import { SAMPLES } from "./samples.js";

export interface PageContext {
  /** Whether calls need a key. */
  readonly keyRequired: boolean;
  readonly deployment: string;
  readonly choiceNeedsInstructions: boolean;
  readonly version: string;
  /** Where the server runs, in words, e.g. `this machine`. */
  readonly where: string;
  readonly defaultModel: string;
  /** Names that a request may use, the default first. */
  readonly models: readonly string[];
  readonly presets: readonly PagePreset[];
}

export interface PageOptions {
  readonly keyRequired: boolean;
  /** The address that the server listens on; on loopback the page says that nothing leaves the machine. */
  readonly host: string;
  /** Default: the presets that ship with qa. */
  readonly presetsDir?: string;
}

/** Reads the presets and gathers what the pages show. */
export async function createPageContext(
  deployment: Deployment,
  { keyRequired, host, presetsDir = `${PACKAGE_DIR}presets` }: PageOptions,
): Promise<PageContext> {
  const { version } = JSON.parse(await readFile(`${PACKAGE_DIR}package.json`, "utf8")) as { version: string };
  const { name, defaultModel, choiceNeedsInstructions } = deployment;
  const isLoopback = /^(127\.|\[?::1\]?$|localhost$)/.test(host);
  return {
    keyRequired,
    deployment: name,
    choiceNeedsInstructions,
    version,
    where: isLoopback ? "this machine" : host,
    defaultModel,
    models: [defaultModel, ...modelNames(deployment).filter((model) => model !== defaultModel)],
    presets: await readPresets(presetsDir),
  };
}

/** Order of the presets that ship; others follow by name. */
const FIRST = ["triage", "email", "review", "moderation", "guard"];

async function readPresets(directory: string): Promise<PagePreset[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".yaml"));
  const names = files.map((file) => file.slice(0, -".yaml".length));
  const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
  return Promise.all(
    names.map(async (name) => parsePreset(name, await readFile(join(directory, `${name}.yaml`), "utf8"))),
  );
}

/** A preset's title and purpose stand in its first comment: `# Support triage: who takes a ticket, ...`. */
function parsePreset(name: string, text: string): PagePreset {
  const [, title = name, about = ""] = /^# ([A-Z][^:\n]*): (.*)$/m.exec(text) ?? [];
  const questions = parseDocument(text, { stringKeys: true }).toJS({ mapAsMap: true }) as JsonValue;
  return { name, title, about, questions: stringifyJson(questions), samples: SAMPLES[name] ?? [] };
}
