// What the server says of a scene. The names are those of `crates/web/src/scene.rs`.

export type Triple = [number, number, number];
export type Quad = [number, number, number, number];

export interface Scene {
  title: string;
  description: string;
  source: "recorded" | "live";
  up: Triple;
  width: number;
  frames: Frame[];
  follow?: number;
  items: Item[];
  groups: string[];
  signals: Signal[];
  inputs: Input[];
  rider?: Rider;
  gauges: Gauge[];
  notes: string[];
}

export type Frame = { name: string } & (
  | { moves: "not"; base: Triple }
  | { moves: "freely"; at: number }
  | { moves: "along"; at: number; base: Triple; room?: number }
  | { moves: "about"; at: number; base: Triple }
);

export interface Anchor {
  frame: number;
  offset: Triple;
  turn?: Quad;
}

export type Item = { name: string; group?: number; colour?: string } & Drawing;

export type Drawing =
  | { kind: "body"; on: Anchor; shape: Shape }
  | { kind: "bar"; through: Anchor[] }
  | { kind: "beam"; through: Anchor[]; colours?: Colours }
  | { kind: "shell"; nodes: number[]; faces: Quad[]; colours?: Colours }
  | { kind: "spring"; ends: [Anchor, Anchor] }
  | { kind: "actuator"; ends: [Anchor, Anchor] }
  | { kind: "joint"; symbol: "pin" | "slide"; on: Anchor }
  | { kind: "support"; on: Anchor }
  | { kind: "grains"; at: number; stride: number; radii: number[] }
  | { kind: "arrow"; force: "contact" | "load"; from: number; vector: number }
  | { kind: "path"; points: Triple[] }
  | ({ kind: "road" } & Road);

/** A road along a closed centre line. Cross-sections go from left to right, and follow each other from the start on. */
export interface Road {
  length: number;
  across: number[];
  points: Triple[];
  kerbs: [number, number, boolean][];
  cones: [Triple, Triple][];
  gates: [Triple, Triple][];
  land?: { origin: [number, number]; spacing: number; columns: number; heights: number[] };
}

export interface Rider {
  frame: number;
  eye?: Triple;
}

export interface Gauge {
  label: string;
  at: number;
  unit: string;
  factor: number;
  range?: [number, number];
}

/** For each point, the places in the row of numbers whose mean its colour shows. */
export interface Colours {
  name: string;
  unit: string;
  of: number[][];
}

export type Shape =
  | { form: "sphere"; radius: number }
  | { form: "box"; sides: Triple }
  | { form: "cylinder"; radius: number; inner: number; length: number }
  | { form: "capsule"; radius: number; length: number }
  | { form: "wheel"; radius: number; width: number }
  | { form: "point" }
  | { form: "mesh"; points: Triple[]; triangles: Triple[] };

export interface Signal {
  name: string;
  unit: string;
  at: number;
  role?: "energy" | "spurious" | "output";
}

export interface Input {
  name: string;
  component: number;
  unit: string;
  initial: number;
  low: number;
  high: number;
  feedback?: { name: string; unit: string; at: number; full: number };
}
