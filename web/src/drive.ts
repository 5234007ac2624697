// Somebody at the page who drives: keys, gamepad, steering wheel, fingers, sliders.

import { element, isTyping, make, option } from "./dom";
import type { Laps } from "./lap";
import { Latency } from "./latency";
import type { Live, Status } from "./live";
import { number, unit } from "./plot";
import type { Input, Signal } from "./scene";
import { AXES, BUTTONS, Stick } from "./stick";
import { Touch } from "./touch";

/** Seconds from the middle to the end of a range, and back. */
const PRESSED = 0.45;
const RELEASED = 0.25;
/** Below this share of full strength nothing is felt; each shake lasts so many milliseconds. */
const WEAKEST = 0.05;
const SHAKE = 120;

/** Keys that lower and raise the inputs, one pair each. */
const KEYS: [string, string, string][] = [
  ["ArrowLeft", "ArrowRight", "\u2190 \u2192"],
  ["ArrowDown", "ArrowUp", "\u2193 \u2191"],
  ["KeyA", "KeyD", "A D"],
  ["KeyS", "KeyW", "S W"],
];

/** An input, and what stands for it in the panel. */
interface Control {
  input: Input;
  /** Its place in a row, where it is recorded. */
  at: number | undefined;
  /** From -1 to 1 of its range. */
  place: number;
  sent: number;
  slider: HTMLInputElement;
  grabbed: boolean;
  shown: HTMLOutputElement;
  felt: HTMLElement;
  stick: Stick;
}

export class Drive {
  private readonly panel = element("drive");
  private readonly held = new Set<string>();
  private readonly controls: Control[];
  private readonly touch: Touch;
  private readonly button = make("button", "Drive");
  private readonly pause = make("button", "Pause");
  private readonly reset = make("button", "Reset");
  private readonly save = make("button", "Save");
  private readonly restart = make("button", "Restart");
  private readonly end = make("button", "End");
  private readonly calibrate = make("button", "Calibrate");
  private readonly told = make("span");
  private readonly lap = make("span");
  private status: Status | null = null;
  private shaken = 0;
  readonly latency = new Latency();

  constructor(inputs: Input[], signals: Signal[], private readonly live: Live) {
    this.controls = inputs.map((input, i) => control(input, i, signals));
    this.touch = new Touch(inputs, inputs.map((input) => label(inputs, input)));
    this.panel.hidden = false;
    this.button.id = "take";
    const head = make("div", "", this.told, this.button, this.pause, this.end);
    const back = make("div", "", this.lap, this.reset, this.save, this.restart);
    for (const row of [head, back]) row.className = "row";
    this.reset.title = "Begin again (R)";
    this.save.title = "Keep the present state (K)";
    this.restart.title = "Go back to the state that was kept (B)";
    const rows = this.controls.map((control, i) => this.row(control, i, inputs));
    this.lap.className = "lap";
    this.panel.append(head, back, ...rows, this.pads(inputs));
    this.panel.after(this.touch.element);
    this.button.addEventListener("click", () => {
      this.live.wish({ wish: this.status?.driver === "you" ? "leave" : "drive" });
      element("scene").focus();
    });
    this.pause.addEventListener("click", () => {
      this.live.wish({ wish: this.status?.run.state === "paused" ? "go-on" : "pause" });
    });
    this.end.addEventListener("click", () => this.live.wish({ wish: "end" }));
    for (const wish of ["reset", "save", "restart"] as const) {
      this[wish].addEventListener("click", () => {
        this.live.wish({ wish });
        element("scene").focus();
      });
    }
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
    if (this.status?.driver !== "you" || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const button = { KeyR: this.reset, KeyK: this.save, KeyB: this.restart }[event.code];
    const isDriving = KEYS.slice(0, this.controls.length).some(([low, high]) => event.code === low || event.code === high);
    if (button && !event.repeat) button.click();
    else if (isDriving && this.drives) this.held.add(event.code);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  private row(control: Control, i: number, inputs: Input[]): HTMLElement {
    const { input, slider, shown, felt } = control;
    const name = label(inputs, input);
    slider.setAttribute("aria-label", name);
    const grab = (is: boolean) => () => (control.grabbed = is);
    slider.addEventListener("pointerdown", grab(true));
    slider.addEventListener("pointerup", grab(false));
    slider.addEventListener("pointercancel", grab(false));
    const keys = make("kbd", KEYS[i]?.[2] ?? "");
    keys.hidden = !KEYS[i];
    felt.hidden = !input.feedback;
    felt.title = input.feedback ? `Felt: ${input.feedback.name}` : "";
    const line = make("div", "", make("span", name), slider, shown, keys, felt);
    line.className = "input";
    return line;
  }

  /** Which axis or button moves which input, how much of it is rest, and how far it goes. */
  private pads(inputs: Input[]): HTMLElement {
    const lines = this.controls.map(({ input, stick }) => {
      const name = label(inputs, input);
      const source = make("select", "", option("", "nothing"));
      for (let i = 0; i < AXES; i += 1) source.append(option(`a${i}`, `axis ${i + 1}`));
      for (let i = 0; i < BUTTONS; i += 1) source.append(option(`b${i}`, `button ${i + 1}`));
      source.value = stick.source;
      source.setAttribute("aria-label", `Gamepad axis or button for ${name}`);
      source.addEventListener("change", () => (stick.source = source.value));
      const turn = make("button", "\u21c4");
      turn.title = "Turn it round";
      turn.setAttribute("aria-pressed", String(stick.inverted));
      turn.addEventListener("click", () => {
        stick.turn();
        turn.setAttribute("aria-pressed", String(stick.inverted));
      });
      const dead = make("input");
      Object.assign(dead, { type: "number", min: "0", max: "90", step: "1", value: String(Math.round(100 * stick.dead)) });
      dead.setAttribute("aria-label", `Dead zone for ${name}, in per cent`);
      dead.title = "Dead zone, in per cent";
      dead.addEventListener("change", () => (stick.dead = Number(dead.value) / 100));
      const line = make("div", "", make("span", name), source, turn, dead, make("span", "%"));
      line.className = "row";
      return line;
    });
    this.calibrate.title = "Leave everything at rest, press, move it to all its ends, press again";
    this.calibrate.setAttribute("aria-pressed", "false");
    this.calibrate.addEventListener("click", () => this.calibrates());
    const details = make("details", "", make("summary", "Gamepad or wheel"), ...lines, this.calibrate);
    details.className = "pads";
    return details;
  }

  private calibrates(): void {
    const pad = connected();
    const starts = this.calibrate.getAttribute("aria-pressed") === "false" && pad !== null;
    for (const { stick } of this.controls) {
      if (starts) stick.calibrate(pad);
      else stick.calibrated();
    }
    this.calibrate.setAttribute("aria-pressed", String(starts));
    this.calibrate.textContent = starts ? "Move everything, then press" : "Calibrate";
  }

  tell(status: Status): void {
    this.status = status;
    const { driver, run } = status;
    const over = this.isOver;
    const words = { you: "You drive", wheel: "The wheel drives", other: "Somebody else drives", nobody: "Nobody drives" };
    this.told.textContent = over ? "The drive is over" : words[driver];
    this.button.textContent = driver === "you" ? "Let go" : "Drive";
    this.button.disabled = driver === "other" || driver === "wheel" || (over && !run.returns);
    this.pause.textContent = run.state === "paused" ? "Go on" : "Pause";
    for (const button of [this.pause, this.end]) button.disabled = driver !== "you" || over;
    for (const button of [this.reset, this.restart]) button.disabled = driver !== "you" || !run.returns;
    this.save.disabled = driver !== "you" || over || !run.returns;
    this.touch.element.hidden = driver !== "you" || over;
    for (const control of this.controls) {
      control.slider.disabled = driver !== "you" || over;
      if (!this.drives) Object.assign(control, { place: 0, sent: NaN });
    }
    if (!this.drives) this.held.clear();
  }

  /** So many seconds have passed: moves the inputs, and sends those that changed. */
  advance(seconds: number, row: Float32Array): void {
    const pad = connected();
    this.controls.forEach((control, i) => {
      const { input, slider } = control;
      if (this.drives) control.place = this.wanted(control, i, seconds, pad);
      // Whoever else drives: what the run has taken.
      const theirs = this.drives || control.at === undefined ? null : row[control.at];
      const value = theirs ?? valueAt(input, control.place);
      if (!control.grabbed) slider.value = String(theirs === null ? control.place : placeOf(input, theirs));
      control.shown.textContent = `${number(value)} ${unit(input.unit)}`;
      if (this.drives && value !== control.sent) {
        control.sent = value;
        this.latency.sent(i, value, performance.now());
        this.live.wish({ wish: "set", input: i, value });
      }
      this.feel(control, row, pad);
    });
  }

  /** Takes what the newest row says of the inputs. */
  listen(newest: (at: number) => number): void {
    this.controls.forEach(({ at }, i) => {
      if (at !== undefined) this.latency.came(i, newest(at), performance.now());
    });
  }

  /** Tells the times of laps. */
  tellLaps(laps: Laps, time: number): void {
    const told = [`Lap ${laps.now(time).toFixed(1)} s`];
    if (laps.last !== null) told.push(`last ${laps.last.toFixed(2)} s`);
    if (laps.best !== null) told.push(`best ${laps.best.toFixed(2)} s`);
    this.lap.textContent = told.join(", ");
  }

  private wanted(control: Control, i: number, seconds: number, pad: Gamepad | null): number {
    if (control.grabbed) return Number(control.slider.value);
    const finger = this.touch.held(i);
    if (finger !== null) return finger;
    const tilt = pad ? control.stick.read(pad) : 0;
    if (tilt !== 0) return tilt;
    const [low, high] = KEYS[i] ?? ["", ""];
    const goal = Number(this.held.has(high)) - Number(this.held.has(low));
    const most = seconds / (goal === 0 ? RELEASED : PRESSED);
    return control.place + Math.min(most, Math.max(-most, goal - control.place));
  }

  /** Shows what acts on the hands, and shakes the gamepad by it. */
  private feel({ input, felt }: Control, row: Float32Array, pad: Gamepad | null): void {
    const { feedback } = input;
    if (!feedback) return;
    const value = row[feedback.at];
    const share = Math.min(1, Math.max(-1, value / feedback.full)) || 0;
    felt.style.setProperty("--share", String(share));
    felt.setAttribute("aria-label", `${feedback.name} ${number(value)} ${unit(feedback.unit)}`);
    const now = performance.now();
    if (!this.drives || Math.abs(share) < WEAKEST || now - this.shaken < SHAKE) return;
    this.shaken = now;
    const effect = { duration: SHAKE, strongMagnitude: Math.abs(share), weakMagnitude: share * share };
    // A pad that cannot shake is no reason to say anything.
    void pad?.vibrationActuator?.playEffect("dual-rumble", effect).catch(() => {});
  }
}

function valueAt({ initial, low, high }: Input, place: number): number {
  return initial + place * (place > 0 ? high - initial : initial - low);
}

function placeOf({ initial, low, high }: Input, value: number): number {
  return (value - initial) / (value > initial ? high - initial : initial - low) || 0;
}

function control(input: Input, place: number, signals: Signal[]): Control {
  const slider = make("input");
  // What rests at an end of its range has one way to go.
  const [min, max] = [input.initial > input.low ? "-1" : "0", input.initial < input.high ? "1" : "0"];
  Object.assign(slider, { type: "range", min, max, step: "any", value: "0" });
  const felt = make("div");
  felt.className = "felt";
  felt.setAttribute("role", "img");
  const stick = new Stick(input, place);
  const at = signals.find((signal) => signal.name === input.name)?.at;
  return { input, at, place: 0, sent: NaN, slider, grabbed: false, shown: make("output"), felt, stick };
}

function connected(): Gamepad | null {
  const pads = navigator.getGamepads?.() ?? [];
  return pads.find((pad) => pad?.connected) ?? null;
}

export function label(inputs: Input[], input: Input): string {
  const alone = inputs.filter((other) => other.name === input.name).length === 1;
  return alone ? input.name : `${input.name} ${input.component + 1}`;
}
