// Curves over time, linked to the time that is shown.

import type { Reel } from "./reel";
import type { Signal } from "./scene";
import { theme } from "./theme";

const [LEFT, RIGHT, TOP, BOTTOM] = [58, 10, 8, 20];

export class Plot {
  readonly element = document.createElement("figure");
  private readonly canvas = document.createElement("canvas");
  private readonly legend = document.createElement("figcaption");
  private range: [number, number] = [0, 1];
  private low = 0;
  private high = 1;
  /** Everything but the time shown. */
  private readonly curves = document.createElement("canvas");
  private drawnFor = "";

  constructor(
    private readonly reel: Reel,
    readonly signals: Signal[],
    private readonly seek: (time: number) => void,
    private readonly change: (plot: Plot) => void,
  ) {
    this.element.className = "plot";
    this.canvas.tabIndex = -1;
    this.canvas.setAttribute("role", "img");
    this.element.append(this.legend, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.point(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) this.point(event);
    });
    this.write();
  }

  private point(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const part = (event.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
    const [from, to] = this.range;
    this.seek(from + Math.min(1, Math.max(0, part)) * (to - from));
  }

  remove(signal: Signal): void {
    this.signals.splice(this.signals.indexOf(signal), 1);
    this.write();
    this.change(this);
  }

  add(signal: Signal): void {
    if (!this.signals.includes(signal)) this.signals.push(signal);
    this.write();
    this.change(this);
  }

  private write(): void {
    this.drawnFor = "";
    const entries = this.signals.map((signal, i) => {
      const entry = document.createElement("span");
      entry.className = "entry";
      const mark = document.createElement("i");
      mark.dataset.series = String(i % 8);
      const name = document.createElement("span");
      name.textContent = signal.name;
      const value = document.createElement("output");
      const button = document.createElement("button");
      button.textContent = "\u00d7";
      button.title = `Remove ${signal.name}`;
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", () => this.remove(signal));
      entry.append(mark, name, value, button);
      return entry;
    });
    this.legend.replaceChildren(...entries);
    this.canvas.setAttribute("aria-label", `Plot of ${this.signals.map((signal) => signal.name).join(", ")} over time`);
  }

  /** Values at the time shown, and its line across the curves. */
  draw(time: number, row: Float32Array): void {
    const outputs = this.legend.querySelectorAll("output");
    this.signals.forEach((signal, i) => {
      outputs[i].textContent = `${number(row[signal.at])} ${unit(signal.unit)}`;
    });
    const ratio = Math.min(2, devicePixelRatio);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0 || this.reel.count === 0) return;
    const wanted = `${width} ${height} ${ratio} ${this.reel.count} ${this.reel.last} ${theme().dark}`;
    const [context, behind] = [this.canvas, this.curves].map((canvas) => canvas.getContext("2d"));
    if (!context || !behind) return;
    if (wanted !== this.drawnFor) {
      for (const canvas of [this.canvas, this.curves]) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      behind.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.background(behind, width, height);
      this.drawnFor = wanted;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.drawImage(this.curves, 0, 0, width, height);
    const [from, to] = this.range;
    const x = LEFT + ((time - from) / (to - from)) * (width - LEFT - RIGHT);
    context.strokeStyle = theme().text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, height - BOTTOM);
    context.stroke();
    this.signals.forEach((signal, i) => {
      context.fillStyle = theme().series[i % 8];
      context.beginPath();
      context.arc(x, this.y(row[signal.at], height), 3, 0, 2 * Math.PI);
      context.fill();
    });
  }

  private y(value: number, height: number): number {
    const part = (value - this.low) / (this.high - this.low);
    return height - BOTTOM - part * (height - TOP - BOTTOM);
  }

  private background(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { reel } = this;
    const colours = theme();
    this.range = [reel.first, reel.last > reel.first ? reel.last : reel.first + 1];
    this.bounds();
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colours.faint;
    context.strokeStyle = colours.ground;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const step = spacing(this.high - this.low, 5);
    for (const tick of ticks(this.low, this.high, 5)) {
      const y = Math.round(this.y(tick, height)) + 0.5;
      line(context, LEFT, y, width - RIGHT, y);
      context.fillText(label(tick, step), LEFT - 6, y);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const [from, to] = this.range;
    const long = spacing(to - from, 5);
    // Where the last text ends.
    let written = -Infinity;
    for (const tick of ticks(from, to, 5)) {
      const x = Math.round(LEFT + ((tick - from) / (to - from)) * (width - LEFT - RIGHT)) + 0.5;
      line(context, x, TOP, x, height - BOTTOM);
      const last = x > width - RIGHT - 24;
      const text = label(tick, long) + (last || tick + long > to ? " s" : "");
      const [size, at] = [context.measureText(text).width, Math.min(x, width - 2)];
      context.textAlign = last ? "right" : "center";
      const left = last ? at - size : at - size / 2;
      if (left < written) continue;
      context.fillText(text, at, height - BOTTOM + 5);
      written = left + size + 6;
    }
    this.signals.forEach((signal, i) => {
      context.strokeStyle = colours.series[i % 8];
      context.lineWidth = 1.5;
      context.lineJoin = "round";
      this.curve(context, signal, width, height);
    });
  }

  private bounds(): void {
    let [low, high] = [Infinity, -Infinity];
    for (const signal of this.signals) {
      for (let i = 0; i < this.reel.count; i += 1) {
        const value = this.reel.value(i, signal.at);
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (!(high > low)) {
      const middle = Number.isFinite(low) ? low : 0;
      const half = Math.max(Math.abs(middle) * 0.1, 1e-12);
      [low, high] = [middle - half, middle + half];
    }
    const margin = 0.06 * (high - low);
    [this.low, this.high] = [low - margin, high + margin];
  }

  /** Where many rows share a column of pixels, the lowest and the highest value are drawn. */
  private curve(context: CanvasRenderingContext2D, signal: Signal, width: number, height: number): void {
    const [from, to] = this.range;
    const scale = (width - LEFT - RIGHT) / (to - from);
    const dense = this.reel.count > 3 * width;
    context.beginPath();
    let pen = false;
    let column = -1;
    let [low, high] = [0, 0];
    const flush = () => {
      if (column < 0) return;
      context.lineTo(column, this.y(low, height));
      if (high !== low) context.lineTo(column, this.y(high, height));
    };
    for (let i = 0; i < this.reel.count; i += 1) {
      const value = this.reel.value(i, signal.at);
      if (!Number.isFinite(value)) {
        pen = false;
        continue;
      }
      const x = LEFT + (this.reel.time(i) - from) * scale;
      if (this.reel.followsGap(i)) {
        flush();
        column = -1;
        pen = false;
      }
      if (!pen) context.moveTo(x, this.y(value, height));
      else if (!dense) context.lineTo(x, this.y(value, height));
      pen = true;
      if (!dense) continue;
      if (Math.floor(x) === column) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      } else {
        flush();
        column = Math.floor(x);
        [low, high] = [value, value];
      }
    }
    flush();
    context.stroke();
  }
}

function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function spacing(range: number, count: number): number {
  const rough = range / count;
  const decade = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((step) => step * decade >= rough) ?? 10) * decade;
}

function ticks(low: number, high: number, count: number): number[] {
  const step = spacing(high - low, count);
  const found: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high && found.length < 20; i += 1) found.push(i * step);
  return found;
}

/** With as many digits as tell it from its neighbours. */
function label(value: number, step: number): string {
  if (Math.abs(value) < 1e-9 * step) return "0";
  const large = Math.max(Math.abs(value), step);
  const places = -Math.floor(Math.log10(step) + 1e-9);
  if (large < 1e5 && places <= 5) return value.toFixed(Math.max(0, places));
  const digits = Math.floor(Math.log10(large) + 1e-9) + places;
  return value.toExponential(Math.min(8, Math.max(0, digits))).replace("e+", "e");
}

/** Four digits, whatever the size. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(3).replace("e+", "e");
  return value.toPrecision(4);
}

/** As people write units. */
export function unit(name: string): string {
  return name === "1" ? "" : name.replace(/\./g, "\u00b7").replace(/2\b/g, "\u00b2").replace(/3\b/g, "\u00b3");
}
