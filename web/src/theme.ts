// Colours, light and dark.

export interface Theme {
  dark: boolean;
  background: string;
  ground: string;
  line: string;
  text: string;
  faint: string;
  body: string;
  bar: string;
  beam: string;
  spring: string;
  actuator: string;
  joint: string;
  support: string;
  grain: string;
  contact: string;
  load: string;
  tyre: string;
  /** Of parts and of curves: told apart by most kinds of sight. */
  series: string[];
}

const LIGHT: Theme = {
  dark: false,
  background: "#eef1f5",
  ground: "#d4dae2",
  line: "#b3bdc9",
  text: "#1d2733",
  faint: "#5c6875",
  body: "#5b83ad",
  bar: "#465468",
  beam: "#2f6fb0",
  spring: "#4d8a57",
  actuator: "#c08a2d",
  joint: "#2a3441",
  support: "#7a8593",
  grain: "#c49a6c",
  contact: "#c2410c",
  load: "#8b2fb8",
  tyre: "#2b2f36",
  series: ["#0b6bb5", "#c65314", "#1a8a5f", "#a4408f", "#8a6d00", "#2596a8", "#b3273c", "#59636e"],
};

const DARK: Theme = {
  dark: true,
  background: "#12171d",
  ground: "#222a33",
  line: "#36414d",
  text: "#e6ebf1",
  faint: "#9aa7b5",
  body: "#7ba7d4",
  bar: "#a3b1c2",
  beam: "#6cb1f2",
  spring: "#7fc48b",
  actuator: "#e3b45c",
  joint: "#dbe3ec",
  support: "#7d8996",
  grain: "#d9b48a",
  contact: "#ff8a4c",
  load: "#cf8bf0",
  tyre: "#454c56",
  series: ["#5ab0f5", "#f2925a", "#4cc796", "#dd8ccb", "#d8ba4a", "#5cc9dc", "#f27c8b", "#a9b4bf"],
};

export function theme(): Theme {
  return isDark() ? DARK : LIGHT;
}

/** What somebody has chosen; as the system has it otherwise. */
let chosen: "dark" | "light" | null = null;

export function isDark(): boolean {
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Remembers a choice where the browser lets us; a page without a server has no such place. */
export function choose(dark: boolean): void {
  chosen = dark ? "dark" : "light";
  remember("theme", chosen);
}

export function restore(): void {
  const kept = recall("theme");
  if (kept === "dark" || kept === "light") chosen = kept;
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`oldham.${key}`, value);
  } catch {
    // A choice that cannot be kept holds for this visit.
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`oldham.${key}`);
  } catch {
    return null;
  }
}
