// How long it takes from when a value leaves the page until a row with it is back: network, run and row together.

/** So many values are waited for; a run that waits takes none. */
const MOST = 64;
/** The median of so many is told. */
const SHOWN = 15;

export class Latency {
  private waiting: { input: number; value: number; since: number }[] = [];
  private readonly measured: number[] = [];

  /** A value of an input left at this time, in ms. */
  sent(input: number, value: number, now: number): void {
    this.waiting.push({ input, value: Math.fround(value), since: now });
    if (this.waiting.length > MOST) this.waiting.shift();
  }

  /** An input has this value in the newest row. */
  came(input: number, value: number, now: number): void {
    const found = this.waiting.findLast((sent) => sent.input === input && sent.value === value);
    if (!found) return;
    this.measured.push(now - found.since);
    if (this.measured.length > SHOWN) this.measured.shift();
    // What was sent before was set as well, or passed over.
    this.waiting = this.waiting.filter((sent) => sent.input !== input || sent.since > found.since);
  }

  /** In ms, as far as it is known. */
  get usual(): number | null {
    const { measured } = this;
    return measured.length > 0 ? [...measured].sort((a, b) => a - b)[measured.length >> 1] : null;
  }
}
