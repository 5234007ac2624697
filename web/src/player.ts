// The time that is shown, and how it goes on.

import { SteadyClock } from "./clock";
import type { Reel } from "./reel";

export class Player {
  time: number;
  playing = false;
  loop = true;
  speed = 1;
  /** Whether the newest row is shown as it comes. */
  live: boolean;
  /** Whether newer rows are to come. */
  runs = false;
  private readonly clock = new SteadyClock();

  constructor(private readonly reel: Reel) {
    this.time = reel.first;
    this.live = reel.scene.source === "live";
  }

  toggle(): void {
    if (!this.playing && this.time >= this.reel.last) this.time = this.reel.first;
    this.playing = !this.playing;
    if (this.playing) this.live = false;
  }

  seek(time: number): void {
    this.live = false;
    this.time = Math.min(this.reel.last, Math.max(this.reel.first, time));
  }

  /** To another row. */
  step(rows: number): void {
    this.playing = false;
    const index = this.reel.index(this.time) + rows;
    this.seek(this.reel.time(Math.min(this.reel.count - 1, Math.max(0, index))));
  }

  goLive(): void {
    this.live = true;
    this.playing = false;
  }

  /** So many seconds have passed on the wall. Says whether the time shown has changed. */
  advance(seconds: number): boolean {
    const before = this.time;
    if (this.live) this.time = this.runs ? this.clock.next(before, seconds, this.reel.last, this.reel.spacingOfRows) : this.reel.last;
    else if (this.playing) {
      this.time += seconds * this.speed;
      if (this.time >= this.reel.last) {
        const length = this.reel.last - this.reel.first;
        if (this.loop && length > 0) this.time = this.reel.first + ((this.time - this.reel.first) % length);
        else {
          this.time = this.reel.last;
          this.playing = false;
        }
      }
    }
    return this.time !== before;
  }
}
