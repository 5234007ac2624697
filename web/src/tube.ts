// A round line through points that move.

import { BufferAttribute, BufferGeometry, Vector3 } from "three";

export class Tube {
  readonly geometry = new BufferGeometry();
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly rings: number;
  private readonly ahead = new Vector3();
  private readonly across = new Vector3();
  private readonly third = new Vector3();

  constructor(
    private readonly points: number,
    private readonly radius: number,
    private readonly sides = 10,
  ) {
    // One more ring at each end, drawn together to a point: a lid.
    this.rings = points + 2;
    const vertices = this.rings * sides;
    this.position = new BufferAttribute(new Float32Array(3 * vertices), 3);
    this.normal = new BufferAttribute(new Float32Array(3 * vertices), 3);
    const index: number[] = [];
    for (let ring = 0; ring + 1 < this.rings; ring += 1) {
      for (let side = 0; side < sides; side += 1) {
        const a = ring * sides + side;
        const b = ring * sides + ((side + 1) % sides);
        index.push(a, b, a + sides, b, b + sides, a + sides);
      }
    }
    this.geometry.setAttribute("position", this.position);
    this.geometry.setAttribute("normal", this.normal);
    this.geometry.setIndex(index);
  }

  set(path: Vector3[]): void {
    const last = this.points - 1;
    this.across.set(0, 0, 0);
    for (let i = 0; i <= last; i += 1) {
      this.ahead.subVectors(path[Math.min(i + 1, last)], path[Math.max(i - 1, 0)]);
      if (this.ahead.lengthSq() === 0) this.ahead.set(1, 0, 0);
      this.ahead.normalize();
      this.carry();
      this.third.crossVectors(this.ahead, this.across);
      if (i === 0) this.ring(0, path[0], 0);
      this.ring(i + 1, path[i], this.radius);
      if (i === last) this.ring(last + 2, path[last], 0);
    }
    this.position.needsUpdate = true;
    this.normal.needsUpdate = true;
    this.geometry.computeBoundingSphere();
  }

  /** Carries the direction across the line along with it, so that nothing twists. */
  private carry(): void {
    this.across.addScaledVector(this.ahead, -this.across.dot(this.ahead));
    if (this.across.lengthSq() < 1e-8) {
      const { x, y, z } = this.ahead;
      const flat = Math.abs(z) < 0.9;
      this.across.set(flat ? -y : 0, flat ? x : -z, flat ? 0 : y);
      if (this.across.lengthSq() < 1e-8) this.across.set(1, 0, 0);
    }
    this.across.normalize();
  }

  private ring(ring: number, centre: Vector3, radius: number): void {
    for (let side = 0; side < this.sides; side += 1) {
      const angle = (2 * Math.PI * side) / this.sides;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const x = c * this.across.x + s * this.third.x;
      const y = c * this.across.y + s * this.third.y;
      const z = c * this.across.z + s * this.third.z;
      const at = ring * this.sides + side;
      this.position.setXYZ(at, centre.x + radius * x, centre.y + radius * y, centre.z + radius * z);
      this.normal.setXYZ(at, x, y, z);
    }
  }
}
