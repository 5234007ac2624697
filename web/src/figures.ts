// Things that are drawn, and how they move with the places that they hang on.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, ConeGeometry, CylinderGeometry, Group, InstancedMesh, Line,
  LineSegments, type Material, Matrix4, Mesh, Object3D, Quaternion, SphereGeometry, Vector3,
} from "three";
import type { Anchor, Colours, Item, Quad, Scene } from "./scene";
import { Palette, type Role } from "./palette";
import type { Places } from "./places";
import { Pool } from "./pool";
import { bodyObject } from "./shapes";
import { type Scales, Tint } from "./tint";
import { Tube } from "./tube";

export interface Figure {
  object: Object3D;
  update(places: Places, row: Float32Array): void;
  /** Learns what it is called, where its object does not say so. */
  called?(name: string): void;
}

/** What figures are made with. */
export interface Workshop {
  palette: Palette;
  /** How large the scene is. */
  size: number;
  up: Vector3;
  scales: Scales;
  pool: Pool;
  /** Length of an arrow per newton; contacts that are stronger than usual are cut off. */
  arrowScale(force: number, of: Role): number;
}

const UP = new Vector3(0, 1, 0);
/** Of a beam. */
const SIDES = 12;

export function figures(scene: Scene, places: Places, shop: Workshop): Figure[] {
  return scene.items.map((item) => {
    const figure = make(item, places, shop, scene.groups.length > 0 && item.group === undefined);
    const part = item.group === undefined ? "" : scene.groups[item.group] ?? "";
    const name = item.name === part ? part : [item.name, part && `(${part})`].filter(Boolean).join(" ");
    figure.object.traverse((child) => {
      child.userData.name = name;
      if (child instanceof Mesh) {
        child.castShadow = true;
        child.receiveShadow = true;
      }
    });
    figure.called?.(name);
    return figure;
  });
}

/** What belongs to no part where there are parts is ground. */
function make(item: Item, places: Places, shop: Workshop, isGround: boolean): Figure {
  const material = (role: Role) => shop.palette.material(role, item.group);
  switch (item.kind) {
    case "body":
      return placed(bodyObject(item.shape, shop, isGround ? "support" : "body", item.group, item.colour), item.on);
    case "bar":
      return bar(item.through, 0.009 * shop.size, material("bar"), shop.pool);
    case "beam": {
      const tube = new Tube(item.through.length, 0.011 * shop.size, SIDES);
      const path = item.through.map(() => new Vector3());
      const tint = item.colours && new Tint(item.colours, SIDES, 1, shop.scales);
      if (tint) tube.geometry.setAttribute("color", tint.attribute);
      return {
        object: new Mesh(tube.geometry, tint ? shop.palette.tinted : material("beam")),
        update: (places, row) => {
          item.through.forEach((anchor, i) => places.point(anchor, path[i]));
          tube.set(path);
          tint?.update(row);
        },
      };
    }
    case "shell":
      return shell(item.nodes, item.faces, item.colours, shop, item.group);
    case "spring":
      return spring(item.ends, new Mesh(coil(shop.size), material("spring")));
    case "actuator":
      return actuator(item.ends, places, shop, item.group);
    case "joint": {
      const r = 0.017 * shop.size;
      if (item.symbol === "pin") return pin(item.on, r, material("joint"), shop.pool);
      return placed(new Mesh(new BoxGeometry(1.6 * r, 1.6 * r, 3 * r), material("joint")), item.on);
    }
    case "support":
      return support(item.on, shop);
    case "grains":
      return grains(item.at, item.stride, item.radii, shop, item.group);
    case "arrow":
      return arrow(item.from, item.vector, shop, item.force);
    // It stays where it is: `RoadFigure` draws it.
    case "road":
      return { object: new Group(), update: () => {} };
    case "path": {
      const points = item.points.map((point) => new Vector3(...point));
      const line = new Line(new BufferGeometry().setFromPoints(points), shop.palette.path);
      return { object: line, update: () => {} };
    }
  }
}

function pin(on: Anchor, radius: number, material: Material, pool: Pool): Figure {
  const pins = pool.copies(`pin ${radius}`, material, () => new SphereGeometry(radius, 20, 14));
  const copy = pins.claim();
  const place = new Vector3();
  return {
    object: new Group(),
    update: (places) => pins.at(copy, places.point(on, place)),
    called: (name) => pins.name(copy, name),
  };
}

function placed(object: Object3D, on: Anchor): Figure {
  return {
    object,
    update: (places) => {
      places.point(on, object.position);
      places.turn(on, object.quaternion);
    },
  };
}

/** Puts something that reaches from 0 to 1 along y between two points. */
function between(object: Object3D, a: Vector3, b: Vector3, ahead: Vector3): void {
  ahead.subVectors(b, a);
  const length = ahead.length();
  object.position.copy(a);
  object.scale.y = Math.max(length, 1e-9);
  if (length > 0) object.quaternion.setFromUnitVectors(UP, ahead.divideScalar(length));
}

function rod(radius: number, sides = 16): BufferGeometry {
  return new CylinderGeometry(radius, radius, 1, sides).translate(0, 0.5, 0);
}

function bar(through: Anchor[], radius: number, material: Material, pool: Pool): Figure {
  const points = through.map(() => new Vector3());
  const rods = pool.copies(`rod ${radius}`, material, () => rod(radius));
  const balls = pool.copies(`ball ${radius}`, material, () => new SphereGeometry(radius, 16, 12));
  const between = through.slice(1).map(() => rods.claim());
  const ends = through.map(() => balls.claim());
  return {
    object: new Group(),
    update: (places) => {
      through.forEach((anchor, i) => balls.at(ends[i], places.point(anchor, points[i])));
      between.forEach((copy, i) => rods.between(copy, points[i], points[i + 1]));
    },
    called: (name) => {
      for (const copy of between) rods.name(copy, name);
      for (const copy of ends) balls.name(copy, name);
    },
  };
}

/** A coil from 0 to 1 along y; its wire is drawn out with it. */
function coil(size: number): BufferGeometry {
  const [turns, steps, radius] = [7, 14, 0.02 * size];
  const path = [new Vector3(0, 0, 0), new Vector3(0, 0.1, 0)];
  for (let i = 0; i <= turns * steps; i += 1) {
    const angle = (2 * Math.PI * i) / steps;
    const y = 0.12 + (0.76 * i) / (turns * steps);
    path.push(new Vector3(radius * Math.cos(angle), y, radius * Math.sin(angle)));
  }
  path.push(new Vector3(0, 0.9, 0), new Vector3(0, 1, 0));
  // Made thick along y at about the length that it will have.
  const length = 0.25 * size;
  const tube = new Tube(path.length, 0.0035 * size, 8);
  tube.set(path.map((point) => new Vector3(point.x, point.y * length, point.z)));
  return tube.geometry.scale(1, 1 / length, 1);
}

function spring(ends: [Anchor, Anchor], mesh: Mesh): Figure {
  const [a, b, ahead] = [new Vector3(), new Vector3(), new Vector3()];
  return {
    object: mesh,
    update: (places) => between(mesh, places.point(ends[0], a), places.point(ends[1], b), ahead),
  };
}

function actuator(ends: [Anchor, Anchor], places: Places, shop: Workshop, group?: number): Figure {
  const [a, b, end, ahead] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  const length = 0.6 * places.point(ends[0], a).distanceTo(places.point(ends[1], b));
  const barrel = new Mesh(rod(0.02 * shop.size, 24), shop.palette.material("actuator", group));
  const piston = new Mesh(rod(0.009 * shop.size), shop.palette.material("rod"));
  const both = new Group();
  both.add(barrel, piston);
  return {
    object: both,
    update: (places) => {
      places.point(ends[0], a);
      places.point(ends[1], b);
      ahead.subVectors(b, a).setLength(Math.min(length, a.distanceTo(b)));
      end.addVectors(a, ahead);
      between(barrel, a, end, ahead);
      between(piston, a, b, ahead);
    },
  };
}

function support(on: Anchor, shop: Workshop): Figure {
  const height = 0.045 * shop.size;
  const cone = new Mesh(
    new ConeGeometry(0.6 * height, height, 4).rotateY(Math.PI / 4).translate(0, -height / 2, 0),
    shop.palette.material("support"),
  );
  cone.quaternion.setFromUnitVectors(UP, shop.up);
  return { object: cone, update: (places) => void places.point(on, cone.position) };
}

function shell(nodes: number[], faces: Quad[], colours: Colours | undefined, shop: Workshop, group?: number): Figure {
  const geometry = new BufferGeometry();
  const position = new BufferAttribute(new Float32Array(3 * nodes.length), 3);
  geometry.setAttribute("position", position);
  geometry.setIndex(faces.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]));
  const lines = new BufferGeometry();
  lines.setAttribute("position", position);
  lines.setIndex(faces.flatMap(([a, b, c, d]) => [a, b, b, c, c, d, d, a]));
  const both = new Group();
  const tint = colours && new Tint(colours, 1, 0, shop.scales);
  if (tint) geometry.setAttribute("color", tint.attribute);
  const material = tint ? shop.palette.tinted : shop.palette.material("shell", group);
  both.add(new Mesh(geometry, material), new LineSegments(lines, shop.palette.edge));
  both.traverse((child) => (child.frustumCulled = false));
  return {
    object: both,
    update: (places, row) => {
      tint?.update(row);
      nodes.forEach((node, i) => {
        const { x, y, z } = places.origins[node];
        position.setXYZ(i, x, y, z);
      });
      position.needsUpdate = true;
      geometry.computeVertexNormals();
      geometry.computeBoundingSphere();
    },
  };
}

function grains(at: number, stride: number, radii: number[], shop: Workshop, group?: number): Figure {
  const ball = new SphereGeometry(1, radii.length > 2000 ? 10 : 18, radii.length > 2000 ? 7 : 12);
  const mesh = new InstancedMesh(ball, shop.palette.material("grain", group), radii.length);
  mesh.frustumCulled = false;
  const [matrix, place, turn, scale] = [new Matrix4(), new Vector3(), new Quaternion(), new Vector3()];
  return {
    object: mesh,
    update: (_places, row) => {
      radii.forEach((radius, i) => {
        const first = at + stride * i;
        place.fromArray(row, first);
        if (stride >= 7) turn.set(row[first + 4], row[first + 5], row[first + 6], row[first + 3]);
        mesh.setMatrixAt(i, matrix.compose(place, turn, scale.setScalar(radius)));
      });
      mesh.instanceMatrix.needsUpdate = true;
    },
  };
}

function arrow(from: number, vector: number, shop: Workshop, role: Role): Figure {
  const material = shop.palette.material(role);
  const radius = 0.005 * shop.size;
  const head = 0.035 * shop.size;
  const shaft = new Mesh(rod(radius, 10), material);
  const tip = new Mesh(new ConeGeometry(2.6 * radius, head, 14).translate(0, head / 2, 0), material);
  const both = new Group();
  both.add(shaft, tip);
  const [start, end, ahead] = [new Vector3(), new Vector3(), new Vector3()];
  return {
    object: both,
    update: (_places, row) => {
      start.fromArray(row, from);
      ahead.fromArray(row, vector);
      const force = ahead.length();
      const isThere = Number.isFinite(force + start.x + start.y + start.z) && force > 0;
      shaft.visible = isThere;
      tip.visible = isThere;
      if (!isThere) return;
      end.copy(start).addScaledVector(ahead, shop.arrowScale(force, role));
      between(shaft, start, end, ahead);
      tip.position.copy(end);
      tip.quaternion.copy(shaft.quaternion);
    },
  };
}
