// The ground: a grid at a round distance below everything, and the shadow on it.

import {
  BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, Quaternion,
  ShadowMaterial, Vector3,
} from "three";
import type { Theme } from "./theme";

export class Ground {
  readonly object = new Group();
  /** Distance of the lines in m. */
  readonly spacing: number;
  private readonly lines = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  private readonly shadow = new ShadowMaterial({ opacity: 0.16 });

  constructor(centre: Vector3, up: Vector3, size: number, height: number) {
    this.spacing = round(size / 6);
    const half = Math.ceil((2.2 * size) / this.spacing) * this.spacing;
    const points: number[] = [];
    for (let x = -half; x <= half + this.spacing / 2; x += this.spacing) {
      points.push(x, -half, 0, x, half, 0, -half, x, 0, half, x, 0);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    const plane = new Mesh(new PlaneGeometry(2 * half, 2 * half), this.shadow);
    plane.receiveShadow = true;
    plane.position.z = -0.001 * size;
    this.object.add(new LineSegments(geometry, this.lines), plane);
    this.object.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up));
    // Lines lie where coordinates are multiples of their distance.
    const snapped = centre.clone().divideScalar(this.spacing).round().multiplyScalar(this.spacing);
    this.object.position.copy(snapped).addScaledVector(up, height - snapped.dot(up));
  }

  paint(theme: Theme): void {
    this.lines.color.set(theme.ground);
    this.shadow.opacity = theme.dark ? 0.4 : 0.16;
  }
}

/** The nearest of 1, 2 and 5 times a power of ten below a number. */
export function round(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [5, 2, 1].find((step) => step * decade <= value) ?? 1;
  return step * decade;
}
