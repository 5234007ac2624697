// A first-order lag, exact for what goes straight between two instants: it passes the same at any rate of instants.

export class Lag {
  private readonly before: number[];
  readonly value: number[];

  /** With a time constant in s, of so many numbers. */
  constructor(private readonly constant: number, count: number) {
    this.before = new Array<number>(count).fill(0);
    this.value = new Array<number>(count).fill(0);
  }

  /** Where it is when its input has gone to these numbers within so many seconds; null is a cut. */
  next(input: number[], passed: number | null): number[] {
    const { before, value, constant } = this;
    const kept = passed === null ? 0 : Math.exp(-passed / constant);
    // By so much of its way it is behind what has just begun to move.
    const behind = passed === null ? 0 : passed > 0 ? (constant / passed) * (1 - kept) : 1;
    input.forEach((now, i) => {
      value[i] = now - behind * (now - before[i]) + kept * (value[i] - before[i]);
      before[i] = now;
    });
    return value;
  }
}
