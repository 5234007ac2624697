// The ghost of the best lap: what rides along, once more, where it was then.

import { Group, Mesh, MeshLambertMaterial, type Object3D, Quaternion, Vector3 } from "three";
import type { Places } from "./places";
import type { Theme } from "./theme";

export class Ghost {
  readonly object = new Group();
  private readonly material = new MeshLambertMaterial({ transparent: true, opacity: 0.4, depthWrite: false });

  /** A copy of bodies as they stand, in axes of the frame that carries them. */
  constructor(bodies: Object3D[], places: Places, frame: number) {
    const back = places.turns[frame].clone().invert();
    const origin = places.origins[frame];
    for (const body of bodies) {
      const copy = body.clone();
      copy.traverse((child) => {
        if (!(child instanceof Mesh)) {
          // Edges and other lines are left to the original.
          if ("isLine" in child) child.visible = false;
          return;
        }
        child.material = this.material;
        child.castShadow = false;
        child.receiveShadow = false;
      });
      copy.position.sub(origin).applyQuaternion(back);
      copy.quaternion.premultiply(back);
      this.object.add(copy);
    }
    this.object.visible = false;
  }

  /** To a pose, or away. */
  show(pose: Float32Array | null): void {
    this.object.visible = pose !== null;
    if (!pose) return;
    this.object.position.copy(new Vector3(pose[0], pose[1], pose[2]));
    this.object.quaternion.copy(new Quaternion(pose[4], pose[5], pose[6], pose[3]).normalize());
  }

  paint(theme: Theme): void {
    this.material.color.set(theme.dark ? "#8fd0ff" : "#2b6cb0");
  }
}
