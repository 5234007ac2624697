// How something moves that one rides on, from where it was just before.

import { Quaternion, Vector3 } from "three";
import type { Reel } from "./reel";

/** Places so far apart in time are compared, in s: accelerations are those that one feels, without what shakes. */
const APART = 0.1;
const GRAVITY = 9.80665;

export interface Motion {
  /** m/s. */
  speed: number;
  /** Accelerations ahead and to the left, in multiples of gravity. */
  ahead: number;
  left: number;
}

export class Ride {
  private readonly poses = [0, 1, 2].map(() => new Float32Array(7));
  private readonly places = [0, 1, 2].map(() => new Vector3());

  constructor(private readonly reel: Reel, private readonly at: number, private readonly up: Vector3) {}

  /** The motion at a time: nothing of the first moments. */
  motion(time: number): Motion | null {
    const { reel, poses, places } = this;
    if (reel.count < 3 || time - 2 * APART < reel.first) return null;
    poses.forEach((pose, i) => {
      reel.part(time - (2 - i) * APART, this.at, pose);
      places[i].fromArray(pose);
    });
    const [a, b, c] = places;
    const pose = poses[1];
    const turn = new Quaternion(pose[4], pose[5], pose[6], pose[3]).normalize();
    const change = new Vector3().subVectors(c, b).sub(b).add(a).divideScalar(APART * APART * GRAVITY);
    const ahead = new Vector3(1, 0, 0).applyQuaternion(turn);
    const left = new Vector3().crossVectors(this.up, ahead).normalize();
    return { speed: c.distanceTo(a) / (2 * APART), ahead: change.dot(ahead), left: change.dot(left) };
  }
}
