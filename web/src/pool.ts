// Many rods and balls as few things to draw: one for all rods of a material, one for all balls.

import { type BufferGeometry, InstancedMesh, type Material, Matrix4, type Object3D, Quaternion, Vector3 } from "three";

const UP = new Vector3(0, 1, 0);

/** Copies of one geometry. */
export class Copies {
  private readonly names: string[] = [];
  private mesh: InstancedMesh | null = null;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly ahead = new Vector3();
  private readonly scale = new Vector3(1, 1, 1);

  constructor(private readonly geometry: BufferGeometry, private readonly material: Material) {}

  /** One more copy; its number. */
  claim(): number {
    return this.names.push("") - 1;
  }

  name(copy: number, name: string): void {
    this.names[copy] = name;
  }

  /** What is drawn, when all copies are claimed. */
  finish(): InstancedMesh {
    this.mesh = new InstancedMesh(this.geometry, this.material, this.names.length);
    // Where the copies are changes all the time.
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.userData.names = this.names;
    return this.mesh;
  }

  at(copy: number, place: Vector3): void {
    this.mesh?.setMatrixAt(copy, this.matrix.makeTranslation(place.x, place.y, place.z));
    this.changed();
  }

  /** Puts a copy that reaches from 0 to 1 along y between two points. */
  between(copy: number, a: Vector3, b: Vector3): void {
    this.ahead.subVectors(b, a);
    const length = this.ahead.length();
    this.scale.y = Math.max(length, 1e-9);
    if (length > 0) this.turn.setFromUnitVectors(UP, this.ahead.divideScalar(length));
    else this.turn.identity();
    this.mesh?.setMatrixAt(copy, this.matrix.compose(a, this.turn, this.scale));
    this.changed();
  }

  private changed(): void {
    if (!this.mesh) return;
    this.mesh.instanceMatrix.needsUpdate = true;
    // Rays look where it was last otherwise.
    this.mesh.boundingSphere = null;
  }
}

/** All copies of a scene. */
export class Pool {
  private readonly all = new Map<string, Copies>();

  /** Those of a geometry in a material, made when they are first asked for. */
  copies(kind: string, material: Material, geometry: () => BufferGeometry): Copies {
    const key = `${kind} ${material.uuid}`;
    const known = this.all.get(key);
    if (known) return known;
    const made = new Copies(geometry(), material);
    this.all.set(key, made);
    return made;
  }

  finish(): Object3D[] {
    return [...this.all.values()].map((copies) => copies.finish());
  }
}
