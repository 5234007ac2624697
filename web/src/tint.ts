// Colours by a quantity: blue where it is most negative, red where it is most positive.

import { BufferAttribute, Color } from "three";
import type { Reel } from "./reel";
import type { Colours, Scene } from "./scene";

/** Quantities with their units, each with the largest magnitude that was seen. */
export class Scales {
  private readonly known = new Map<string, { unit: string; largest: number }>();

  /** As far as a reel knows them. */
  constructor(scene: Scene, reel: Reel) {
    for (const item of scene.items) {
      const colours = "colours" in item ? item.colours : undefined;
      if (!colours) continue;
      for (const at of new Set(colours.of.flat())) this.reaches(colours, reel.largest(at));
    }
  }

  /** The largest magnitude, with this one. */
  reaches({ name, unit }: Colours, size: number): number {
    const here = this.known.get(name) ?? { unit, largest: 0 };
    if (Number.isFinite(size) && size > here.largest) here.largest = size;
    this.known.set(name, here);
    return here.largest;
  }

  /** What colours there are, for a legend. */
  entries(): { name: string; unit: string; largest: number }[] {
    return [...this.known].map(([name, scale]) => ({ name, ...scale }));
  }
}

const LOW = new Color("#2166c8");
const NONE = new Color("#d9d9d9");
const HIGH = new Color("#c8321e");

/** The colours of points, for as many vertices each. */
export class Tint {
  readonly attribute: BufferAttribute;
  private readonly color = new Color();

  /** With further points at both ends, which have the colours of these. */
  constructor(
    private readonly colours: Colours,
    private readonly each: number,
    private readonly extra: number,
    private readonly scales: Scales,
  ) {
    this.attribute = new BufferAttribute(new Float32Array(3 * each * (colours.of.length + 2 * extra)), 3);
  }

  update(row: Float32Array): void {
    const values = this.colours.of.map((places) => places.reduce((sum, at) => sum + row[at], 0) / Math.max(1, places.length));
    const largest = values.reduce((most, value) => Math.max(most, this.scales.reaches(this.colours, Math.abs(value))), 0);
    const last = values.length - 1;
    const points = values.length + 2 * this.extra;
    for (let point = 0; point < points; point += 1) {
      const value = values[Math.min(last, Math.max(0, point - this.extra))];
      const part = largest > 0 && Number.isFinite(value) ? value / largest : 0;
      this.color.copy(NONE).lerp(part < 0 ? LOW : HIGH, Math.abs(part));
      for (let i = 0; i < this.each; i += 1) this.attribute.setXYZ(point * this.each + i, this.color.r, this.color.g, this.color.b);
    }
    this.attribute.needsUpdate = true;
  }
}
