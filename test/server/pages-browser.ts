/** The system's Chromium for tests of the pages, without anything that it asks of the net on its own. */

import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll } from "vitest";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const executablePath = PATHS.find((path) => existsSync(path));

export const hasBrowser = executablePath !== undefined;
if (!hasBrowser) console.log(`no Chromium (looked for ${PATHS.join(", ")}): the tests of the pages are skipped`);

let launched: Promise<Browser> | undefined;
afterAll(async () => {
  await (await launched)?.close();
});

export interface OpenedPage {
  readonly page: Page;
  /** Addresses of everything the page asked for, in order. */
  readonly requested: string[];
  /** Errors of scripts, and what the console says, breaches of the content policy among it. */
  readonly complaints: string[];
}

/** A page in a context of its own, once its script has run. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  if (executablePath === undefined) throw new Error("there is no browser to open a page in");
  launched ??= chromium.launch({ executablePath, args: QUIET });
  const context = await (await launched).newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(url, { waitUntil: "networkidle" });
  return { page, requested, complaints };
}
