/** The API key of this tab: asked for once, kept in session storage only, sent in the Authorization header only. */

import { byId } from "./dom.js";

const STORAGE_NAME = "qa.key";

export interface KeyBox {
  /** The key in use, `undefined` where there is none or none is needed. */
  readonly key: () => string | undefined;
  /** Whether a call needs a key that is not there yet. */
  readonly isMissing: () => boolean;
  /** Says why a key is asked for again and goes to its field. */
  readonly reject: (message: string) => void;
}

/** @param onChange called when a key was given or forgotten */
export function createKeyBox(onChange: () => void): KeyBox {
  if (document.getElementById("key-box") === null)
    return { key: () => undefined, isMissing: () => false, reject: () => {} };
  const form = byId("key-form", HTMLFormElement);
  const field = byId("key", HTMLInputElement);
  const fault = byId("key-error", HTMLElement);
  const inUse = byId("key-in-use", HTMLElement);
  let key = stored();

  function show(): void {
    form.hidden = key !== undefined;
    inUse.hidden = key === undefined;
    byId("key-name", HTMLElement).textContent = publicPart(key ?? "");
  }
  function put(next: string | undefined): void {
    key = next;
    store(next);
    field.value = "";
    say("");
    show();
    onChange();
  }
  function say(message: string): void {
    fault.textContent = message;
    field.toggleAttribute("aria-invalid", message !== "");
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = field.value.trim();
    if (given === "") return say("paste a key first; qa keys create makes one");
    put(given);
    byId("key-forget", HTMLButtonElement).focus();
  });
  byId("key-forget", HTMLButtonElement).addEventListener("click", () => {
    put(undefined);
    field.focus();
  });
  show();
  return {
    key: () => key,
    isMissing: () => key === undefined,
    reject: (message) => {
      key = undefined;
      store(undefined);
      show();
      say(message);
      field.focus();
    },
  };
}

/** The part of a key that names it, without its secret. */
function publicPart(key: string): string {
  return /^qa_[A-Za-z0-9-]+(?=_)/.exec(key)?.[0] ?? `${key.slice(0, 4)}…`;
}

function stored(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_NAME) ?? undefined;
  } catch {
    return undefined; // storage is switched off: the key then lives as long as the page
  }
}

function store(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(STORAGE_NAME);
    else sessionStorage.setItem(STORAGE_NAME, key);
  } catch {
    // as above
  }
}
