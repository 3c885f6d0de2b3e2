/** Tabs as the ARIA practices have them: one tab stop, arrow keys, Home and End; the markup comes with the page. */

/**
 * Brings a `role="tablist"` to life.
 * @param choose told the `data-tab` that a person wants; answers whether the change may happen
 */
export function createTabs(list: HTMLElement, choose: (name: string) => boolean): { select: (name: string) => void } {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
  function select(name: string): void {
    for (const tab of tabs) {
      const isChosen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      for (const panel of panelsOf(tab)) if (panel.dataset.tab === undefined) panel.hidden = !isChosen;
    }
  }
  function want(tab: HTMLElement | undefined): void {
    const name = tab?.dataset.tab;
    if (tab === undefined || name === undefined || !choose(name)) return;
    select(name);
    tab.focus();
  }
  list.addEventListener("click", ({ target }) => want(tabs.find((tab) => tab.contains(target as Node))));
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined || at < 0) return;
    event.preventDefault();
    want(tabs.at(next % tabs.length));
  });
  return { select };
}

/** The panel of a tab; tabs that share one panel mark it with `data-tab`, and it is never hidden. */
function panelsOf(tab: HTMLElement): HTMLElement[] {
  const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
  return panel === null ? [] : [panel];
}
