// What rigid bodies look like.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, EdgesGeometry, Group,
  LatheGeometry, LineSegments, Mesh, Object3D, SphereGeometry, TorusGeometry, Vector2, Vector3,
} from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Shape } from "./scene";
import type { Palette, Role } from "./palette";

/** A body at its own origin; what is round lies along x. */
export function bodyObject(
  shape: Shape, shop: { palette: Palette; size: number }, role: Role, group?: number, colour?: string,
): Object3D {
  const { palette, size } = shop;
  const material = colour === undefined ? palette.material(role, group) : palette.coloured(colour);
  const along = new Group();
  const add = (geometry: BufferGeometry, edges = false) => {
    along.add(new Mesh(geometry, material));
    if (edges) along.add(new LineSegments(new EdgesGeometry(geometry, 30), palette.edge));
  };
  switch (shape.form) {
    case "sphere":
      add(new SphereGeometry(shape.radius, 32, 20));
      break;
    case "point":
      add(new SphereGeometry(0.018 * size, 24, 16));
      break;
    case "box":
      add(new BoxGeometry(...shape.sides), true);
      break;
    case "capsule":
      add(new CapsuleGeometry(shape.radius, shape.length, 8, 24).rotateZ(Math.PI / 2));
      break;
    case "cylinder":
      add(cylinder(shape.radius, shape.inner, shape.length), true);
      along.add(new LineSegments(diameters(shape.radius, shape.inner, shape.length), palette.edge));
      break;
    case "wheel":
      along.add(...wheel(shape.radius, shape.width, palette));
      break;
    case "mesh": {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(shape.points.flat()), 3));
      geometry.setIndex(shape.triangles.flat());
      geometry.computeVertexNormals();
      add(geometry, true);
      break;
    }
  }
  return along;
}

function cylinder(radius: number, inner: number, length: number): BufferGeometry {
  if (inner <= 0) return new CylinderGeometry(radius, radius, length, 40).rotateZ(-Math.PI / 2);
  const [low, high] = [-length / 2, length / 2];
  const corners = [[inner, low], [radius, low], [radius, high], [inner, high], [inner, low]];
  // A corner twice keeps its edge sharp.
  const profile = corners.flatMap(([r, y], i) => {
    const corner = new Vector2(r, y);
    return i === 0 || i === corners.length - 1 ? [corner] : [corner, corner.clone()];
  });
  return new LatheGeometry(profile, 40).rotateZ(-Math.PI / 2);
}

/** Lines across both ends, by which one sees that something round turns. */
function diameters(radius: number, inner: number, length: number): BufferGeometry {
  const points: Vector3[] = [];
  for (const x of [-0.502 * length, 0.502 * length]) {
    for (const side of [-1, 1]) {
      points.push(new Vector3(x, side * inner, 0), new Vector3(x, side * radius, 0));
    }
  }
  return new BufferGeometry().setFromPoints(points);
}

function wheel(radius: number, width: number, palette: Palette): Mesh[] {
  const section = Math.min(0.5 * width, 0.35 * radius);
  const tyre = new TorusGeometry(radius - section, section, 16, 48).rotateY(Math.PI / 2);
  tyre.scale(width / (2 * section), 1, 1);
  const hub = new CylinderGeometry(0.2 * radius, 0.2 * radius, 0.7 * width, 24).rotateZ(Math.PI / 2);
  const spokes = Array.from({ length: 5 }, (_, spoke) => {
    const length = radius - section;
    const bar = new BoxGeometry(0.3 * width, length, 0.12 * radius).translate(0, length / 2, 0);
    return bar.rotateX((2 * Math.PI * spoke) / 5);
  });
  const rim = mergeGeometries([hub, ...spokes]);
  return [new Mesh(tyre, palette.material("tyre")), new Mesh(rim, palette.material("rim"))];
}
