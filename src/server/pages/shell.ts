/** What every page has around it: head, header with navigation, the box for the key, footer. */

import { type Html, html } from "../../html.js";
import type { PageContext } from "./page-context.js";

export interface Page {
  readonly title: string;
  readonly path: "/app" | "/app/usage";
  /** File name of the page's script in `browser/`, without its ending. */
  readonly script: string;
  readonly main: Html;
}

const LINKS = [
  ["/app", "Playground"],
  ["/app/usage", "Usage"],
] as const;

export function printPage({ title, path, script, main }: Page, context: PageContext): string {
  const links = LINKS.map(([href, name]) =>
    href === path
      ? html`<li><a href="${href}" aria-current="page">${name}</a></li>`
      : html`<li><a href="${href}">${name}</a></li>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · qa</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" type="image/svg+xml" href="/app/assets/icon.svg">
<link rel="stylesheet" href="/app/assets/page.css">
<script type="module" src="/app/assets/server/pages/browser/${script}.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="page-head">
<p class="brand"><img src="/app/assets/icon.svg" alt="" width="24" height="24"> qa</p>
<nav aria-label="Pages"><ul>${links}</ul></nav>
</header>
<main id="main" tabindex="-1">
<noscript><p class="card">This page needs JavaScript; it comes from this server only. The same is to be had from a terminal: qa ask, qa room, qa usage.</p></noscript>
${context.keyRequired ? keyBox() : []}
${main}
</main>
<footer class="page-foot">
<p>Served by qa ${context.version}, deployment ${context.deployment}, on ${context.where}. What you type here goes to this server and nowhere else, and it keeps no text.</p>
</footer>
</body>
</html>
`.html;
}

function keyBox(): Html {
  return html`<section id="key-box" class="card key-box" aria-label="API key">
<form id="key-form" hidden>
<label for="key">API key</label>
<div class="key-row">
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="qa_…" aria-describedby="key-error key-about">
<button type="submit">Use this key</button>
</div>
<p class="problem" id="key-error" role="alert"></p>
<p class="hint" id="key-about">Kept in this tab’s session storage only, gone when the tab is closed, and sent to this server only.</p>
</form>
<p id="key-in-use" hidden>Key <code id="key-name"></code> is in use; it is kept in this tab’s session storage only. <button type="button" class="quiet" id="key-forget">Forget it</button></p>
</section>`;
}
