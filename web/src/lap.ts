// Laps of what is driven: the line is across its way at the start.

export type Point = [number, number, number];

/** So far away from the line it must have been, in m, and so near to where it began it must cross. */
const AWAY = 30;
const NEAR = 15;

export class Laps {
  private readonly began: { place: Point; ahead: Point; time: number };
  private before: { time: number; along: number };
  private wasAway = false;
  private since: number;
  last: number | null = null;
  best: number | null = null;
  count = 0;

  constructor(time: number, place: Point, ahead: Point) {
    this.began = { place, ahead, time };
    this.since = time;
    this.before = { time, along: 0 };
  }

  /** Time of the present lap. */
  now(time: number): number {
    return time - this.since;
  }

  /** It is here now. A time before the last one begins anew. */
  at(time: number, place: Point): void {
    if (time < this.before.time) this.reset();
    const away = place.map((x, i) => x - this.began.place[i]);
    const along = away.reduce((sum, x, i) => sum + x * this.began.ahead[i], 0);
    const distance = Math.hypot(...away);
    if (distance > AWAY) this.wasAway = true;
    const crossed = this.before.along < 0 && along >= 0;
    if (this.wasAway && crossed && distance < NEAR) {
      const part = along / (along - this.before.along);
      const end = time - part * (time - this.before.time);
      this.last = end - this.since;
      this.best = Math.min(this.best ?? Infinity, this.last);
      this.count += 1;
      this.since = end;
      this.wasAway = false;
    }
    this.before = { time, along };
  }

  private reset(): void {
    this.since = this.began.time;
    this.wasAway = false;
    this.last = null;
    this.count = 0;
    this.before = { time: this.began.time, along: 0 };
  }
}
