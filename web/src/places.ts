// Where the frames of reference of a scene are in a row.

import { Quaternion, Vector3 } from "three";
import type { Anchor, Frame, Scene, Shape } from "./scene";
import type { Reel } from "./reel";

export class Places {
  readonly origins: Vector3[];
  readonly turns: Quaternion[];
  /** How displacements along a line are scaled. */
  scale = Infinity;
  private readonly frames: Frame[];
  private readonly axis = new Vector3(1, 0, 0);

  constructor(scene: Scene, reel: Reel) {
    this.frames = scene.frames;
    this.origins = scene.frames.map(() => new Vector3());
    this.turns = scene.frames.map(() => new Quaternion());
    for (const frame of scene.frames) {
      if (frame.moves === "along") this.fit(reel.largest(frame.at), frame.room);
    }
    // What never moves is drawn as it is.
    if (this.scale === Infinity) this.fit(1, 1);
  }

  /** Chooses a scale of 1, 2 or 5 times a power of ten, which changes rarely. */
  private fit(displacement: number, room?: number): void {
    if (room === undefined) return;
    const exact = room / displacement;
    if (!(exact < this.scale)) return;
    const decade = 10 ** Math.floor(Math.log10(exact));
    const step = [5, 2, 1].find((step) => step * decade <= exact) ?? 1;
    this.scale = step * decade;
  }

  update(row: Float32Array): void {
    this.frames.forEach((frame, i) => {
      const origin = this.origins[i];
      const turn = this.turns[i];
      switch (frame.moves) {
        case "not":
          origin.fromArray(frame.base);
          break;
        case "freely":
          origin.fromArray(row, frame.at);
          turn.set(row[frame.at + 4], row[frame.at + 5], row[frame.at + 6], row[frame.at + 3]);
          turn.normalize();
          break;
        case "along":
          this.fit(Math.abs(row[frame.at]), frame.room);
          origin.fromArray(frame.base);
          origin.x += this.scale * row[frame.at];
          break;
        case "about":
          origin.fromArray(frame.base);
          turn.setFromAxisAngle(this.axis, row[frame.at]);
          break;
      }
    });
  }

  /** Where an anchor is. */
  point(anchor: Anchor, out: Vector3): Vector3 {
    out.fromArray(anchor.offset);
    return out.applyQuaternion(this.turns[anchor.frame]).add(this.origins[anchor.frame]);
  }

  /** How an anchor is turned. */
  turn(anchor: Anchor, out: Quaternion): Quaternion {
    out.copy(this.turns[anchor.frame]);
    if (anchor.turn) {
      const [w, x, y, z] = anchor.turn;
      out.multiply(new Quaternion(x, y, z, w));
    }
    return out;
  }
}

/** How far a body reaches from its centre. */
export function reach(shape: Shape): number {
  switch (shape.form) {
    case "sphere":
      return shape.radius;
    case "box":
      return Math.hypot(...shape.sides) / 2;
    case "cylinder":
      return Math.hypot(shape.radius, shape.length / 2);
    case "capsule":
      return shape.radius + shape.length / 2;
    case "wheel":
      return Math.hypot(shape.radius, shape.width / 2);
    case "point":
      return 0;
    case "mesh":
      return Math.max(0, ...shape.points.map((point) => Math.hypot(...point)));
  }
}
