// Materials by what they stand for; the theme paints them all at once.

import { Color, DoubleSide, FrontSide, LineBasicMaterial, MeshStandardMaterial } from "three";
import type { Theme } from "./theme";

export type Role =
  | "body" | "bar" | "beam" | "shell" | "spring" | "actuator" | "rod" | "joint" | "support"
  | "grain" | "contact" | "load" | "tyre" | "rim";

/** Parts have colours of their own; these things look the same in all parts. */
const COMMON: Role[] = ["joint", "support", "contact", "load", "tyre", "rim", "rod"];

export class Palette {
  private readonly solid = new Map<string, { material: MeshStandardMaterial; role: Role; group?: number }>();
  private readonly own = new Map<string, MeshStandardMaterial>();
  readonly edge = new LineBasicMaterial({ transparent: true, opacity: 0.35 });
  readonly path = new LineBasicMaterial();
  /** For what is coloured by a quantity. */
  readonly tinted = new MeshStandardMaterial({ roughness: 0.7, metalness: 0, side: DoubleSide, vertexColors: true });

  material(role: Role, group?: number): MeshStandardMaterial {
    const own = COMMON.includes(role) ? undefined : group;
    const key = `${role} ${own}`;
    const known = this.solid.get(key);
    if (known) return known.material;
    const shiny = role === "rod" || role === "rim";
    // Contacts lie between bodies: their forces are seen through them.
    const isSeenThrough = role === "contact";
    const material = new MeshStandardMaterial({
      depthTest: !isSeenThrough,
      transparent: isSeenThrough,
      roughness: shiny ? 0.3 : 0.62,
      metalness: shiny ? 0.6 : 0.08,
      side: role === "shell" ? DoubleSide : FrontSide,
    });
    this.solid.set(key, { material, role, group: own });
    return material;
  }

  /** Of a body with a colour of its own, which no theme changes. */
  coloured(colour: string): MeshStandardMaterial {
    const known = this.own.get(colour);
    if (known) return known;
    // Meshes from elsewhere are not always closed.
    const material = new MeshStandardMaterial({ color: colour, roughness: 0.62, metalness: 0.08, side: DoubleSide });
    this.own.set(colour, material);
    return material;
  }

  paint(theme: Theme): void {
    const common: Record<Role, string> = {
      ...theme,
      shell: theme.beam,
      rod: theme.dark ? "#d5dbe2" : "#aab3be",
      rim: theme.dark ? "#c3cad2" : "#c9d0d8",
    };
    for (const { material, role, group } of this.solid.values()) {
      const color = group === undefined ? common[role] : theme.series[group % theme.series.length];
      material.color.set(color);
      // What is soft is a little lighter than the bodies of the same part.
      if (group !== undefined && role === "spring") material.color.lerp(new Color("#888888"), 0.35);
    }
    this.edge.color.set(theme.dark ? "#000000" : "#10161d");
    this.path.color.set(theme.faint);
  }
}
