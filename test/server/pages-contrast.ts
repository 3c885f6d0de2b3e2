/** Contrast of all text that a page shows, as WCAG 2 computes it. The function runs in the browser: it must use nothing outside itself. */

import type { Page } from "playwright-core";

export interface Contrast {
  readonly text: string;
  readonly ratio: number;
}

/** The text of a page with the lowest contrasts first; controls that are switched off are left out, as WCAG has it. */
export function contrastsOf(page: Page): Promise<Contrast[]> {
  return page.evaluate(readContrasts as () => Contrast[]);
}

// biome-ignore lint/suspicious/noExplicitAny: the types of the DOM are not those of this program
declare const document: any, getComputedStyle: any, NodeFilter: any;

function readContrasts(): Contrast[] {
  const read = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r = 0, g = 0, b = 0]: number[]) => {
    const linear = [r, g, b]
      .map((value) => value / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  };
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const groundOf = (element: any): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = read(getComputedStyle(at).backgroundColor);
      if ((color[3] ?? 1) === 1 && color.length > 0) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found: Contrast[] = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (text === "" || !element.checkVisibility() || element.closest(":disabled, script")) continue;
    const [a, b] = [light(read(getComputedStyle(element).color)), light(groundOf(element))];
    found.push({ text, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) });
  }
  return found.sort((a, b) => a.ratio - b.ratio);
}
