import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openApp } from "./open-app.js";
import { hasBrowser, openPage } from "./pages-browser.js";
import { contrastsOf } from "./pages-contrast.js";

const NOVEMBER_2026 = Date.UTC(2026, 10, 21, 12);
const open = await openApp({ requireKey: false });
const locked = await openApp({
  now: () => NOVEMBER_2026,
  limits: { monthlyAllowance: 100_000, requestsPerMinute: 10_000 },
});

async function playground(options: Parameters<typeof openPage>[1] = {}) {
  const opened = await openPage(`${open.url}/app`, options);
  await opened.page.locator("#call-state", { hasText: "tokens" }).waitFor();
  return opened;
}

/** Puts questions in by the JSON editor and goes back to the form. */
async function putQuestions(page: Page, json: string): Promise<void> {
  await page.click("#tab-questions-json");
  await page.fill("#questions-json", json);
  await page.click("#tab-form");
}

async function ask(page: Page): Promise<void> {
  await page.click("#ask");
  await page.waitForSelector(".answer");
}

const textOf = (page: Page, selector: string) => page.locator(selector).allTextContents();
const textIn = async (page: Page, selector: string) => (await page.locator(selector).textContent()) ?? "";
const focusedId = (page: Page) => page.evaluate<string>("document.activeElement.id");

describe.skipIf(!hasBrowser)("the playground", () => {
  it("asks nothing of any other origin, and breaks no rule of its content policy", async () => {
    const { page, requested, complaints } = await playground();
    await ask(page);
    await page.click('a[href="/app/usage"]');
    await page.waitForSelector("#usage:not([hidden])");
    expect(requested.length).toBeGreaterThan(10);
    expect(requested.filter((url) => !url.startsWith(`${open.url}/`))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("starts with a preset and a sample, and shows an answer for each question", async () => {
    const { page } = await playground();
    await ask(page);
    expect(await textOf(page, ".answer h3")).toEqual(await textOf(page, ".fold-id"));
    expect(await textIn(page, "#status")).toMatch(/^8 answers by core-\S+ in \d+ ms, \d+ tokens read\.$/);
    const shares = (await textOf(page, ".answer:first-child .bar-value")).map(Number.parseFloat);
    expect(shares).toHaveLength(6);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
    expect(await page.locator(".answer:first-child .top").count()).toBe(1);
  });

  it("shows room, route with its reason, and cost before anything is asked", async () => {
    const { page, requested } = await playground();
    await page.fill(
      "#state",
      "Bonjour, je voudrais annuler ma commande et être remboursée au plus vite, merci beaucoup.",
    );
    await page.locator("#call-reason", { hasText: "fr" }).waitFor();
    expect(await textIn(page, "#call-checkpoint")).toBe("core-multilingual-0.3.20");
    expect(await textIn(page, "#call-cost")).toMatch(/^[\d\s]+ of 6\s000 tokens$/);
    expect(await textIn(page, "#q0-room")).toMatch(/^1\s\d{3} of 2\s048 tokens free$/);
    expect(requested.filter((url) => url.endsWith("/v1/systemone"))).toEqual([]);
  });

  it("keeps integer-like labels at their place in form, call, code and answers", async () => {
    const { page } = await playground();
    const criteria = '{"10": "ten", "2": "two", "none": null, "1": "one"}';
    await putQuestions(
      page,
      `{"7": {"type": "choice", "instructions": "Which?", "criteria": ${criteria}}, "3": {"type": "noul", "instructions": "Sure?"}}`,
    );
    expect(await textOf(page, ".fold-id")).toEqual(["7", "3"]);
    await page.evaluate("document.querySelectorAll('details.question').forEach((card) => { card.open = true; })");
    const labels = await page
      .locator("[id^=q0-row]")
      .evaluateAll((boxes) => boxes.flatMap((box) => ("value" in box ? [box.value] : [])));
    expect(labels).toEqual(["10", "2", "none", "1"]);
    const sent = page.waitForRequest(`${open.url}/v1/systemone`);
    await ask(page);
    expect((await sent).postData()).toContain('"criteria":{"10":"ten","2":"two","none":null,"1":"one"}');
    expect(await textOf(page, ".answer h3")).toEqual(["7", "3"]);
    expect(await textOf(page, ".answer:first-child .bar-label")).toEqual(["10", "2", "none", "1"]);
    expect(await textIn(page, "#code")).toMatch(/"10": "ten", "2": "two", "none": null/);
  });

  it("shows every issue beside its field, lists them, and goes to the first", async () => {
    const { page } = await playground();
    await page.fill("#q0-row1", "billing");
    await page.click("#q4-fold");
    for (const id of ["#q4-instructions", "#q4-row0", "#q4-row1"]) await page.fill(id, "");
    await page.click("#q4-fold");
    await page.click("#ask");
    expect(await textIn(page, "#q0-row1-problem")).toBe("another option has this label");
    expect(await page.getAttribute("#q0-row1", "aria-invalid")).toBe("true");
    expect(await page.getAttribute("#q0-row1", "aria-describedby")).toBe("q0-row1-problem");
    expect(await focusedId(page)).toBe("q0-row1");
    expect(await textIn(page, "#q4-question-problem")).toBe("a noul needs instructions or criteria");
    await page.click(".jump >> text=refund");
    expect(await focusedId(page)).toBe("q4-id");
    await page.fill("#q0-row1", "technical");
    await page.fill("#q4-instructions", "Is money asked back?");
    await ask(page);
    expect(await textIn(page, "#alert")).toBe("");
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
  });

  it("measures what is finished while another question is begun, and lists room beside the JSON too", async () => {
    const { page } = await playground();
    await page.click("#add-question");
    await page.locator("#call-note", { hasText: "without 1 unfinished" }).waitFor();
    expect(await textIn(page, "#q0-room")).toMatch(/tokens free$/);
    expect(await textIn(page, "#q8-room .room-text")).toBe("\u00a0");
    await page.click("#tab-questions-json");
    await page.fill("#questions-json", '{"a": {"type": "noul", "instructions": "b"}}');
    await page.locator("#json-room", { hasText: /^a\d/ }).waitFor();
    expect(await page.locator("#json-room li").count()).toBe(1);
  });

  it("lets many options be scrolled, with the keyboard too", async () => {
    const { page } = await playground();
    const criteria = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`label ${i}`, null]));
    await putQuestions(page, JSON.stringify({ many: { type: "choice", criteria } }));
    await page.fill("#state", "label 200");
    await ask(page);
    expect(await page.locator(".answer .bar-label").count()).toBe(255);
    expect(await page.locator(".bars[tabindex='0']").getAttribute("aria-label")).toBe("255 options of many");
    expect((await page.locator(".bars").boundingBox())?.height).toBeLessThan(500);
  });

  it("says in which line and where in it JSON is broken", async () => {
    const { page } = await playground();
    await page.fill("#state", '{\n  "a": 1,\n}');
    await page.check("#state-json");
    await page.click("#ask");
    expect(await textIn(page, "#state-error")).toBe("not JSON: it breaks in line 3 at character 1");
    expect(await focusedId(page)).toBe("state");
  });

  it("puts a state over the room beside the state, and marks the questions it does not fit", async () => {
    const { page } = await playground();
    await page.fill("#state", "The parcel came too late and nobody answered the phone. ".repeat(80));
    await page.waitForSelector("#q0-room.over");
    expect(await textIn(page, "#q0-room")).toMatch(/^room for \d+, state over by /);
    await page.click("#ask");
    await page.waitForSelector("#state[aria-invalid]");
    expect(await textIn(page, "#state-error")).toMatch(/^the state has \d+ tokens/);
    expect(await textIn(page, "#alert")).toContain("state_too_long");
  });

  it("shows a busy server as a line to read, and keeps what was typed", async () => {
    const { page } = await playground();
    await page.route("**/v1/systemone", (route) =>
      route.fulfill({
        status: 529,
        json: { error: { code: "worker_busy", message: "the queue is full; try again in 2 s" } },
      }),
    );
    await page.fill("#state", "kept");
    await page.click("#ask");
    await page.waitForSelector("#alert p");
    expect(await textIn(page, "#alert")).toBe("The queue is full; try again in 2 s. (worker_busy)");
    expect(await page.inputValue("#state")).toBe("kept");
  });

  it("is used from state to answer with the keyboard alone", async () => {
    const { page } = await playground();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.className")).toBe("skip");
    await page.keyboard.press("Enter");
    while ((await focusedId(page)) !== "state") await page.keyboard.press("Tab");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Where is my parcel?");
    while ((await focusedId(page)) !== "add-question") await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await focusedId(page)).toBe("q8-id");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("asks_where");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("The writer asks where something is.");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".answer");
    expect((await textOf(page, ".answer h3")).at(-1)).toBe("asks_where");
    while ((await focusedId(page)) !== "tab-curl") await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowRight");
    expect(await focusedId(page)).toBe("tab-javascript");
    expect(await textIn(page, "#code")).toContain("@typesafe-ai/sdk");
    await page.keyboard.press("End");
    expect(await textIn(page, "#code")).toContain("typesafe_sdk");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  });

  it("moves, retypes, removes and adds questions, and says so, with the focus kept", async () => {
    const { page } = await playground();
    await page.click("#q0-down");
    expect((await textOf(page, ".fold-id")).slice(0, 2)).toEqual(["urgency", "team"]);
    expect(await focusedId(page)).toBe("q1-down");
    expect(await textIn(page, "#status")).toBe("team is now question 2 of 8");
    await page.selectOption("#q1-type", "score");
    expect(await focusedId(page)).toBe("q1-type");
    await page.selectOption("#q1-type", "choice");
    expect(await page.inputValue("#q1-row0")).toBe("billing");
    await page.click('[aria-label="Remove label 1"] >> visible=true');
    expect(await page.inputValue("#q1-row0")).toBe("technical");
    await page.click("#q1-remove");
    expect(await focusedId(page)).toBe("q1-fold");
    expect(await textOf(page, ".fold-id")).not.toContain("team");
    expect(await textIn(page, "#ask")).toBe("Ask 7 questions");
  });

  it("goes between form and JSON without losing anything, and stays in JSON where the form could not hold it", async () => {
    const { page } = await playground();
    const questions = {
      mood: {
        type: "score",
        instructions: { ask: "How upset?", hint: ["irony"] },
        criteria: [["calm", "glad"], null, "furious"],
      },
      plain: { type: "noul", criteria: { true: "asks" } },
    };
    await putQuestions(page, JSON.stringify(questions));
    await page.click("#tab-questions-json");
    expect(JSON.parse(await page.inputValue("#questions-json"))).toEqual(questions);
    await page.fill("#questions-json", '{"mood": {"type": "score", "criteria": [1, 2]}}');
    await page.click("#tab-form");
    expect(await page.getAttribute("#tab-questions-json", "aria-selected")).toBe("true");
    expect(await textIn(page, "#questions-error")).toBe(
      "The form cannot hold all of this; mend it to go back to the form.",
    );
    await page.click("#ask");
    expect(await textIn(page, "#questions-error")).toContain("questions.mood.criteria.0: must be a string");
  });

  it("brings back the questions that a preset replaced", async () => {
    const { page } = await playground();
    await page.fill("#q0-id", "mine");
    await page.click("[data-preset=guard]");
    expect(await textOf(page, ".fold-id")).not.toContain("mine");
    await page.click("#undo");
    expect((await textOf(page, ".fold-id"))[0]).toBe("mine");
  });

  it("shows markup in labels, answers and errors as text", async () => {
    const { page, complaints } = await playground();
    const label = "<img src=/x onerror=alert(1)>";
    await putQuestions(page, JSON.stringify({ "<b>id</b>": { type: "choice", criteria: { [label]: null, b: null } } }));
    await ask(page);
    expect(await textOf(page, ".answer h3")).toEqual(["<b>id</b>"]);
    expect(await textOf(page, ".bar-label")).toEqual([label, "b"]);
    expect(await page.locator("main img, main b").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("copies the call as it is shown", async () => {
    const { page } = await playground({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.click("#tab-python");
    await page.click("#copy");
    await page.locator("#status", { hasText: "Copied." }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await page.textContent("#code"));
  });

  it("moves nothing while a person types, measures and mends", async () => {
    const { page } = await playground({ viewport: { width: 1280, height: 600 } });
    await page.evaluate(
      "window.shifts = []; new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value))).observe({ type: 'layout-shift' })",
    );
    const places = () =>
      page.evaluate(
        "[...document.querySelectorAll('.card, .question, button')].map((element) => element.getBoundingClientRect().y + scrollY).join()",
      );
    const before = await places();
    for (const id of ["#state", "#q0-instructions", "#q0-row2", "#q0-about2"]) {
      await page.locator(id).pressSequentially(" and then some more words follow", { delay: 2 });
      await page.waitForResponse(`${open.url}/app/room`);
    }
    await page.waitForTimeout(100);
    expect(await places()).toBe(before);
    expect(await page.evaluate("shifts")).toEqual([]);
  });

  it("names every control, and uses every id once", async () => {
    const { page } = await playground();
    await page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    const nameless =
      await page.evaluate(`[...document.querySelectorAll('button, input, select, textarea, [role=img], [role=region], pre[tabindex]')]
      .filter((it) => !it.ariaLabel && !it.getAttribute('aria-labelledby') && !it.labels?.length && !it.textContent.trim()).map((it) => it.outerHTML)`);
    expect(nameless).toEqual([]);
    const ids = await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)");
    expect(new Set(ids).size).toBe(ids.length);
    const dangling =
      await page.evaluate(`[...document.querySelectorAll('[for], [aria-describedby], [aria-labelledby], [aria-controls]')].flatMap((it) =>
      ['for', 'aria-describedby', 'aria-labelledby', 'aria-controls'].flatMap((name) => (it.getAttribute(name) ?? '').split(' ')))
      .filter((id) => id !== '' && document.getElementById(id) === null)`);
    expect(dangling).toEqual([]);
    expect(await page.locator("main, header, nav, footer").count()).toBe(4);
  });

  it.each(["light", "dark"] as const)("has a contrast of at least 4.5 for all text in %s", async (colorScheme) => {
    const { page } = await playground({ colorScheme });
    await page.fill("#q0-id", "");
    await page.click("#ask");
    expect((await contrastsOf(page))[0]?.ratio).toBeGreaterThanOrEqual(4.5);
    await page.fill("#q0-id", "team");
    await ask(page);
    await page.mouse.move(0, 0);
    const contrasts = await contrastsOf(page);
    expect(contrasts.length).toBeGreaterThan(80);
    expect(contrasts[0]?.ratio).toBeGreaterThanOrEqual(4.5);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      colorScheme === "dark" ? "rgb(18, 21, 26)" : "rgb(245, 246, 248)",
    );
  });

  it("fits a window of 360 pixels without scrolling sideways", async () => {
    const { page } = await playground({ viewport: { width: 360, height: 740 } });
    await page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    await ask(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    const cut = await page.evaluate(
      "[...document.querySelectorAll('button, input, select, textarea')].filter((it) => it.getBoundingClientRect().right > 360).length",
    );
    expect(cut).toBe(0);
  });

  it("moves nothing by itself for those who asked for less motion", async () => {
    const durationOf = async (reducedMotion: "reduce" | "no-preference") => {
      const { page } = await playground({ reducedMotion });
      return page.evaluate("getComputedStyle(document.querySelector('#call-bar span')).transitionDuration");
    };
    expect(await durationOf("reduce")).toBe("0s");
    expect(await durationOf("no-preference")).not.toBe("0s");
  });

  it("has no field for a key where none is needed", async () => {
    const { page } = await playground();
    expect(await page.locator("#key").count()).toBe(0);
    expect(await textIn(page, "#code")).not.toContain("Authorization");
  });
});

describe.skipIf(!hasBrowser)("the key", () => {
  it("is asked for once and kept in the session storage of the tab only", async () => {
    const { page } = await openPage(`${locked.url}/app`);
    expect(await textIn(page, "#call-reason")).toBe("shown once the key is there");
    await page.click("#ask");
    expect(await focusedId(page)).toBe("key");
    await page.fill("#key", locked.key);
    await page.keyboard.press("Enter");
    await ask(page);
    expect(
      await page.evaluate(
        "JSON.stringify([Object.values(sessionStorage), Object.values(localStorage), document.cookie])",
      ),
    ).toBe(JSON.stringify([[locked.key], [], ""]));
    const secret = locked.key.slice(locked.key.lastIndexOf("_") + 1);
    expect(await page.content()).not.toContain(secret);
    expect(page.url()).toBe(`${locked.url}/app`);
    await page.click('a[href="/app/usage"]');
    await page.waitForSelector("#usage:not([hidden])");
    await page.click("#key-forget");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(await page.isVisible("#usage")).toBe(false);
  });

  it("is asked for again where the server does not know it", async () => {
    const { page } = await openPage(`${locked.url}/app`);
    await page.fill("#key", "qa_unknown_key");
    await page.keyboard.press("Enter");
    await page.click("#ask");
    await page.waitForSelector("#key:focus");
    expect(await textIn(page, "#key-error")).toContain("unknown or revoked");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});

describe.skipIf(!hasBrowser)("the usage page", () => {
  async function usage(options: Parameters<typeof openPage>[1] = {}) {
    const opened = await openPage(`${locked.url}/app/usage`, { timezoneId: "America/New_York", ...options });
    await opened.page.fill("#key", locked.key);
    await opened.page.keyboard.press("Enter");
    await opened.page.waitForSelector("#usage:not([hidden])");
    return opened;
  }

  it("shows the month against the allowance, when it starts anew, each day, and what was refused", async () => {
    await locked.call("/v1/systemone", {
      json: { state: "a parcel", questions: { a: { type: "noul", instructions: "b" } } },
    });
    await locked.call("/v1/systemone", { json: { state: 1, questions: {} } });
    const { json: report } = await locked.call("/app/usage", { headers: { accept: "application/json" } });
    const { page, complaints } = await usage();
    const digits = (text: string) => text.replace(/\D/g, "");
    expect(digits(await textIn(page, "#used"))).toBe(String(report.used));
    expect(await textIn(page, "#of-allowance")).toMatch(/^of 100\s000/);
    expect(await textIn(page, "#resets-utc")).toBe("2026-12-01 00:00 UTC");
    expect(await textIn(page, "#resets-local")).toBe("your time: 30 Nov 2026, 19:00 (America/New_York)");
    expect(await page.locator(".day").count()).toBe(30);
    await page.click("#usage details summary");
    const rows = await textOf(page, "#days tr");
    expect(rows).toHaveLength(21);
    expect(rows[0]).toMatch(/^2026-11-21/);
    expect(digits((await textOf(page, "#days td:last-child"))[0] ?? "")).toBe(String(report.used));
    expect(await textIn(page, "#refusals")).toContain("invalid_request");
    expect(await page.getAttribute(".chart", "aria-label")).toContain("Busiest day: 2026-11-21");
    expect(complaints).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "has a contrast of at least 4.5 for all text in %s, and fits 360 pixels",
    async (colorScheme) => {
      const { page } = await usage({ colorScheme, viewport: { width: 360, height: 740 } });
      await page.click("#usage details summary");
      expect((await contrastsOf(page))[0]?.ratio).toBeGreaterThanOrEqual(4.5);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    },
  );
});
