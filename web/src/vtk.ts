// The scene as it stands, for ParaView and its like: surfaces as triangles, balls as points with radii.

import { InstancedMesh, Line, LineSegments, Matrix4, Mesh, type Object3D, Vector3 } from "three";

/** Text of a legacy VTK file. Cells have the number of their item, balls their radius. */
export function vtk(title: string, time: number, things: Object3D): string {
  const points: string[] = [];
  const radii: number[] = [];
  const cells = { vertices: [] as number[][], lines: [] as number[][], polygons: [] as number[][] };
  const items = { vertices: [] as number[], lines: [] as number[], polygons: [] as number[] };
  const [place, matrix] = [new Vector3(), new Matrix4()];
  const point = (radius: number) => {
    points.push(place.toArray().map((x) => Number(x.toPrecision(7))).join(" "));
    radii.push(radius);
    return points.length - 1;
  };
  const add = (kind: keyof typeof cells, corners: number[], item: number) => {
    cells[kind].push(corners);
    items[kind].push(item);
  };
  things.children.forEach((figure, item) => {
    figure.traverseVisible((object) => {
      if (object instanceof InstancedMesh) {
        for (let i = 0; i < object.count; i += 1) {
          object.getMatrixAt(i, matrix);
          matrix.premultiply(object.matrixWorld);
          place.setFromMatrixPosition(matrix);
          add("vertices", [point(matrix.getMaxScaleOnAxis())], item);
        }
        return;
      }
      if (!(object instanceof Mesh || object instanceof Line)) return;
      const corners = object.geometry.getAttribute("position");
      const first = points.length;
      for (let i = 0; i < corners.count; i += 1) {
        place.fromBufferAttribute(corners, i).applyMatrix4(object.matrixWorld);
        point(0);
      }
      const index = object.geometry.getIndex();
      const order = index ? Array.from(index.array, Number) : Array.from({ length: corners.count }, (_, i) => i);
      const at = order.map((i) => first + i);
      if (object instanceof LineSegments) {
        for (let i = 0; i + 1 < at.length; i += 2) add("lines", at.slice(i, i + 2), item);
      } else if (object instanceof Line) {
        add("lines", at, item);
      } else {
        for (let i = 0; i + 2 < at.length; i += 3) add("polygons", at.slice(i, i + 3), item);
      }
    });
  });
  const section = (kind: keyof typeof cells) => {
    const all = cells[kind];
    if (all.length === 0) return [];
    const size = all.reduce((sum, corners) => sum + corners.length + 1, 0);
    return [`${kind.toUpperCase()} ${all.length} ${size}`, ...all.map((corners) => [corners.length, ...corners].join(" "))];
  };
  const numbers = [...items.vertices, ...items.lines, ...items.polygons];
  return [
    "# vtk DataFile Version 3.0",
    // One line of at most 256 characters is for people.
    title.replace(/\s+/g, " ").slice(0, 200),
    "ASCII",
    "DATASET POLYDATA",
    "FIELD FieldData 1",
    "TIME 1 1 double",
    String(time),
    `POINTS ${points.length} float`,
    ...points,
    ...section("vertices"),
    ...section("lines"),
    ...section("polygons"),
    `CELL_DATA ${numbers.length}`,
    "SCALARS item int 1",
    "LOOKUP_TABLE default",
    ...numbers.map(String),
    `POINT_DATA ${points.length}`,
    "SCALARS radius float 1",
    "LOOKUP_TABLE default",
    ...radii.map(String),
    "",
  ].join("\n");
}
