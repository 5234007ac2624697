// Instruments: speed, gauges of the model, what the driver does, accelerations, laps with their sectors.

import type { Told } from "./course";
import { element, make } from "./dom";
import type { Motion } from "./ride";
import type { Gauge, Input } from "./scene";

/** Acceleration at the edge of the dial, in multiples of gravity, and how much of its past is shown, in instants. */
const FULL = 2;
const TRAIL = 40;
const TURN = (3 / 4) * 2 * Math.PI;

interface Dial {
  gauge: Gauge;
  number: HTMLElement;
  arc: SVGPathElement | null;
}

interface Lever {
  input: Input;
  /** Its place in a row. */
  at: number;
  mark: HTMLElement;
  isFirst: boolean;
}

export class Dash {
  private readonly panel = element("dash");
  private readonly speed = make("output", "0");
  private readonly dials: Dial[];
  private readonly levers: Lever[];
  private readonly dot = svg("circle", { r: "3.4", class: "dot" });
  private readonly trail = svg("polyline", { class: "trail" });
  private readonly felt = make("output");
  private readonly lines = { now: make("output"), delta: make("output"), last: make("output"), best: make("output"), sectors: make("div") };
  private readonly past: [number, number][] = [];

  constructor(gauges: Gauge[], levers: { input: Input; at: number; name: string }[], rides: boolean, private readonly timed: boolean) {
    this.panel.hidden = false;
    this.dials = gauges.map((gauge) => this.dial(gauge));
    // What travels has a speed, even if no instrument of the model shows it.
    const isShown = gauges.some(({ label }) => label.toLowerCase() === "speed");
    if (rides && !isShown) {
      const box = make("div", "", this.speed, make("small", "km/h"));
      box.className = "dial plain";
      this.panel.prepend(box);
    }
    this.levers = levers.map(({ input, at, name }, i) => this.lever(input, at, name, rides && i === 0));
    if (rides) this.circle();
    if (timed) this.clock();
  }

  private dial(gauge: Gauge): Dial {
    const number = make("output");
    const box = make("div", "", number, make("small", gauge.unit), make("span", gauge.label));
    box.className = gauge.range ? "dial" : "dial plain";
    let arc: SVGPathElement | null = null;
    if (gauge.range) {
      const drawing = svg("svg", { viewBox: "-50 -50 100 100", "aria-hidden": "true" });
      arc = svg("path", { class: "hand", d: "" });
      drawing.append(svg("path", { class: "scale", d: sweep(1) }), arc);
      box.prepend(drawing);
    }
    this.panel.append(box);
    return { gauge, number, arc };
  }

  private lever(input: Input, at: number, name: string, isFirst: boolean): Lever {
    const mark = make("i");
    const box = make("div", "", mark, make("span", name));
    box.className = isFirst ? "hands" : input.initial === input.low ? "pedal" : "lever";
    this.panel.append(box);
    return { input, at, mark, isFirst };
  }

  private circle(): void {
    const drawing = svg("svg", { viewBox: "-40 -40 80 80", role: "img", "aria-label": "Accelerations along and across" });
    for (const part of [0.5, 1]) drawing.append(svg("circle", { r: String(34 * part), class: "ring" }));
    drawing.append(svg("path", { d: "M-34 0H34M0-34V34", class: "ring" }), this.trail, this.dot);
    const box = make("div", "", drawing as unknown as HTMLElement, this.felt);
    box.className = "gg";
    this.panel.append(box);
  }

  private clock(): void {
    const { now, delta, last, best, sectors } = this.lines;
    const row = (name: string, value: HTMLElement) => make("div", "", make("span", name), value);
    now.className = "now";
    delta.className = "delta";
    sectors.className = "sectors";
    const box = make("div", "", make("div", "", now, delta), sectors, row("last", last), row("best", best));
    box.className = "laps";
    this.panel.append(box);
  }

  show(row: Float32Array, motion: Motion | null, told: Told | null): void {
    for (const { gauge, number, arc } of this.dials) {
      const value = row[gauge.at] / gauge.factor;
      write(number, shortly(value, gauge.range));
      if (arc && gauge.range) {
        const [low, high] = gauge.range;
        const share = Math.min(1, Math.max(0, (value - low) / (high - low))) || 0;
        arc.setAttribute("d", sweep(share));
      }
    }
    for (const { input, at, mark, isFirst } of this.levers) {
      const share = part(input, row[at]);
      mark.style.setProperty("--share", share.toFixed(3));
      if (isFirst) mark.style.setProperty("rotate", `${(110 * share).toFixed(1)}deg`);
    }
    if (motion) {
      write(this.speed, (3.6 * motion.speed).toFixed(0));
      this.feel(motion);
    }
    if (told && this.timed) this.tell(told);
  }

  private feel({ ahead, left }: Motion): void {
    // The dot goes to where one is pushed from: braking draws it back, a corner to the left draws it left.
    const reach = Math.hypot(ahead, left);
    const scale = (34 / FULL) * Math.min(1, FULL / Math.max(reach, 1e-9));
    const [x, y] = [-left * scale, -ahead * scale];
    this.dot.setAttribute("cx", x.toFixed(1));
    this.dot.setAttribute("cy", y.toFixed(1));
    this.past.push([x, y]);
    if (this.past.length > TRAIL) this.past.shift();
    this.trail.setAttribute("points", this.past.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" "));
    write(this.felt, `${reach.toFixed(1)} g`);
  }

  private tell({ passed, now, last, best, delta }: Told): void {
    const { lines } = this;
    write(lines.now, now === null ? "–" : seconds(now));
    // What rounds to nothing is neither.
    const apart = Math.round(100 * (delta ?? 0)) / 100;
    write(lines.delta, delta === null ? "" : `${apart < 0 ? "−" : "+"}${Math.abs(apart).toFixed(2)}`);
    lines.delta.dataset.sign = apart < 0 ? "ahead" : apart > 0 ? "behind" : "";
    const took = last && last.ended !== null ? last.ended - last.began : null;
    write(lines.last, took === null ? "–" : seconds(took));
    write(lines.best, best === null ? "–" : seconds(best));
    write(lines.sectors, passed.map((took, i) => `S${i + 1} ${took.toFixed(2)}`).join("  "));
  }
}

/** From -1 to 1 of the range of an input. */
function part({ initial, low, high }: Input, value: number): number {
  return (value - initial) / (value > initial ? high - initial : initial - low) || 0;
}

function write(place: HTMLElement, text: string): void {
  if (place.textContent !== text) place.textContent = text;
}

/** As many digits as one can read while driving. */
function shortly(value: number, range?: [number, number]): string {
  if (!Number.isFinite(value)) return "–";
  const size = range ? Math.max(Math.abs(range[0]), Math.abs(range[1])) : Math.abs(value);
  const digits = size >= 50 ? 0 : size >= 5 ? 1 : 2;
  return value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1");
}

function seconds(time: number): string {
  const minutes = Math.floor(time / 60);
  const rest = time - 60 * minutes;
  return minutes > 0 ? `${minutes}:${rest.toFixed(2).padStart(5, "0")}` : rest.toFixed(2);
}

/** Three quarters of a circle, up to a share. */
function sweep(share: number): string {
  const at = (angle: number) => [-Math.sin(angle), Math.cos(angle)].map((x) => (42 * x).toFixed(2)).join(" ");
  const from = Math.PI / 4;
  const to = from + TURN * Math.max(share, 1e-3);
  return `M${at(from)}A42 42 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`;
}

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
