// Small helps with the page. Names come from model files: they are only ever set as text.

export function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = "",
  ...children: Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

export function option(value: string, text: string): HTMLOptionElement {
  const made = make("option", text);
  made.value = value;
  return made;
}

export function on(id: string, event: string, act: () => void): void {
  element(id).addEventListener(event, act);
}

/** Whether the keys that somebody presses belong to a field. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox";
}
