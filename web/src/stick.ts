// What an axis or a button of a gamepad or a steering wheel does to an input: where it rests, how far it
// goes, how much of it counts as rest. Kept by the browser.

import type { Input } from "./scene";
import { recall, remember } from "./theme";

export const AXES = 8;
/** Triggers of gamepads are buttons that know how far they are pressed. */
export const BUTTONS = 18;

interface Kept {
  /** `a0` is the first axis, `b0` the first button; empty is none. */
  source: string;
  inverted: boolean;
  /** The reading at rest and at both ends. */
  rest: number;
  low: number;
  high: number;
  /** The share of the way that counts as rest. */
  dead: number;
}

export class Stick {
  private readonly kept: Kept;
  private readonly key: string;
  private calibrating = false;

  constructor(input: Input, place: number) {
    this.key = `stick.${input.name}.${input.component}`;
    this.kept = restored(this.key) ?? plain(input, place);
  }

  get source(): string {
    return this.kept.source;
  }

  set source(source: string) {
    const { inverted, dead } = this.kept;
    Object.assign(this.kept, fresh(source), { inverted, dead });
    this.keep();
  }

  get inverted(): boolean {
    return this.kept.inverted;
  }

  turn(): void {
    this.kept.inverted = !this.kept.inverted;
    this.keep();
  }

  get dead(): number {
    return this.kept.dead;
  }

  set dead(share: number) {
    this.kept.dead = Math.min(0.9, Math.max(0, share));
    this.keep();
  }

  /** From now on the reading shows how far it goes; where it is now is its rest. */
  calibrate(pad: Gamepad): void {
    const here = reading(pad, this.kept.source);
    if (here === null) return;
    Object.assign(this.kept, { rest: here, low: here, high: here });
    this.calibrating = true;
  }

  /** Ends it. What did not move is as it was at first. */
  calibrated(): void {
    if (!this.calibrating) return;
    this.calibrating = false;
    if (this.kept.high - this.kept.low < 0.1) Object.assign(this.kept, fresh(this.kept.source), { dead: this.kept.dead });
    this.keep();
  }

  /** From -1 to 1, or nothing where it rests or is not there. */
  read(pad: Gamepad): number {
    const here = reading(pad, this.kept.source);
    if (here === null) return 0;
    if (this.calibrating) {
      this.kept.low = Math.min(this.kept.low, here);
      this.kept.high = Math.max(this.kept.high, here);
      return 0;
    }
    const { rest, low, high, dead, inverted } = this.kept;
    const room = here > rest ? high - rest : rest - low;
    const tilt = room > 0.05 ? Math.min(1, Math.abs(here - rest) / room) * Math.sign(here - rest) : 0;
    const free = Math.max(0, Math.abs(tilt) - dead) / (1 - dead);
    return Math.sign(tilt) * free * (inverted ? -1 : 1);
  }

  private keep(): void {
    remember(this.key, JSON.stringify(this.kept));
  }
}

function reading(pad: Gamepad, source: string): number | null {
  const at = Number(source.slice(1));
  const value = source.startsWith("a") ? pad.axes[at] : source.startsWith("b") ? pad.buttons[at]?.value : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A button rests at zero, an axis in its middle. */
function fresh(source: string): Pick<Kept, "source" | "rest" | "low" | "high"> {
  return { source, rest: 0, low: source.startsWith("b") ? 0 : -1, high: 1 };
}

/** The first inputs follow the left stick, one that only grows follows a trigger. */
function plain(input: Input, place: number): Kept {
  const grows = input.initial === input.low;
  const source = place < 2 ? `a${place}` : grows ? `b${place + 4}` : place < 4 ? `a${place}` : "";
  return { ...fresh(source), inverted: source.startsWith("a") && place % 2 === 1, dead: 0.08 };
}

function restored(key: string): Kept | null {
  try {
    const kept = JSON.parse(recall(key) ?? "null") as Partial<Kept> | null;
    const numbers = [kept?.rest, kept?.low, kept?.high, kept?.dead];
    const isWhole = typeof kept?.source === "string" && typeof kept.inverted === "boolean";
    if (isWhole && numbers.every((number) => Number.isFinite(number))) return kept as Kept;
  } catch {
    // What cannot be read is as good as nothing.
  }
  return null;
}
