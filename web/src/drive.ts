// Somebody at the page who drives: keys, gamepad, sliders.

import { element, isTyping, make, option } from "./dom";
import type { Live, Status } from "./live";
import { number, unit } from "./plot";
import type { Input } from "./scene";
import { recall, remember } from "./theme";

/** Seconds from the middle to the end of a range, and back. */
const PRESSED = 0.45;
const RELEASED = 0.25;
const DEAD_ZONE = 0.08;

/** Keys that lower and raise the inputs, one pair each. */
const KEYS: [string, string, string][] = [
  ["ArrowLeft", "ArrowRight", "\u2190 \u2192"],
  ["ArrowDown", "ArrowUp", "\u2193 \u2191"],
  ["KeyA", "KeyD", "A D"],
  ["KeyS", "KeyW", "S W"],
];

/** What an axis of a gamepad does to an input. */
interface Stick {
  axis: number;
  inverted: boolean;
}

export class Drive {
  private readonly panel = element("drive");
  private readonly held = new Set<string>();
  /** From -1 to 1 of the range of each input. */
  private readonly place: number[];
  private readonly sent: number[];
  private readonly sliders: HTMLInputElement[] = [];
  private readonly shown: HTMLOutputElement[] = [];
  private readonly sticks: Stick[];
  private readonly grabbed: boolean[];
  private readonly button = make("button", "Drive");
  private readonly pause = make("button", "Pause");
  private readonly end = make("button", "End");
  private readonly told = make("span");
  private status: Status | null = null;

  constructor(private readonly inputs: Input[], private readonly live: Live) {
    this.place = inputs.map(() => 0);
    this.sent = inputs.map(() => NaN);
    this.grabbed = inputs.map(() => false);
    this.sticks = inputs.map((input, i) => restored(input, i));
    this.panel.hidden = false;
    this.button.id = "take";
    const head = make("div", "", this.told, this.button, this.pause, this.end);
    head.className = "row";
    this.panel.append(head, ...inputs.map((input, i) => this.row(input, i)));
    this.button.addEventListener("click", () => {
      this.live.wish({ wish: this.drives ? "leave" : "drive" });
      element("scene").focus();
    });
    this.pause.addEventListener("click", () => {
      this.live.wish({ wish: this.status?.run.state === "paused" ? "go-on" : "pause" });
    });
    this.end.addEventListener("click", () => this.live.wish({ wish: "end" }));
    addEventListener("keydown", (event) => this.press(event));
    addEventListener("keyup", (event) => this.held.delete(event.code));
    addEventListener("blur", () => this.held.clear());
  }

  get drives(): boolean {
    return this.status?.driver === "you" && !this.isOver;
  }

  private get isOver(): boolean {
    return this.status?.run.state === "finished" || this.status?.run.state === "failed";
  }

  /** Whether keys are taken for driving. */
  private press(event: KeyboardEvent): void {
    if (!this.drives || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!KEYS.slice(0, this.inputs.length).some(([low, high]) => event.code === low || event.code === high)) return;
    this.held.add(event.code);
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  private row(input: Input, i: number): HTMLElement {
    const slider = make("input");
    Object.assign(slider, { type: "range", min: "-1", max: "1", step: "any", value: "0" });
    const name = label(this.inputs, input);
    slider.setAttribute("aria-label", name);
    const grab = (is: boolean) => () => (this.grabbed[i] = is);
    slider.addEventListener("pointerdown", grab(true));
    slider.addEventListener("pointerup", grab(false));
    slider.addEventListener("pointercancel", grab(false));
    const value = make("output");
    const keys = make("kbd", KEYS[i]?.[2] ?? "");
    keys.hidden = !KEYS[i];
    const stick = this.sticks[i];
    const axes = make("select", "", option("-1", "no stick"));
    for (let axis = 0; axis < 8; axis += 1) axes.append(option(String(axis), `stick axis ${axis + 1}`));
    axes.value = String(stick.axis);
    axes.title = `Gamepad axis for ${name}`;
    const turn = make("button", "\u21c4");
    turn.title = "Turn the axis round";
    turn.setAttribute("aria-pressed", String(stick.inverted));
    const keep = () => remember(`stick.${input.name}.${input.component}`, JSON.stringify(stick));
    axes.addEventListener("change", () => {
      stick.axis = Number(axes.value);
      keep();
    });
    turn.addEventListener("click", () => {
      stick.inverted = !stick.inverted;
      turn.setAttribute("aria-pressed", String(stick.inverted));
      keep();
    });
    this.sliders.push(slider);
    this.shown.push(value);
    const line = make("div", "", make("span", name), value, keys, axes, turn);
    line.className = "row";
    const both = make("div", "", line, slider);
    both.className = "input";
    return both;
  }

  tell(status: Status): void {
    this.status = status;
    const { driver, run } = status;
    const over = this.isOver;
    const words = { you: "You drive", other: "Somebody else drives", nobody: "Nobody drives" };
    this.told.textContent = over ? "The drive is over" : words[driver];
    this.button.textContent = driver === "you" ? "Let go" : "Drive";
    this.button.disabled = driver === "other" || over;
    this.pause.textContent = run.state === "paused" ? "Go on" : "Pause";
    for (const button of [this.pause, this.end]) button.disabled = driver !== "you" || over;
    for (const slider of this.sliders) slider.disabled = driver !== "you" || over;
    if (!this.drives) {
      this.held.clear();
      this.place.fill(0);
      this.sent.fill(NaN);
    }
  }

  /** So many seconds have passed: moves the inputs, and sends those that changed. */
  advance(seconds: number): void {
    const pads = navigator.getGamepads?.() ?? [];
    const pad = pads.find((pad) => pad?.connected);
    this.inputs.forEach((input, i) => {
      if (this.drives) this.place[i] = this.wanted(i, seconds, pad ?? null);
      const slider = this.sliders[i];
      if (!this.grabbed[i]) slider.value = String(this.place[i]);
      const room = this.place[i] > 0 ? input.high - input.initial : input.initial - input.low;
      const value = input.initial + this.place[i] * room;
      this.shown[i].textContent = `${number(value)} ${unit(input.unit)}`;
      if (this.drives && value !== this.sent[i]) {
        this.sent[i] = value;
        this.live.wish({ wish: "set", input: i, value });
      }
    });
  }

  private wanted(i: number, seconds: number, pad: Gamepad | null): number {
    if (this.grabbed[i]) return Number(this.sliders[i].value);
    const { axis, inverted } = this.sticks[i];
    const tilt = pad && axis >= 0 ? (pad.axes[axis] ?? 0) : 0;
    if (Math.abs(tilt) > DEAD_ZONE) {
      const free = (Math.abs(tilt) - DEAD_ZONE) / (1 - DEAD_ZONE);
      return Math.sign(tilt) * free * (inverted ? -1 : 1);
    }
    const [low, high] = KEYS[i] ?? ["", ""];
    const goal = Number(this.held.has(high)) - Number(this.held.has(low));
    const most = seconds / (goal === 0 ? RELEASED : PRESSED);
    const here = this.place[i];
    return here + Math.min(most, Math.max(-most, goal - here));
  }
}

function label(inputs: Input[], input: Input): string {
  const alone = inputs.filter((other) => other.name === input.name).length === 1;
  return alone ? input.name : `${input.name} ${input.component + 1}`;
}

function restored(input: Input, i: number): Stick {
  const plain = { axis: i < 4 ? i : -1, inverted: i % 2 === 1 };
  try {
    const kept = JSON.parse(recall(`stick.${input.name}.${input.component}`) ?? "null") as Partial<Stick> | null;
    if (typeof kept?.axis === "number" && typeof kept.inverted === "boolean") return kept as Stick;
  } catch {
    // What cannot be read is as good as nothing.
  }
  return plain;
}
