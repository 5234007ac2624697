// Laps around a road: where along it something is, when it came by the lines at which times are taken, and how it drove its
// best lap.

import type { Road, Triple } from "./scene";

/** Lines go on beyond the road by so much, in m: one may have gone wide. */
const WIDER = 4;
/** Numbers of a pose. */
const POSE = 7;

/** A lap, with the times at which it passed the lines. */
export interface Lap {
  began: number;
  /** At the end of each sector, but for the last. */
  passed: number[];
  ended: number | null;
}

/** How a lap was driven: time since its beginning, distance along the line and pose, row by row. */
export interface Trace {
  time: number;
  times: number[];
  along: number[];
  poses: number[];
}

/** What there is to tell of laps at an instant. */
export interface Told {
  /** How long the sectors took that are behind. */
  passed: number[];
  now: number | null;
  last: Lap | null;
  best: number | null;
  /** Behind the best lap at the same place, in s; negative ahead of it. */
  delta: number | null;
}

export class Course {
  readonly laps: Lap[] = [];
  best: Trace | null = null;
  private readonly centre: Triple[];
  private readonly gates: [Triple, Triple][];
  private readonly spacing: number;
  private trace: Trace | null = null;
  private before: { time: number; place: Triple } | null = null;
  private section = 0;

  constructor(private readonly road: Road) {
    const columns = road.across.length;
    const middle = (columns - 1) / 2;
    this.centre = road.points.filter((_, i) => i % columns === middle);
    this.spacing = road.length / this.centre.length;
    this.gates = road.gates.map(([left, right]) => {
      const width = Math.hypot(right[0] - left[0], right[1] - left[1]);
      const out = [0, 1, 2].map((k) => ((left[k] - right[k]) / width) * WIDER);
      return [left.map((x, k) => x + out[k]) as Triple, right.map((x, k) => x - out[k]) as Triple];
    });
  }

  /** Distance along the line of the place of it that is nearest, looked for around the last one first. */
  along(place: Triple): number {
    const { centre, spacing } = this;
    const count = centre.length;
    const far = (i: number) => (centre[i][0] - place[0]) ** 2 + (centre[i][1] - place[1]) ** 2;
    const wrapped = (i: number) => ((i % count) + count) % count;
    let best = this.section;
    for (let step = -20; step <= 20; step += 1) {
      const i = wrapped(this.section + step);
      if (far(i) < far(best)) best = i;
    }
    if (far(best) > 400) for (let i = 0; i < count; i += 1) if (far(i) < far(best)) best = i;
    this.section = best;
    const [before, after] = [centre[wrapped(best - 1)], centre[wrapped(best + 1)]];
    const ahead = [after[0] - before[0], after[1] - before[1]];
    const length = Math.hypot(ahead[0], ahead[1]);
    const part = ((place[0] - centre[best][0]) * ahead[0] + (place[1] - centre[best][1]) * ahead[1]) / length;
    const along = best * spacing + part;
    return ((along % this.road.length) + this.road.length) % this.road.length;
  }

  /** It is here now: the first three numbers of the pose are its place. A time before the last one forgets what came after it. */
  at(time: number, pose: ArrayLike<number>): void {
    const place: Triple = [pose[0], pose[1], pose[2]];
    if (this.before && time <= this.before.time) this.goBack(time);
    if (this.before) this.pass(this.before, { time, place });
    const lap = this.laps.at(-1);
    if (lap && lap.ended === null && this.trace) {
      this.trace.times.push(time - lap.began);
      this.trace.along.push(this.goneOn(this.trace, this.along(place)));
      for (let i = 0; i < POSE; i += 1) this.trace.poses.push(pose[i]);
    }
    this.before = { time, place };
  }

  /** Distances of a lap go on at the line: they begin behind it by less than a row, and end beyond it. */
  private goneOn({ along }: Trace, now: number): number {
    const { length } = this.road;
    const before = along.at(-1) ?? 0;
    return now + length * Math.round((before - now) / length);
  }

  private goBack(time: number): void {
    while (this.laps.length > 0 && this.laps[this.laps.length - 1].began >= time) this.laps.pop();
    const lap = this.laps.at(-1);
    if (lap && lap.ended !== null && lap.ended >= time) lap.ended = null;
    if (lap) lap.passed = lap.passed.filter((passed) => passed < time);
    const isSame = this.trace !== null && lap !== undefined && lap.ended === null && this.trace !== this.best;
    if (this.trace && isSame) {
      const kept = this.trace.times.filter((since) => lap.began + since < time).length;
      this.trace.times.length = kept;
      this.trace.along.length = kept;
      this.trace.poses.length = POSE * kept;
    } else this.trace = null;
    this.before = null;
  }

  private pass(from: { time: number; place: Triple }, to: { time: number; place: Triple }): void {
    const lap = this.laps.at(-1);
    const isDriven = lap !== undefined && lap.ended === null;
    const next = isDriven ? (lap.passed.length + 1) % this.gates.length : 0;
    const part = crossed(this.gates[next], from.place, to.place);
    if (part === null) return;
    const time = from.time + part * (to.time - from.time);
    if (isDriven && next > 0) {
      lap.passed.push(time);
      return;
    }
    if (isDriven) {
      lap.ended = time;
      const took = time - lap.began;
      // A lap of which a part was forgotten is no ghost.
      if (this.trace && (this.best === null || took < this.best.time)) this.best = { ...this.trace, time: took };
    }
    this.laps.push({ began: time, passed: [], ended: null });
    this.trace = { time: 0, times: [], along: [], poses: [] };
  }

  /** What there was to tell at a time, with this place along the line. */
  told(time: number, along: number | null): Told {
    const begun = this.laps.filter((lap) => lap.began <= time);
    const lap = begun.at(-1);
    const ended = begun.filter((lap) => lap.ended !== null && lap.ended <= time);
    const times = ended.map((lap) => (lap.ended as number) - lap.began);
    const now = lap ? time - lap.began : null;
    const { best } = this;
    const record = best ? best.time : null;
    const shown = times.length > 0 ? Math.min(...times, record ?? Infinity) : record;
    return { passed: lap ? sectors(lap, time) : [], now, last: ended.at(-1) ?? null, best: shown, delta: this.delta(now, along) };
  }

  private delta(now: number | null, along: number | null): number | null {
    const { best } = this;
    if (!best || now === null || along === null || best.times.length < 2) return null;
    // Right after the line its nearest point may be before it, and the other way round.
    const isEarly = now < 0.1 * best.time;
    const isBehind = isEarly && along > this.road.length / 2;
    const gone = isBehind ? along - this.road.length : along;
    let [low, high] = [0, best.along.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (best.along[middle] <= gone) low = middle;
      else high = middle;
    }
    const span = best.along[high] - best.along[low];
    const part = span > 0 ? Math.min(1, Math.max(0, (gone - best.along[low]) / span)) : 0;
    return now - (best.times[low] + part * (best.times[high] - best.times[low]));
  }

  /** Where the best lap was so long after its beginning. */
  ghost(since: number, out: Float32Array): boolean {
    const { best } = this;
    if (!best || best.times.length < 2 || since < 0 || since > best.time) return false;
    let [low, high] = [0, best.times.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (best.times[middle] <= since) low = middle;
      else high = middle;
    }
    const span = best.times[high] - best.times[low];
    const part = span > 0 ? Math.min(1, Math.max(0, (since - best.times[low]) / span)) : 0;
    const value = (i: number, k: number) => best.poses[POSE * i + k];
    let dot = 0;
    for (let k = 3; k < POSE; k += 1) dot += value(low, k) * value(high, k);
    for (let k = 0; k < POSE; k += 1) {
      const end = k >= 3 && dot < 0 ? -value(high, k) : value(high, k);
      out[k] = value(low, k) + part * (end - value(low, k));
    }
    return true;
  }
}

/** Times of the sectors of a lap that are behind at a time. */
export function sectors(lap: Lap, time: number): number[] {
  const ends = [...lap.passed, ...(lap.ended === null ? [] : [lap.ended])].filter((end) => end <= time);
  return ends.map((end, i) => end - (i === 0 ? lap.began : ends[i - 1]));
}

/** At which part of a way it crosses a line from behind, seen with its left end on the left; nothing if it does not. */
function crossed([left, right]: [Triple, Triple], from: Triple, to: Triple): number | null {
  const [x, y] = [left[0] - right[0], left[1] - right[1]];
  // Ahead is to the right of the way from the right to the left end.
  const ahead = (place: Triple) => y * (place[0] - right[0]) - x * (place[1] - right[1]);
  const [before, after] = [ahead(from), ahead(to)];
  if (!(before < 0 && after >= 0)) return null;
  const part = before / (before - after);
  const at = [0, 1].map((k) => from[k] + part * (to[k] - from[k]) - right[k]);
  const along = (at[0] * x + at[1] * y) / (x * x + y * y);
  return along >= 0 && along <= 1 ? part : null;
}
