import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PACKAGE_DIR } from "../../src/config.js";
import { parseJson, stringifyJson } from "../../src/decision/json.js";
import { loadDeployment } from "../../src/engine/deployment.js";
import { html, jsonBlock } from "../../src/html.js";
import {
  createPageContext,
  PAGE_HEADERS,
  playgroundPage,
  readAssets,
  usagePage,
} from "../../src/server/pages/index.js";
import { openApp } from "./open-app.js";

const deployment = await loadDeployment("a", `${PACKAGE_DIR}deployments`);
const context = await createPageContext(deployment, { keyRequired: true, host: "127.0.0.1" });
const PAGES = [
  ["the playground", playgroundPage],
  ["the usage page", usagePage],
] as const;

describe("markup", () => {
  it("escapes what is put into it, in text and in attributes", () => {
    expect(html`<p title="${`"'`}">${"<&>"}${html`<b>${1}</b>`}</p>`.html).toBe(
      '<p title="&#34;&#39;">&#60;&#38;&#62;<b>1</b></p>',
    );
  });

  it("holds JSON that no text in it can end", () => {
    const value = { text: "</script><script>alert(1)</script><!--" };
    const { html: block } = jsonBlock("x", value);
    expect(block.match(/<\/?script/g)).toHaveLength(2);
    expect(JSON.parse(block.replace(/^<[^>]*>|<\/script>$/g, ""))).toEqual(value);
  });

  it.each(PAGES)("of %s has no script, style or handler in line, and nothing from elsewhere", (_name, page) => {
    const text = page(context);
    expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|(?:src|href|action)="(?!\/app|#)/i);
    expect(text.match(/<script(?! type="application\/json"| type="module" src="\/app\/assets\/)/g)).toBeNull();
    expect(text).toContain('<label for="key">');
  });

  it.each(PAGES)("of %s has no field for a key where none is needed", (_name, page) => {
    expect(page({ ...context, keyRequired: false })).not.toContain('id="key"');
  });
});

describe("the context of the pages", () => {
  it("has every preset that ships, with a title, a purpose, samples, and its labels in order", () => {
    expect(context.presets.map(({ name }) => name)).toEqual(["triage", "email", "review", "moderation", "guard"]);
    for (const { title, about, samples, questions } of context.presets) {
      expect(title).toMatch(/^[A-Z]/);
      expect(about).not.toBe("");
      expect(samples.length).toBeGreaterThanOrEqual(3);
      expect(stringifyJson(parseJson(questions))).toBe(questions);
    }
    expect(context.presets[2]?.questions).toMatch(/"1":"useless.*"5":"excellent/);
  });

  it("names the default model first, and each model once", () => {
    expect(context.models[0]).toBe("compat-latest");
    expect(new Set(context.models).size).toBe(context.models.length);
  });
});

describe("the assets", () => {
  it("hold every module that one of them imports", () => {
    const assets = readAssets();
    const imports = Object.entries(assets).flatMap(([path, { body }]) =>
      [...body.matchAll(/from "(\.[^"]+)"/g)].map(([, target = ""]) => new URL(target, `x:/${path}`).pathname.slice(1)),
    );
    expect(imports.length).toBeGreaterThan(10);
    expect(imports.filter((path) => assets[path] === undefined)).toEqual([]);
  });

  it("ask for nothing from elsewhere", () => {
    const { "page.css": css } = readAssets();
    expect(css?.body).not.toMatch(/url\(|@import/);
    expect(readFileSync(`${PACKAGE_DIR}pages/icon.svg`, "utf8")).not.toContain("href");
  });
});

describe("the service", async () => {
  const app = await openApp();

  it("sends pages with a strict policy and no script of the page's own", async () => {
    const { status, headers } = await app.call("/app");
    expect(status).toBe(200);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(headers.get(name)).toBe(value);
    expect(headers.get("content-security-policy")).not.toContain("unsafe");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  it("measures room for those with a key only, and charges nothing for it", async () => {
    const json = { state: "short", questions: { a: { type: "noul", instructions: "b" } } };
    const { json: room } = await app.call("/app/room", { json });
    expect(room.state).toMatchObject({ checkpoint: "core-multilingual-0.3.20", fits: true, cap: 6000 });
    expect((await app.call("/app/room", { json, headers: { authorization: "" } })).status).toBe(401);
    expect((await app.call("/app/room", { json: { state: 1 } })).status).toBe(422);
    expect((await app.call("/app/usage", { headers: { accept: "application/json" } })).json.used).toBe(0);
  });

  it("measures no state or question set that would keep it busy, and counts that as no refusal", async () => {
    const noul = { type: "noul", instructions: "b" };
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`q${i}`, noul]));
    const startedMs = performance.now();
    const long = await app.call("/app/room", { json: { state: "word ".repeat(150_000), questions: { a: noul } } });
    expect(long.json).toEqual({
      type: "refused",
      message: expect.stringMatching(/^the state has more than \d+ tokens/),
    });
    expect((await app.call("/app/room", { json: { state: "x", questions: many } })).json.type).toBe("refused");
    expect((await app.call("/app/room", { json: { state: "x", model: "y", questions: { a: noul } } })).json.type).toBe(
      "refused",
    );
    expect(performance.now() - startedMs).toBeLessThan(3000);
    const { refusals } = (await app.call("/app/usage", { headers: { accept: "application/json" } })).json;
    expect(refusals).toEqual({ invalid_request: 1 });
  });
});
