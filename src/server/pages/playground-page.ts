/** The markup of `/app`: state and questions on one side, the call, its answers and its code on the other. */

import { type Html, html, jsonBlock } from "../../html.js";
import type { PageContext } from "./page-context.js";
import type { PageData } from "./page-data.js";
import { printPage } from "./shell.js";

export function playgroundPage(context: PageContext): string {
  const { keyRequired, choiceNeedsInstructions, presets } = context;
  const data: PageData = { keyRequired, choiceNeedsInstructions, presets };
  const main = html`<h1>Playground</h1>
<p class="lead">Typed questions about a text, answered with probabilities. No text is generated.</p>
<div class="columns">
<div class="column">${presetsCard(context)}${stateCard()}${questionsCard()}</div>
<div class="column">${askCard(context)}${callCard()}${answersCard()}${codeCard()}</div>
</div>
${jsonBlock("page-data", data)}`;
  return printPage({ title: "Playground", path: "/app", script: "playground", main }, context);
}

function presetsCard({ presets }: PageContext): Html {
  const chips = presets.map(
    ({ name, title }) => html`<li><button type="button" class="chip" data-preset="${name}">${title}</button></li>`,
  );
  return html`<section class="card" aria-labelledby="presets-title">
<h2 id="presets-title">Start from a preset</h2>
<ul class="chips">${chips}</ul>
<div class="preset-foot"><p class="hint" id="preset-about">&nbsp;</p>
<button type="button" class="quiet" id="undo" aria-label="Undo: bring back my earlier questions" disabled>Undo</button></div>
</section>`;
}

function stateCard(): Html {
  return html`<section class="card" aria-labelledby="state-title">
<h2 id="state-title"><label for="state">State</label></h2>
<p class="hint" id="state-about">The text that the questions are about. It is never cut.</p>
<textarea id="state" rows="8" aria-describedby="state-error state-about"></textarea>
<p class="problem" id="state-error"></p>
<div class="card-foot">
<fieldset class="choices"><legend>Read it as</legend>
<label><input type="radio" name="state-kind" id="state-text" checked> text</label>
<label><input type="radio" name="state-kind" id="state-json"> JSON</label>
</fieldset>
<div class="sample-row"><span class="hint" id="samples-title">Samples</span><ul class="chips" id="samples" aria-labelledby="samples-title"></ul></div>
</div>
</section>`;
}

function questionsCard(): Html {
  return html`<section class="card" aria-labelledby="questions-title">
<div class="card-head"><h2 id="questions-title">Questions</h2>
<div role="tablist" class="tabs" id="editor-tabs" aria-label="Edit the questions as">
<button type="button" role="tab" id="tab-form" data-tab="form" aria-controls="form-panel" aria-selected="true">Form</button>
<button type="button" role="tab" id="tab-questions-json" data-tab="json" aria-controls="json-panel" aria-selected="false" tabindex="-1">JSON</button>
</div></div>
<p class="problem" id="questions-error"></p>
<div role="tabpanel" id="form-panel" aria-labelledby="tab-form">
<ol class="questions" id="questions"></ol>
<button type="button" id="add-question">Add a question</button>
</div>
<div role="tabpanel" id="json-panel" aria-labelledby="tab-questions-json" hidden>
<label for="questions-json" class="hint">An object of question id and question, as the API takes it</label>
<textarea id="questions-json" class="code" rows="24" spellcheck="false" wrap="off" aria-describedby="questions-error"></textarea>
<ul class="json-room" id="json-room" aria-label="Room of each question"></ul>
</div>
</section>`;
}

function askCard({ models, defaultModel }: PageContext): Html {
  const options = models.map((model) =>
    model === defaultModel
      ? html`<option value="">${model} (default)</option>`
      : html`<option value="${model}">${model}</option>`,
  );
  return html`<section class="card ask" aria-label="Ask">
<div class="ask-row">
<div class="field"><label for="model">Model</label><select id="model" aria-describedby="model-error">${options}</select></div>
<button type="button" class="primary" id="ask" aria-describedby="ask-hint">Ask</button>
</div>
<p class="problem" id="model-error"></p>
<p class="hint keys" id="ask-hint">Ctrl + Enter asks from anywhere on the page.</p>
<p class="status" id="status" role="status"></p>
<div class="alert" id="alert" role="alert"></div>
</section>`;
}

function callCard(): Html {
  return html`<section class="card call" aria-labelledby="call-title">
<h2 id="call-title">Room and cost</h2>
<dl class="facts">
<div><dt>Read by</dt><dd><span id="call-checkpoint">–</span> <span class="hint" id="call-reason">&nbsp;</span></dd></div>
<div><dt>State</dt><dd id="call-state">–</dd></div>
<div><dt>Room</dt><dd><span id="call-room">–</span> <span class="hint" id="call-tightest">&nbsp;</span></dd></div>
<div><dt>Cost</dt><dd><span id="call-cost">–</span> <span class="bar" id="call-bar" aria-hidden="true"><span></span></span><span class="hint" id="call-note">&nbsp;</span></dd></div>
</dl>
</section>`;
}

function answersCard(): Html {
  return html`<section class="card" id="answers-card" aria-labelledby="answers-title">
<h2 id="answers-title">Answers</h2>
<p class="hint" id="no-answers">Nothing asked yet.</p>
<ol class="answers" id="answers"></ol>
<details id="raw-box" hidden><summary>The response as JSON</summary><pre tabindex="0" aria-label="Response"><code id="raw"></code></pre></details>
</section>`;
}

function codeCard(): Html {
  const tabs = [
    ["curl", "curl"],
    ["javascript", "JavaScript"],
    ["python", "Python"],
  ] as const;
  const buttons = tabs.map(
    ([name, title], i) =>
      html`<button type="button" role="tab" id="tab-${name}" data-tab="${name}" aria-controls="code-panel" aria-selected="${i === 0 ? "true" : "false"}" tabindex="${i === 0 ? 0 : -1}">${title}</button>`,
  );
  return html`<section class="card" aria-labelledby="code-title">
<div class="card-head"><h2 id="code-title">This call as code</h2>
<div role="tablist" class="tabs" id="code-tabs" aria-label="Language">${buttons}</div></div>
<div role="tabpanel" id="code-panel" data-tab="shared" aria-labelledby="tab-curl"><pre tabindex="0" aria-label="Code of this call"><code id="code"></code></pre></div>
<button type="button" id="copy">Copy</button>
</section>`;
}
