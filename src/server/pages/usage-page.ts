/** The markup of `/app/usage`; its numbers are fetched by its script. */

import { html } from "../../html.js";
import type { PageContext } from "./page-context.js";
import { printPage } from "./shell.js";

export function usagePage(context: PageContext): string {
  const main = html`<h1>Usage</h1>
<p class="lead" id="status" role="status">Processed tokens of this month.</p>
<p class="problem" id="alert" role="alert"></p>
<div id="usage" hidden>
<section class="card" aria-labelledby="month-title">
<h2 id="month-title">This month</h2>
<p class="verdict"><strong id="used"></strong> <span id="of-allowance"></span></p>
<span class="bar wide" id="month-bar" aria-hidden="true"><span></span></span>
<dl class="facts">
<div><dt>Account</dt><dd id="account"></dd></div>
<div><dt>Left</dt><dd id="remaining"></dd></div>
<div><dt>Starts anew</dt><dd><time id="resets-utc"></time> <span class="hint" id="resets-local"></span></dd></div>
</dl>
</section>
<section class="card" aria-labelledby="days-title">
<h2 id="days-title">By day</h2>
<figure><div id="chart"></div><figcaption class="hint" id="chart-caption"></figcaption></figure>
<details><summary>The same as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Tokens by day"><table><thead><tr><th scope="col">Day (UTC)</th><th scope="col">Requests</th><th scope="col">Tokens</th></tr></thead><tbody id="days"></tbody></table></div>
</details>
</section>
<section class="card" aria-labelledby="refusals-title">
<h2 id="refusals-title">Recent refusals</h2>
<p class="hint">Requests that were turned away; they cost nothing.</p>
<div id="refusals"></div>
</section>
</div>`;
  return printPage({ title: "Usage", path: "/app/usage", script: "usage", main }, context);
}
