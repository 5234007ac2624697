// The time that is shown of a run that goes on: rows come in fits and starts, time does not.

/** It is shown so many usual rows late, so that there is one to go to. */
const LATE = 2;
/** Farther behind than this it jumps, in s. */
const FAR = 0.25;
/** How fast it comes nearer to where it should be, and learns how fast the run goes, in s. */
const NEARER = 0.3;
const LEARN = 0.6;

export class SteadyClock {
  private rate = 1;
  private newest = NaN;
  private silent = 0;

  /** The time to be shown so many seconds later, when the newest row is of this time, and rows are so far apart. */
  next(shown: number, seconds: number, newest: number, spacing: number): number {
    const gone = newest - this.newest;
    this.silent += seconds;
    if (!(gone >= 0) || newest - shown > FAR || shown - newest > 0) {
      this.newest = newest;
      this.silent = 0;
      this.rate = 1;
      return newest;
    }
    if (gone > 0) {
      const measured = Math.min(4, gone / Math.max(this.silent, 1e-3));
      this.rate += (1 - Math.exp(-this.silent / LEARN)) * (measured - this.rate);
      this.newest = newest;
      this.silent = 0;
    }
    const wanted = newest + this.rate * this.silent - LATE * spacing;
    const correction = (wanted - shown - this.rate * seconds) * (1 - Math.exp(-seconds / NEARER));
    // It never goes back, and never beyond what is known.
    return Math.min(newest, Math.max(shown, shown + this.rate * seconds + correction));
  }
}
