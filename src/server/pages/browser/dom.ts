/** The few words of DOM that the pages are written in. Text goes in as text only: nothing is ever parsed as HTML. */

type Child = Node | string;

export interface Attributes {
  readonly [name: string]: string | boolean | undefined;
}

/** An element with attributes (`true` = present and empty, `false` and `undefined` = absent) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
}

/** The element of an id, which the page is bound to have. */
export function byId<T extends HTMLElement>(id: string, kind: abstract new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} #${id}; this is a bug in qa`);
}

/** A whole number with thin separators, the same in every locale. */
export function countText(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A share of one as a percentage with one decimal. */
export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)}\u00a0%`;
}

/** Runs only the last of many calls, once they have paused. */
export function debounce(pauseMs: number, action: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, pauseMs);
  };
}
