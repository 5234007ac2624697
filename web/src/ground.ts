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
  private readonly lines = new LineBasicMaterial({ transparent: true, opacity: 0.55 });
  private readonly shadow = new ShadowMaterial({ opacity: 0.16, depthWrite: false });

  constructor(centre: Vector3, private readonly up: Vector3, size: number, private readonly height: number) {
    this.spacing = round(size / 6);
    const half = Math.ceil((2.2 * size) / this.spacing) * this.spacing;
    const points: number[] = [];
    // In short pieces: some drivers lose a line that begins behind the camera.
    const count = Math.round((2 * half) / this.spacing);
    const at = (i: number) => -half + i * this.spacing;
    for (let i = 0; i <= count; i += 1) {
      for (let j = 0; j < count; j += 1) {
        points.push(at(i), at(j), 0, at(i), at(j + 1), 0, at(j), at(i), 0, at(j + 1), at(i), 0);
      }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    const plane = new Mesh(new PlaneGeometry(2 * half, 2 * half), this.shadow);
    plane.receiveShadow = true;
    plane.position.z = -0.001 * size;
    // The shadow lies under the lines, whatever their distance.
    plane.renderOrder = -2;
    const lines = new LineSegments(geometry, this.lines);
    lines.renderOrder = -1;
    this.object.add(plane, lines);
    this.object.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up));
    this.under(centre);
  }

  /** Goes with somebody who travels; lines stay where coordinates are multiples of their distance. */
  under(place: Vector3): void {
    const snapped = place.clone().divideScalar(this.spacing).round().multiplyScalar(this.spacing);
    this.object.position.copy(snapped).addScaledVector(this.up, this.height - snapped.dot(this.up));
  }

  paint(theme: Theme): void {
    this.lines.color.set(theme.line);
    this.shadow.opacity = theme.dark ? 0.4 : 0.16;
  }
}

/** The nearest of 1, 2 and 5 times a power of ten below a number. */
export function round(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [5, 2, 1].find((step) => step * decade <= value) ?? 1;
  return step * decade;
}
