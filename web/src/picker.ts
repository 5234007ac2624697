// Finds signals by parts of their names.

import { element, make } from "./dom";
import type { Signal } from "./scene";

const SHOWN = 40;

export function picker(signals: Signal[], choose: (signal: Signal) => void): void {
  const search = element<HTMLInputElement>("search");
  const list = element<HTMLUListElement>("found");
  let found: Signal[] = [];
  let marked = 0;
  const mark = (index: number) => {
    marked = Math.min(found.length - 1, Math.max(0, index));
    [...list.children].forEach((entry, i) => {
      entry.setAttribute("aria-selected", String(i === marked));
      if (i === marked) {
        search.setAttribute("aria-activedescendant", entry.id);
        entry.scrollIntoView({ block: "nearest" });
      }
    });
  };
  const close = () => {
    found = [];
    list.replaceChildren();
    search.setAttribute("aria-expanded", "false");
  };
  const take = (signal: Signal | undefined) => {
    if (!signal) return;
    choose(signal);
    search.value = "";
    close();
  };
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (signal: Signal) => words.every((word) => signal.name.toLowerCase().includes(word));
    found = signals.filter(fits).slice(0, SHOWN);
    list.replaceChildren(
      ...found.map((signal, i) => {
        const entry = make("li", signal.name);
        entry.id = `found-${i}`;
        entry.setAttribute("role", "option");
        // Before the search loses the focus and the list closes.
        entry.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(signal);
        });
        return entry;
      }),
    );
    search.setAttribute("aria-expanded", String(found.length > 0));
    mark(0);
  };
  search.addEventListener("input", look);
  search.addEventListener("focus", look);
  search.addEventListener("blur", close);
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(marked + 1);
    else if (event.key === "ArrowUp") mark(marked - 1);
    else if (event.key === "Enter") take(found[marked]);
    else if (event.key === "Escape") search.blur();
    else return;
    event.preventDefault();
  });
}
