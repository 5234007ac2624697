// Fields for fingers: the first input goes sideways, the second up and down, what only grows is a pedal.

import { make } from "./dom";
import type { Input } from "./scene";

/** The share of a field that is the whole way from the middle to an end. */
const WAY = 0.42;

export class Touch {
  readonly element = make("div");
  private readonly place: (number | null)[];

  constructor(inputs: Input[], names: string[]) {
    this.place = inputs.map(() => null);
    this.element.className = "touch";
    this.element.append(...inputs.slice(0, 3).map((input, i) => this.field(input, i, names[i])));
  }

  /** Where a finger holds an input, from -1 to 1; nothing where none does. */
  held(i: number): number | null {
    return this.place[i] ?? null;
  }

  private field(input: Input, i: number, name: string): HTMLElement {
    const isPedal = input.initial === input.low;
    const knob = make("i");
    const field = make("div", "", make("span", name), knob);
    field.className = isPedal ? "pedal" : i === 0 ? "sideways" : "upright";
    field.setAttribute("aria-hidden", "true");
    const move = (event: PointerEvent) => {
      const box = field.getBoundingClientRect();
      const sideways = (event.clientX - box.left) / box.width - 0.5;
      const upwards = 0.5 - (event.clientY - box.top) / box.height;
      const along = isPedal ? 1 : (i === 0 ? sideways : upwards) / WAY;
      const place = Math.min(1, Math.max(-1, along));
      this.place[i] = place;
      knob.style.setProperty("--along", String(place));
    };
    const release = () => {
      this.place[i] = null;
      knob.style.setProperty("--along", "0");
    };
    field.addEventListener("pointerdown", (event) => {
      field.setPointerCapture(event.pointerId);
      event.preventDefault();
      move(event);
    });
    field.addEventListener("pointermove", (event) => {
      if (this.place[i] !== null) move(event);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) field.addEventListener(end, release);
    return field;
  }
}
