// Rows over time: those of a film, or those that come in while a model runs.

import type { Scene } from "./scene";

/** Rows that come later than so many usual ones follow a gap: somebody began to look on, or looked away. */
const GAP = 8;
/** Rows between which the usual time is looked for. */
const LOOKS = 101;

/** A run that goes on is remembered up to so many bytes, then its older half is forgotten. */
const MOST_BYTES = 96 << 20;

export class Reel {
  readonly scene: Scene;
  readonly width: number;
  count = 0;
  private times: Float64Array<ArrayBuffer>;
  private rows: Float32Array<ArrayBuffer>;
  /** The earliest time to which the run went back since that was asked. */
  private returned: number | null = null;
  /** The usual time between two rows, and for how many rows that was found. */
  private spacing = { usual: 0, count: 0 };

  constructor(scene: Scene, times: Float64Array<ArrayBuffer>, rows: Float32Array<ArrayBuffer>) {
    this.scene = scene;
    this.width = scene.width;
    this.count = times.length;
    this.times = times;
    this.rows = rows;
  }

  /** Reads what `Film::to_bytes` wrote. */
  static read(bytes: ArrayBuffer): Reel {
    const view = new DataView(bytes);
    if (bytes.byteLength < 20 || view.getUint32(0, false) !== 0x4f4c4446) {
      throw new Error("this is no film of Oldham");
    }
    if (view.getUint32(4, true) !== 1) {
      throw new Error("this film is of another version of Oldham");
    }
    const [length, count, width] = [8, 12, 16].map((at) => view.getUint32(at, true));
    const times = 20 + length;
    const rows = times + 8 * count;
    const text = new TextDecoder().decode(new Uint8Array(bytes, 20, length));
    const scene = JSON.parse(text) as Scene;
    // Slices are aligned, the film is not.
    return new Reel(
      scene,
      new Float64Array(bytes.slice(times, rows)),
      new Float32Array(bytes.slice(rows, rows + 4 * count * width)),
    );
  }

  get first(): number {
    return this.count > 0 ? this.times[0] : 0;
  }

  get last(): number {
    return this.count > 0 ? this.times[this.count - 1] : 0;
  }

  time(index: number): number {
    return this.times[index];
  }

  /** Whether nothing is known of the time between a row and the one before. */
  followsGap(index: number): boolean {
    if (index < 1 || this.count < 4) return false;
    return this.times[index] - this.times[index - 1] > GAP * this.spacingOfRows;
  }

  private usualSpacing(): number {
    const looks = Math.min(LOOKS, this.count - 1);
    const found = Array.from({ length: looks }, (_, look) => {
      const index = 1 + Math.floor((look * (this.count - 1)) / looks);
      return this.times[index] - this.times[index - 1];
    });
    return found.sort((a, b) => a - b)[looks >> 1];
  }

  value(index: number, at: number): number {
    return this.rows[index * this.width + at];
  }

  /** Takes what `row_bytes` wrote. A time before the last one: the run went back, and on from there. */
  push(message: ArrayBuffer): void {
    if (message.byteLength !== 8 + 4 * this.width) return;
    const time = new DataView(message).getFloat64(0, true);
    if (time <= this.last && this.count > 0) {
      if (time === this.last) return;
      const before = this.index(time);
      this.returned = Math.min(this.returned ?? Infinity, time);
      this.count = this.times[before] < time ? before + 1 : before;
    }
    if (this.count === this.times.length) this.makeRoom();
    this.times[this.count] = time;
    this.rows.set(new Float32Array(message.slice(8)), this.count * this.width);
    this.count += 1;
  }

  /** The earliest time to which the run went back since the last time that this was asked, if it did. */
  takeReturn(): number | null {
    const { returned } = this;
    this.returned = null;
    return returned;
  }

  /** The time of the last row before a time. */
  before(time: number): number {
    const at = this.index(time);
    const index = this.times[at] < time ? at : at - 1;
    return index >= 0 ? this.times[index] : -Infinity;
  }

  private makeRoom(): void {
    const most = Math.max(16, Math.floor(MOST_BYTES / (8 + 4 * this.width)));
    if (this.count >= most) {
      const half = this.count >> 1;
      this.times.copyWithin(0, half, this.count);
      this.rows.copyWithin(0, half * this.width, this.count * this.width);
      this.count -= half;
      return;
    }
    const capacity = Math.min(most, Math.max(1024, 2 * this.count));
    const times = new Float64Array(capacity);
    const rows = new Float32Array(capacity * this.width);
    times.set(this.times);
    rows.set(this.rows);
    this.times = times;
    this.rows = rows;
  }

  /** The last row that is not after a time. */
  index(time: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The row at a time, between two rows on the straight line; in a gap the one before. */
  sample(time: number, out: Float32Array): void {
    if (this.count === 0) return;
    const from = this.index(time);
    const to = Math.min(from + 1, this.count - 1);
    const span = this.times[to] - this.times[from];
    const part = span > 0 && !this.followsGap(to) ? Math.min(1, Math.max(0, (time - this.times[from]) / span)) : 0;
    const [a, b] = [from * this.width, to * this.width];
    for (let i = 0; i < this.width; i += 1) {
      out[i] = this.rows[a + i] + part * (this.rows[b + i] - this.rows[a + i]);
    }
    this.shortWay(a, b, part, out);
  }

  /** Some numbers of the row at a time, of a pose the nearer way round. */
  part(time: number, at: number, out: Float32Array): void {
    const from = this.index(time);
    const to = Math.min(from + 1, this.count - 1);
    const span = this.times[to] - this.times[from];
    const part = span > 0 && !this.followsGap(to) ? Math.min(1, Math.max(0, (time - this.times[from]) / span)) : 0;
    const [a, b] = [from * this.width + at, to * this.width + at];
    for (let i = 0; i < out.length; i += 1) out[i] = this.rows[a + i] + part * (this.rows[b + i] - this.rows[a + i]);
    if (out.length !== 7) return;
    let dot = 0;
    for (let i = 3; i < 7; i += 1) dot += this.rows[a + i] * this.rows[b + i];
    if (dot < 0) for (let i = 3; i < 7; i += 1) out[i] = this.rows[a + i] - part * (this.rows[b + i] + this.rows[a + i]);
  }

  /** The usual time between two rows. */
  get spacingOfRows(): number {
    if (this.count < 4) return 0;
    const { count } = this.spacing;
    if (this.count < count || this.count > 1.5 * count) this.spacing = { usual: this.usualSpacing(), count: this.count };
    return this.spacing.usual;
  }

  /** A quaternion and its negative are the same rotation: between them lies no rotation at all. */
  private shortWay(a: number, b: number, part: number, out: Float32Array): void {
    for (const frame of this.scene.frames) {
      if (frame.moves !== "freely") continue;
      const q = frame.at + 3;
      let dot = 0;
      for (let i = q; i < q + 4; i += 1) dot += this.rows[a + i] * this.rows[b + i];
      if (dot >= 0) continue;
      for (let i = q; i < q + 4; i += 1) {
        out[i] = this.rows[a + i] - part * (this.rows[b + i] + this.rows[a + i]);
      }
    }
  }

  /** What nine in ten of the vectors at these places that are not zero do not exceed. */
  usual(places: number[]): number {
    const sizes: number[] = [];
    for (const at of places) {
      for (let i = at; i < this.count * this.width; i += this.width) {
        const size = Math.hypot(this.rows[i], this.rows[i + 1], this.rows[i + 2]);
        if (size > 0) sizes.push(size);
      }
    }
    sizes.sort((a, b) => a - b);
    return sizes.length > 0 ? sizes[Math.floor(0.9 * sizes.length)] : 0;
  }

  /** Largest magnitude of a number over all rows in which it is one. */
  largest(at: number): number {
    let largest = 0;
    for (let i = at; i < this.count * this.width; i += this.width) {
      const size = Math.abs(this.rows[i]);
      if (size > largest) largest = size;
    }
    return largest;
  }
}
