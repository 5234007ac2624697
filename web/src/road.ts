// A road and the land around it, as the tyres of the model feel them.

import {
  BufferAttribute, BufferGeometry, ConeGeometry, DataTexture, DoubleSide, Group, InstancedMesh, LinearMipmapLinearFilter, Matrix4, Mesh,
  MeshLambertMaterial, type MeshLambertMaterialParameters, RedFormat, RepeatWrapping, UnsignedByteType,
} from "three";
import type { Road, Triple } from "./scene";
import type { Theme } from "./theme";

/** Land goes on level beyond what the model says of it, as far as one can see, in m. */
const HORIZON = 1500;
/** Lines are painted so wide, in m, and so far above the road that nothing hides them. */
const LINE = 0.12;
const ABOVE = 0.012;
/** Level land lies so far below the road, in m. */
const SUNK = 0.03;
/** Length of a stripe of a kerb, in cross-sections. */
const STRIPE = 2;
/** A cone of the size that competitions use, in m. */
const CONE = { radius: 0.114, height: 0.325 };

interface Paint {
  grass: string;
  road: string;
  line: string;
  kerbs: [string, string];
  cones: string;
}

const LIGHT: Paint = { grass: "#7f9a5d", road: "#6d7076", line: "#f4f4f2", kerbs: ["#c8322b", "#f0efec"], cones: "#e8742c" };
const DARK: Paint = { grass: "#3d4d34", road: "#4b4f55", line: "#c9ccd0", kerbs: ["#9c2c27", "#b9b9b4"], cones: "#d9702f" };

export class RoadFigure {
  readonly object = new Group();
  private readonly paved = surface(0.5);
  private readonly grass = surface(1);
  /** The same where the road goes first. */
  private readonly field = surface(1, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 });
  private readonly line = new MeshLambertMaterial({ polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
  private readonly kerb = [new MeshLambertMaterial({ side: DoubleSide }), new MeshLambertMaterial({ side: DoubleSide })];
  private readonly cone = new MeshLambertMaterial();

  constructor(private readonly road: Road) {
    const { across, kerbs, gates } = road;
    const edges = across.length === 7 ? [2, 4] : [1, 3];
    const last = across.length - 1;
    const add = (geometry: BufferGeometry, material: MeshLambertMaterial) => {
      const mesh = new Mesh(geometry, material);
      mesh.receiveShadow = true;
      this.object.add(mesh);
    };
    const columns = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    add(this.strip(columns(edges[0], edges[1])), this.paved);
    add(joined([this.strip(columns(0, edges[0])), this.strip(columns(edges[1], last))]), this.grass);
    add(this.land(), this.field);
    const lines = [this.painted(edges[0], -1), this.painted(edges[1], 1), ...gates.map(([left, right], i) => band(left, right, i === 0 ? 0.5 : 0.2))];
    add(joined(lines), this.line);
    if (kerbs.length > 0) {
      for (const colour of [0, 1]) {
        const stripes = kerbs.flatMap(([from, to, isLeft]) => this.stripes(from, to, isLeft ? [1, 2] : [4, 5], colour));
        add(joined(stripes), this.kerb[colour]);
      }
    }
    this.stand();
  }

  get count(): number {
    return this.road.points.length / this.road.across.length;
  }

  /** A point of a cross-section, which may be counted beyond the lap. */
  private point(section: number, column: number): Triple {
    const { count, road } = this;
    const wrapped = ((section % count) + count) % count;
    return road.points[wrapped * road.across.length + column];
  }

  /** Quadrilaterals between neighbouring columns of all cross-sections. */
  private strip(columns: number[]): BufferGeometry {
    const corners: Triple[] = [];
    for (let i = 0; i <= this.count; i += 1) for (const column of columns) corners.push(this.point(i, column));
    return meshed(corners, columns.length);
  }

  /** A line inside an edge of the road. */
  private painted(column: number, inwards: number): BufferGeometry {
    const { across } = this.road;
    const part = LINE / Math.abs(across[column - inwards] - across[column]);
    const corners: Triple[] = [];
    for (let i = 0; i <= this.count; i += 1) {
      const [edge, middle] = [this.point(i, column), this.point(i, column - inwards)];
      const inner = edge.map((x, k) => x + part * (middle[k] - x)) as Triple;
      const pair = inwards < 0 ? [edge, inner] : [inner, edge];
      for (const [x, y, z] of pair) corners.push([x, y, z + ABOVE]);
    }
    return meshed(corners, 2);
  }

  private stripes(from: number, to: number, columns: [number, number], colour: number): BufferGeometry[] {
    const stripes: BufferGeometry[] = [];
    for (let i = from; i < to; i += 1) {
      if (Math.floor((i - from) / STRIPE) % 2 !== colour) continue;
      const corners = [i, i + 1].flatMap((section) => columns.map((column) => this.point(section, column)));
      stripes.push(meshed(corners.map(([x, y, z]) => [x, y, z + ABOVE / 2]), 2));
    }
    return stripes;
  }

  /** What the model says of the land, and beyond. */
  private land(): BufferGeometry {
    const { origin, spacing, columns, heights } = this.road.land ?? this.level();
    const rows = heights.length / columns;
    const corners: Triple[] = [];
    // From north to south, so that the land looks up; a frame of points around it carries it to the horizon.
    const beyond = (i: number, count: number) => (i < 0 ? -HORIZON : i >= count ? HORIZON : 0);
    for (let row = rows; row >= -1; row -= 1) {
      for (let column = -1; column <= columns; column += 1) {
        const [i, j] = [Math.min(columns - 1, Math.max(0, column)), Math.min(rows - 1, Math.max(0, row))];
        const [x, y] = [origin[0] + spacing * i + beyond(column, columns), origin[1] + spacing * j + beyond(row, rows)];
        corners.push([x, y, heights[j * columns + i]]);
      }
    }
    return meshed(corners, columns + 2);
  }

  /** Land at zero around the road, in pieces: of triangles as large as the land, depths are not exact. */
  private level(): NonNullable<Road["land"]> {
    const { points } = this.road;
    const [spacing, margin] = [8, 60];
    const ends = [0, 1].map((axis) => {
      const values = points.map((point) => point[axis]);
      return [Math.min(...values) - margin, Math.max(...values) + margin];
    });
    const [columns, rows] = ends.map(([low, high]) => Math.ceil((high - low) / spacing) + 1);
    const heights = new Array<number>(columns * rows).fill(-SUNK);
    return { origin: [ends[0][0], ends[1][0]], spacing, columns, heights };
  }

  private stand(): void {
    const places = this.road.cones.flat();
    if (places.length === 0) return;
    const cone = new ConeGeometry(CONE.radius, CONE.height, 10).rotateX(Math.PI / 2).translate(0, 0, CONE.height / 2);
    const cones = new InstancedMesh(cone, this.cone, places.length);
    const matrix = new Matrix4();
    places.forEach(([x, y, z], i) => cones.setMatrixAt(i, matrix.makeTranslation(x, y, z)));
    this.object.add(cones);
  }

  paint(theme: Theme): void {
    const paint = theme.dark ? DARK : LIGHT;
    this.paved.color.set(paint.road);
    this.grass.color.set(paint.grass);
    this.field.color.set(paint.grass);
    this.line.color.set(paint.line);
    this.kerb.forEach((material, i) => material.color.set(paint.kerbs[i]));
    this.cone.color.set(paint.cones);
  }
}

/** Rows of points, from left to right, as a surface with its normals upwards; coordinates of the texture are metres. */
function meshed(corners: Triple[], columns: number): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners.flat()), 3));
  geometry.setAttribute("uv", new BufferAttribute(new Float32Array(corners.flatMap(([x, y]) => [x, y])), 2));
  const index: number[] = [];
  const rows = corners.length / columns;
  for (let row = 0; row + 1 < rows; row += 1) {
    for (let column = 0; column + 1 < columns; column += 1) {
      const a = row * columns + column;
      index.push(a, a + 1, a + columns, a + 1, a + columns + 1, a + columns);
    }
  }
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return upwards(geometry);
}

/** Turns triangles round that look down. */
function upwards(geometry: BufferGeometry): BufferGeometry {
  const normals = geometry.getAttribute("normal");
  let sum = 0;
  for (let i = 0; i < normals.count; i += 1) sum += normals.getZ(i);
  if (sum >= 0) return geometry;
  const index = [...(geometry.index?.array ?? [])];
  for (let i = 0; i < index.length; i += 3) [index[i], index[i + 1]] = [index[i + 1], index[i]];
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}

/** A band across the road. */
function band(left: Triple, right: Triple, width: number): BufferGeometry {
  const [x, y] = [right[0] - left[0], right[1] - left[1]];
  const length = Math.hypot(x, y);
  const ahead = [(-y / length) * (width / 2), (x / length) * (width / 2)];
  const corners: Triple[] = [];
  const count = 8;
  for (let i = 0; i <= count; i += 1) {
    const at = left.map((value, k) => value + (i / count) * (right[k] - value));
    for (const side of [-1, 1]) corners.push([at[0] + side * ahead[0], at[1] + side * ahead[1], at[2] + 1.5 * ABOVE]);
  }
  return meshed(corners, 2);
}

/** Several geometries as one. */
function joined(parts: BufferGeometry[]): BufferGeometry {
  const whole = new BufferGeometry();
  for (const [name, size] of [["position", 3], ["normal", 3], ["uv", 2]] as const) {
    const arrays = parts.map((part) => part.getAttribute(name).array as Float32Array);
    const all = new Float32Array(arrays.reduce((sum, array) => sum + array.length, 0));
    arrays.reduce((at, array) => (all.set(array, at), at + array.length), 0);
    whole.setAttribute(name, new BufferAttribute(all, size));
  }
  let first = 0;
  const index = parts.flatMap((part) => {
    const moved = Array.from(part.index?.array ?? [], (i) => i + first);
    first += part.getAttribute("position").count;
    return moved;
  });
  whole.setIndex(index);
  return whole;
}

/** Something matt with a grain by which one sees how fast it goes by; `metres` for each repetition of the coarse one. */
function surface(coarse: number, more: MeshLambertMaterialParameters = {}): MeshLambertMaterial {
  const material = new MeshLambertMaterial({ map: grain(), ...more });
  const scale = (0.22 / coarse).toFixed(4);
  // The grain at two sizes: the fine one is lost in the distance, where the coarse one still moves.
  material.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      "#include <map_fragment>",
      `float fine = texture2D(map, vMapUv * ${scale} * 3.1).r;
       float rough = texture2D(map, vMapUv * ${scale} * 0.37).r;
       diffuseColor.rgb *= 0.72 + 0.28 * fine + 0.28 * rough;`,
    );
  };
  return material;
}

/** The same grains in every browser: a linear congruence, blurred once. */
function grain(): DataTexture {
  const size = 128;
  let state = 12345;
  const random = () => (state = (1103515245 * state + 12345) % 2147483648) / 2147483648;
  const raw = Float32Array.from({ length: size * size }, random);
  const at = (x: number, y: number) => raw[((y + size) % size) * size + ((x + size) % size)];
  const data = new Uint8Array(size * size);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const blurred = 0.4 * at(x, y) + 0.15 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1));
      data[y * size + x] = Math.round(255 * Math.min(1, Math.max(0, blurred)));
    }
  }
  const texture = new DataTexture(data, size, size, RedFormat, UnsignedByteType);
  texture.wrapS = RepeatWrapping;
  texture.wrapT = RepeatWrapping;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = 4;
  texture.needsUpdate = true;
  return texture;
}
