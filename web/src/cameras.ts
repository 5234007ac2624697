// Cameras that ride along without jerks: in the cockpit, behind, and beside the road. What they filter passes in shown time,
// so that pictures at any rate show the same.

import { Quaternion, Vector3 } from "three";
import { Lag } from "./lag";
import type { Rider, Road, Triple } from "./scene";

export type Ride = "driver" | "chase" | "trackside";

/** Time constants in s: of the head, of the boom of a chase, of its height, of a hand that pans. */
const HEAD = 0.09;
const BOOM = 0.28;
const LIFT = 0.3;
const PAN = 0.12;
/** A time that goes back, or on by more, is a cut. In s. */
const CUT = 0.5;
/** Distance of cameras beside the road, how far from its edge and how high they stand, in m. */
const EVERY = 65;
const ASIDE = 7;
const HIGH = 2.6;
/** From so near what passes fills the picture with the widest angle. */
const WIDE = 52;
const NARROW = 9;
const ORIGIN = new Vector3();
const FIRST = new Vector3(1, 0, 0);
const SIDE = new Vector3(0, 1, 0);

export interface Shot {
  place: Vector3;
  turn: Quaternion;
  /** Of the view, from top to bottom, in degrees. */
  angle: number;
}

/** Looks from a place at another. */
function looking(place: Vector3, at: Vector3, up: Vector3, out: Quaternion): Quaternion {
  const back = place.clone().sub(at).normalize();
  const right = new Vector3().crossVectors(up, back).normalize();
  const above = new Vector3().crossVectors(back, right);
  const [x, y, z] = [right, above, back];
  // Of a matrix with these columns, by its largest component (Shepperd 1978).
  const trace = x.x + y.y + z.z;
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return out.set((y.z - z.y) / s, (z.x - x.z) / s, (x.y - y.x) / s, s / 4);
  }
  if (x.x > y.y && x.x > z.z) {
    const s = 2 * Math.sqrt(1 + x.x - y.y - z.z);
    return out.set(s / 4, (y.x + x.y) / s, (z.x + x.z) / s, (y.z - z.y) / s);
  }
  if (y.y > z.z) {
    const s = 2 * Math.sqrt(1 + y.y - x.x - z.z);
    return out.set((y.x + x.y) / s, s / 4, (z.y + y.z) / s, (z.x - x.z) / s);
  }
  const s = 2 * Math.sqrt(1 + z.z - x.x - y.y);
  return out.set((z.x + x.z) / s, (z.y + y.z) / s, s / 4, (x.y - y.x) / s);
}

export class Cameras {
  private readonly shot: Shot = { place: new Vector3(), turn: new Quaternion(), angle: 50 };
  private readonly eye: Vector3 | null;
  private readonly posts: Vector3[];
  private readonly head = new Lag(HEAD, 4);
  private readonly turned = new Quaternion();
  /** Two of them one behind the other: neither the angle nor its rate jumps. */
  private readonly boom = [new Lag(BOOM, 3), new Lag(BOOM, 3)];
  private readonly behind = new Vector3(1, 0, 0);
  private readonly lift = new Lag(LIFT, 1);
  private readonly pan = new Lag(PAN, 3);
  private post = -1;
  private time = NaN;
  private mode: Ride | null = null;

  constructor(rider: Rider, road: Road | undefined, private readonly up: Vector3, private readonly size: number) {
    this.eye = rider.eye ? new Vector3(...rider.eye) : null;
    this.posts = road ? posts(road) : [];
  }

  /** Whether there is anything beside which one could stand. */
  get hasPosts(): boolean {
    return this.posts.length > 0;
  }

  /** What a camera sees at a time of something that is here and turned like this, and stood upright at first with another turn. */
  see(mode: Ride, time: number, origin: Vector3, turn: Quaternion, upright: Quaternion): Shot {
    const passed = time - this.time;
    const isCut = mode !== this.mode || !(passed >= 0 && passed < CUT);
    this.time = time;
    this.mode = mode;
    const since = isCut ? null : passed;
    if (mode === "driver") this.sit(origin, turn, this.up.clone().applyQuaternion(upright.clone().invert()), since);
    else if (mode === "chase") this.chase(origin, turn, since);
    else this.watch(origin, since);
    return this.shot;
  }

  /** `above` is what is up to somebody in the body, in its axes. */
  private sit(origin: Vector3, turn: Quaternion, above: Vector3, since: number | null): void {
    const { shot, turned, size } = this;
    // A quaternion and its negative are the same rotation.
    const sign = since !== null && turned.dot(turn) < 0 ? -1 : 1;
    turned.set(sign * turn.x, sign * turn.y, sign * turn.z, sign * turn.w);
    const [x, y, z, w] = this.head.next(turned.toArray(), since);
    const eye = this.eye ?? above.clone().multiplyScalar(0.06 * size).addScaledVector(FIRST, -0.02 * size);
    shot.place.copy(eye).applyQuaternion(turn).add(origin);
    // The first axis points ahead; where it points up, another one is above.
    const side = Math.abs(above.x) < 0.99 ? above : SIDE;
    shot.turn.set(x, y, z, w).normalize().multiply(looking(ORIGIN, FIRST, side, new Quaternion()));
    shot.angle = 62;
  }

  private chase(origin: Vector3, turn: Quaternion, since: number | null): void {
    const { shot, behind, boom, up, size } = this;
    const ahead = new Vector3(1, 0, 0).applyQuaternion(turn);
    ahead.addScaledVector(up, -ahead.dot(up));
    // On its nose it has no direction in plan: the last one holds.
    if (ahead.lengthSq() > 1e-4) behind.copy(ahead.normalize());
    const direction = new Vector3(...boom[1].next(boom[0].next(behind.toArray(), since), since)).normalize();
    const height = origin.dot(up);
    const [lifted] = this.lift.next([height], since);
    const level = origin.clone().addScaledVector(up, lifted - height);
    shot.place.copy(level).addScaledVector(direction, -1.25 * size).addScaledVector(up, 0.3 * size);
    const target = level.addScaledVector(direction, 1.1 * size).addScaledVector(up, 0.1 * size);
    looking(shot.place, target, up, shot.turn);
    shot.angle = 50;
  }

  private watch(origin: Vector3, since: number | null): void {
    const { shot, posts, up } = this;
    const distance = (i: number) => posts[i].distanceToSquared(origin);
    const nearest = posts.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
    // It stays with a camera until another one is clearly nearer.
    const isNew = this.post < 0 || distance(nearest) < 0.7 * distance(this.post);
    if (isNew) this.post = nearest;
    shot.place.copy(posts[this.post]);
    const aim = new Vector3(...this.pan.next(origin.toArray(), isNew ? null : since));
    looking(shot.place, aim, up, shot.turn);
    const away = shot.place.distanceTo(aim);
    const angle = (2 * Math.atan((1.6 * this.size) / Math.max(away, 1e-3)) * 180) / Math.PI;
    shot.angle = Math.min(WIDE, Math.max(NARROW, angle));
  }
}

/** Where cameras stand: on the outside of corners, at equal distances. */
function posts(road: Road): Vector3[] {
  const columns = road.across.length;
  const count = road.points.length / columns;
  const middle = (columns - 1) / 2;
  const point = (i: number, column: number): Triple => road.points[(((i % count) + count) % count) * columns + column];
  const stand = Math.max(4, Math.round(road.length / EVERY));
  return Array.from({ length: stand }, (_, k) => {
    const i = Math.round(((k + 0.5) * count) / stand);
    const [a, b, c] = [point(i - 8, middle), point(i, middle), point(i + 8, middle)];
    const bend = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    // To the left where the road bends to the right.
    const edge = point(i, bend < 0 ? 0 : columns - 1);
    const out = [edge[0] - b[0], edge[1] - b[1]];
    const length = Math.hypot(out[0], out[1]);
    return new Vector3(edge[0] + (out[0] / length) * ASIDE, edge[1] + (out[1] / length) * ASIDE, edge[2] + HIGH);
  });
}
