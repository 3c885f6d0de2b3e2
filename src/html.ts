/** HTML as text: everything put into it is escaped unless it is HTML already. */

export interface Html {
  readonly html: string;
}

type Part = string | number | Html | readonly Html[];

/** Tag of a template literal. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.reduce((text, string, i) => text + printPart(parts[i - 1] ?? "") + string) };
}

function printPart(part: Part): string {
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "html" in part ? part.html : part.map((piece) => piece.html).join("");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A value as a block of JSON that a script of the page reads; no text in it can end the block. */
export function jsonBlock(id: string, value: unknown): Html {
  const text = JSON.stringify(value).replaceAll("<", "\\u003c");
  return { html: `<script type="application/json" id="${escapeHtml(id)}">${text}</script>` };
}
