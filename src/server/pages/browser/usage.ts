/** The usage page: fetches this month's report with the key of the tab and draws it. Days and resets are those of UTC. */

import { entriesOf, isJsonObject, valueAt } from "../../../decision/json.js";
import { callServer } from "./api.js";
import { byId, countText, h, percentText } from "./dom.js";
import { createKeyBox } from "./key-box.js";

/** `GET /app/usage` as the server's accounts write it. */
interface UsageReply {
  readonly account: string;
  readonly month: string;
  readonly used: number;
  readonly allowance: number | null;
  readonly remaining: number | null;
  readonly resets_at: string;
  readonly by_day: readonly UsageDay[];
}

interface UsageDay {
  readonly day: string;
  readonly used: number;
  readonly calls: number;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const key = createKeyBox(() => void load());

function put(id: string, text: string): void {
  byId(id, HTMLElement).textContent = text;
}

async function load(): Promise<void> {
  byId("usage", HTMLElement).hidden = key.isMissing();
  put("alert", "");
  if (key.isMissing()) return put("status", "The usage of a key’s account is shown once the key is there.");
  put("status", "Reading the ledger…");
  const reply = await callServer({ path: "/app/usage", key: key.key() });
  if (reply.type === "ok") return show(reply.body as unknown as UsageReply);
  byId("usage", HTMLElement).hidden = true;
  put("status", "Processed tokens of this month.");
  if (reply.type !== "error") return;
  if (reply.error.code === "unauthorized") return key.reject(reply.error.message);
  put("alert", `${reply.error.message} (${reply.error.code})`);
}

function show(report: UsageReply): void {
  const { used, allowance, remaining, resets_at: resetsAt } = report;
  byId("usage", HTMLElement).hidden = false;
  put("status", `Processed tokens of ${monthName(report.month)}, by days of UTC.`);
  put("account", report.account);
  put("used", `${countText(used)} tokens`);
  put(
    "of-allowance",
    allowance === null
      ? "no monthly limit"
      : `of ${countText(allowance)} (${percentText(allowance === 0 ? 1 : used / allowance)})`,
  );
  put("remaining", remaining === null ? "unlimited" : `${countText(remaining)} tokens`);
  const bar = byId("month-bar", HTMLElement);
  bar.hidden = allowance === null;
  bar.classList.toggle("over", remaining === 0);
  bar.querySelector("span")?.style.setProperty("width", `${Math.min(1, used / Math.max(1, allowance ?? 1)) * 100}%`);
  showReset(resetsAt);
  showDays(report);
  showRefusals(report);
}

function monthName(month: string): string {
  const [year, number] = month.split("-");
  return `${MONTHS[Number(number) - 1] ?? ""} ${year ?? ""}`;
}

function showReset(resetsAt: string): void {
  const time = byId("resets-utc", HTMLTimeElement);
  time.dateTime = resetsAt;
  time.textContent = `${resetsAt.slice(0, 10)} ${resetsAt.slice(11, 16)} UTC`;
  const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(resetsAt),
  );
  put("resets-local", `your time: ${local} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`);
}

function showDays({ month, by_day: days, allowance }: UsageReply): void {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const dayCount = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const pace = allowance === null ? undefined : allowance / dayCount;
  const top = ceiling(Math.max(1, ...days.map(({ used }) => used)));
  const busiest = days.reduce((best, day) => (day.used > best.used ? day : best), { day: "", used: 0, calls: 0 });
  const columns = Array.from({ length: dayCount }, (_, i) => column(days[i], i + 1, top));
  const scale = [top, top / 2, 0].map((value) => h("span", {}, shortCount(value)));
  const plot = h("div", { class: "plot" }, ...columns);
  if (pace !== undefined && pace <= top) plot.append(paceLine(pace / top));
  const words =
    busiest.used === 0 ? "Nothing was used yet" : `Busiest day: ${busiest.day} with ${countText(busiest.used)} tokens`;
  const chart = h(
    "div",
    { class: "chart", role: "img", "aria-label": `${words}. The table below has every day.` },
    h("div", { class: "scale" }, ...scale),
    plot,
  );
  byId("chart", HTMLElement).replaceChildren(chart);
  const even =
    pace === undefined
      ? ""
      : ` An even use of the allowance is ${countText(pace)} tokens a day${pace <= top ? " (dashed line)" : ""}.`;
  put("chart-caption", `${words}.${even}`);
  const rows = [...days]
    .reverse()
    .map(({ day, used, calls }) =>
      h("tr", {}, h("th", { scope: "row" }, day), h("td", {}, countText(calls)), h("td", {}, countText(used))),
    );
  byId("days", HTMLElement).replaceChildren(...rows);
}

function column(day: UsageDay | undefined, number: number, top: number): HTMLElement {
  const fill = h("span", { class: "fill" });
  fill.style.setProperty("height", `${((day?.used ?? 0) / top) * 100}%`);
  const isMarked = number === 1 || number % 5 === 0;
  const title =
    day === undefined ? undefined : `${day.day}: ${countText(day.used)} tokens, ${countText(day.calls)} requests`;
  return h(
    "span",
    { class: day === undefined ? "day later" : "day", title },
    fill,
    h("span", { class: "day-name" }, isMarked ? String(number) : ""),
  );
}

function paceLine(share: number): HTMLElement {
  const line = h("span", { class: "pace" });
  line.style.setProperty("--share", String(share));
  return line;
}

/** The next 1, 2 or 5 times a power of ten. */
function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

function shortCount(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e3 ? `${value / 1e3}k` : String(value);
}

function showRefusals(report: UsageReply): void {
  const refusals = isJsonObject(report) ? valueAt(report, "refusals") : undefined;
  const entries = isJsonObject(refusals) ? entriesOf(refusals) : [];
  const none = h("p", {}, "None this month.");
  const rows = entries.map(([code, count]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("code", {}, code)),
      h("td", {}, meaningOf(code)),
      h("td", {}, countText(Number(count))),
    ),
  );
  const head = h(
    "thead",
    {},
    h("tr", {}, ...["Code", "Meaning", "Requests"].map((name) => h("th", { scope: "col" }, name))),
  );
  const table = h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Refusals by code" },
    h("table", {}, head, h("tbody", {}, ...rows)),
  );
  byId("refusals", HTMLElement).replaceChildren(entries.length === 0 ? none : table);
}

const MEANINGS: Readonly<Record<string, string>> = {
  invalid_json: "the body was no JSON",
  invalid_request: "fields were missing or of the wrong kind",
  unknown_model: "the model has no such name",
  too_many_questions: "more questions than one call takes",
  too_many_options: "a question had more options than its window holds",
  question_too_long: "a question left no room for a state",
  state_too_long: "the state was over the room of a question",
  processed_tokens_exceeded: "questions times length was over the cap",
  allowance_exhausted: "the month’s allowance was used up",
  rate_limited: "too many requests in a minute",
  in_flight_limited: "too many requests at once",
  worker_busy: "the queue was full",
  worker_starting: "the checkpoints were not loaded yet",
  body_too_large: "the body was over the size limit",
};

function meaningOf(code: string): string {
  return MEANINGS[code] ?? "";
}

void load();
