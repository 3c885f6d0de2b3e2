import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { createTally } from "../../../src/batch/progress/tally.js";
import { type RunFacts, reportOf } from "../../../src/batch/report/report.js";
import { reportHtml } from "../../../src/batch/report/report-html.js";
import { QaError } from "../../../src/errors.js";
import { hasBrowser, openPage } from "../../server/pages-browser.js";
import { contrastsOf } from "../../server/pages-contrast.js";
import { choice, decision, jsonRow, noul } from "../write/output-rows.js";
import { band, factsOf, tallyOf } from "./report-facts.js";

const folder = mkdtempSync(join(tmpdir(), "qa-report-"));
afterAll(() => rmSync(folder, { recursive: true }));
const style = readFileSync("pages/report.css", "utf8");
const EVIL = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`;

function pageOf(facts: Partial<RunFacts> = {}): string {
  return reportHtml(reportOf(tallyOf(1).counts, factsOf({ band, ...facts })), style);
}

/** A page in which everything that comes from outside tries to be markup. */
function evilPage(): string {
  const tally = createTally(undefined, { band });
  for (let index = 0; index < 40; index++)
    tally.add(
      jsonRow("{}", index),
      decision({ [EVIL]: choice([[`${EVIL}${index}`, 1]]), urgent: noul(0.5) }, { model: EVIL }),
    );
  const facts = factsOf({
    band,
    inputs: [EVIL],
    output: EVIL,
    review: EVIL,
    version: EVIL,
    options: { template: EVIL },
    end: "failed",
    error: new QaError("input_damaged", EVIL),
  });
  return reportHtml(reportOf(tally.counts, facts), style);
}

describe("the report as a page", () => {
  it("escapes everything that comes from outside", () => {
    const page = evilPage();
    expect(page).not.toContain("<script");
    expect(page).not.toContain("<img");
    expect(page).toContain("&#60;script&#62;alert(1)");
  });

  it("needs nothing but itself", () => {
    const page = pageOf();
    expect(page.match(/\bsrc=|url\(|@import|<link|<script/g)).toBeNull();
    expect([...page.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith("#"))).toBe(true);
  });

  it.each<[Partial<RunFacts>, string]>([
    [{ end: "interrupted" }, "The run was interrupted."],
    [{ end: "reader_gone" }, "stopped reading"],
    [{ end: "failed", error: new QaError("output_failed", "the disk is full") }, "the disk is full"],
  ])("says how a run ended that did not finish: %j", (facts, text) => {
    expect(pageOf(facts)).toMatch(new RegExp(`<p class="notice">[^\n]*${text}`));
    expect(pageOf()).not.toContain('class="notice"');
  });

  it("shows rows answered from memory only where there are any, and which memory that was", () => {
    expect(pageOf()).not.toContain("From memory");
    const tally = tallyOf(1);
    const facts = factsOf();
    const add = (reused: "run" | "cache") => {
      tally.add(jsonRow("{}"), { ...decision({ urgent: noul(0.9) }), reused });
      return reportHtml(reportOf(tally.counts, facts), "");
    };
    expect(add("cache")).toMatch(
      /From memory<\/dt><dd class="value">1<\/dd><dd class="about">1 kept by an earlier run</,
    );
    expect(add("run")).toMatch(/>2<\/dd><dd class="about">1 equal to another row, 1 kept by an earlier run</);
  });

  it("gives a text to every picture that no numbers stand beside, headings in order, and captions to tables", () => {
    const page = pageOf();
    for (const [svg] of page.matchAll(/<svg[^>]*>/g))
      expect(svg).toMatch(/aria-hidden="true"|role="img" aria-label="[^"]+"/);
    expect(page).toMatch(/aria-label="Confidence, answers by bin\. 0 to 0\.05: \d+ answers?; /);
    const levels = [...page.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    expect(levels.every((level, i) => level <= (levels[i - 1] ?? 0) + 1)).toBe(true);
    expect(page.match(/<caption/g)).toHaveLength(page.match(/<table/g)?.length ?? 0);
  });

  it("takes its colours from the pages of the server", () => {
    const colours = (css: string) =>
      [...css.matchAll(/^\s*(--[a-z-]+): (.+);$/gm)].map(([, name, value]) => `${name} ${value}`);
    const known = new Set(colours(readFileSync("pages/page.css", "utf8")));
    expect(colours(style).filter((colour) => !known.has(colour))).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("the report in a browser", () => {
  const open = (html: string, options: Parameters<typeof openPage>[1]) => {
    const file = join(folder, `${Math.random()}.html`);
    writeFileSync(file, html);
    return openPage(pathToFileURL(file).href, options);
  };

  it.each(["light", "dark"] as const)("has text of a contrast of 4.5 or more in %s", async (colorScheme) => {
    const { page } = await open(pageOf({ end: "interrupted" }), { colorScheme });
    const [lowest] = await contrastsOf(page);
    expect(lowest?.ratio, lowest?.text).toBeGreaterThanOrEqual(4.5);
  });

  it.each([320, 380, 1200])("is no wider than a screen of %i pixels, whatever the names", async (width) => {
    const { page } = await open(evilPage(), { viewport: { width, height: 800 } });
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });

  it("loads nothing, runs nothing and breaks no rule of its own policy", async () => {
    const { requested, complaints } = await open(evilPage(), {});
    expect(requested).toHaveLength(1);
    expect(complaints).toEqual([]);
  });
});
