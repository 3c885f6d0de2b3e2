/** The chips that fill the page: presets fill the questions, samples the state. */

import type { PagePreset, Sample } from "../page-data.js";
import { byId, h } from "./dom.js";

/** Brings the preset chips of the page to life. */
export function createPresetChips(
  presets: readonly PagePreset[],
  { onPreset, onSample }: { onPreset: (preset: PagePreset) => void; onSample: (sample: Sample) => void },
): { choose: (preset: PagePreset) => void } {
  function choose(preset: PagePreset): void {
    byId("preset-about", HTMLElement).textContent = `${preset.title}: ${preset.about}`;
    const chips = preset.samples.map((sample) => h("li", {}, sampleChip(sample)));
    byId("samples", HTMLElement).replaceChildren(...chips);
    onPreset(preset);
  }
  function sampleChip(sample: Sample): HTMLButtonElement {
    const chip = h("button", { type: "button", class: "chip" }, sample.title);
    chip.addEventListener("click", () => onSample(sample));
    return chip;
  }
  for (const chip of document.querySelectorAll<HTMLElement>("[data-preset]")) {
    const preset = presets.find(({ name }) => name === chip.dataset.preset);
    if (preset !== undefined) chip.addEventListener("click", () => choose(preset));
  }
  return { choose };
}
