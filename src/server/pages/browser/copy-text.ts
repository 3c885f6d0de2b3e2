/** Copies the text of an element; off secure origins, where the clipboard is closed, it marks the text for a person to copy. */

export async function copyText(element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(element.textContent ?? "");
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return false;
  }
}
