// The scene in three dimensions: light, camera, what is drawn.

import {
  Box3, DirectionalLight, Group, HemisphereLight, Line, type Object3D, PerspectiveCamera, PCFSoftShadowMap, Quaternion, Raycaster, Scene as World,
  SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Cameras, type Ride } from "./cameras";
import { type Figure, figures } from "./figures";
import { Ghost } from "./ghost";
import { Ground } from "./ground";
import { Palette } from "./palette";
import { Places, reach } from "./places";
import { Pool } from "./pool";
import type { Reel } from "./reel";
import { RoadFigure } from "./road";
import type { Item, Road } from "./scene";
import { Sky } from "./sky";
import type { Theme } from "./theme";
import { Scales } from "./tint";

export type CameraMode = "orbit" | "follow" | Ride;

/** The longest arrow as a fraction of the size of the scene. */
const LONGEST_ARROW = 0.18;
/** So many bars, joints and springs have their full thickness. */
const CROWD = 20;
/** Instants at which the extent of a motion is looked at. */
const LOOKS = 60;
/** The angle of the view from top to bottom, in degrees, where no camera says otherwise. */
const FIELD = 38;
/** How far one sees where there is a road, in m. */
const FAR = 2500;

export class View {
  private readonly world = new World();
  /** All that is of the model. */
  private readonly things = new Group();
  readonly places: Places;
  readonly size: number;
  mode: CameraMode = "orbit";
  /** The frame that is followed, or from which the driver looks. */
  followed = 0;
  private readonly renderer: WebGLRenderer;
  private readonly camera: PerspectiveCamera;
  private readonly controls: OrbitControls;
  private readonly palette = new Palette();
  private readonly drawn: Figure[];
  private readonly items: Item[];
  /** What colours stand for. */
  readonly scales: Scales;
  private readonly ground: Ground;
  private readonly road: RoadFigure | null;
  private readonly sky: Sky | null;
  private readonly cameras: Cameras;
  private readonly ghost: Ghost | null;
  private readonly up: Vector3;
  /** The frame that travels, and where it was at first; none is -1. */
  private readonly rider: number;
  private readonly start = new Vector3();
  /** How all frames are turned at first. */
  private readonly firstTurns: Quaternion[];
  private readonly box: Box3;
  private readonly row: Float32Array;
  private readonly before = new Vector3();
  private readonly sun = new DirectionalLight("#ffffff", 2.1);
  private time = 0;
  private strongest = 0;
  private dirty = true;

  /** Throws where there is no WebGL. */
  constructor(readonly canvas: HTMLCanvasElement, reel: Reel, private readonly turned: (axes: Vector3[]) => void) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    // What is drawn for shadows counts too.
    this.renderer.info.autoReset = false;
    const scene = reel.scene;
    this.up = new Vector3(...scene.up);
    if (this.up.lengthSq() === 0) this.up.set(0, 0, 1);
    this.up.normalize();
    this.places = new Places(scene, reel);
    this.row = new Float32Array(scene.width);
    this.box = this.extent(reel);
    this.size = Math.max(this.box.getSize(new Vector3()).length(), 1e-6);
    reel.sample(reel.first, this.row);
    this.places.update(this.row);
    this.rider = scene.follow ?? -1;
    this.firstTurns = this.places.turns.map((turn) => turn.clone());
    this.start.copy(this.places.origins[this.rider] ?? this.start);
    // Beside the longest of impacts nothing else would be seen.
    const arrows = scene.items.filter((item) => item.kind === "arrow");
    const pressing = arrows.filter((item) => item.force === "contact").map((item) => item.vector);
    this.strongest = reel.usual(pressing);
    for (const item of arrows) {
      if (item.force === "contact") continue;
      const of = (at: number) => reel.largest(item.vector + at);
      this.strongest = Math.max(this.strongest, Math.hypot(of(0), of(1), of(2)));
    }
    // Where much is drawn, it is drawn slender.
    const small = scene.items.filter((item) => ["bar", "joint", "spring", "actuator"].includes(item.kind));
    const slender = Math.min(1, Math.max(0.35, (CROWD / Math.max(1, small.length)) ** 0.5));
    this.items = scene.items;
    this.scales = new Scales(scene, reel);
    const pool = new Pool();
    this.drawn = figures(scene, this.places, {
      palette: this.palette,
      pool,
      size: slender * this.size,
      up: this.up,
      scales: this.scales,
      arrowScale: (force, of) => {
        const isCut = of === "contact" && this.strongest > 0;
        if (!isCut) this.strongest = Math.max(this.strongest, force);
        return (LONGEST_ARROW * this.size) / Math.max(this.strongest, force);
      },
    });
    this.things.add(...this.drawn.map((figure) => figure.object), ...pool.finish());
    for (const figure of this.drawn) figure.update(this.places, this.row);
    this.world.add(this.things);
    const centre = this.box.getCenter(new Vector3());
    this.ground = new Ground(centre, this.up, this.size, this.lowest() - 0.04 * this.size);
    const road = roadOf(scene.items);
    this.road = road ? new RoadFigure(road) : null;
    this.sky = road ? new Sky(this.world, this.up) : null;
    this.world.add(this.road ? this.road.object : this.ground.object);
    const rider = scene.rider ?? { frame: 0 };
    this.cameras = new Cameras(rider, road, this.up, this.size);
    this.ghost = road && scene.rider ? this.haunt(scene.rider.frame) : null;
    this.light(centre);
    this.camera = new PerspectiveCamera(FIELD, 1, this.near, road ? FAR : 60 * this.size);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxDistance = 20 * this.size;
    this.controls.addEventListener("change", () => this.touch());
    this.fit();
  }

  /** Nearer things are not drawn: a driver has his own car right before him. */
  private get near(): number {
    return (this.road ? 0.012 : 0.003) * this.size;
  }

  /** Whether there are cameras beside a road. */
  get hasTrackside(): boolean {
    return this.cameras.hasPosts;
  }

  get gridSpacing(): number | null {
    return this.road ? null : this.ground.spacing;
  }

  /** What is within reach of the rider, once more. */
  private haunt(frame: number): Ghost {
    const bodies = this.drawn.filter((_, i) => this.items[i].kind === "body").map(({ object }) => object);
    const ghost = new Ghost(bodies, this.places, frame);
    this.world.add(ghost.object);
    return ghost;
  }

  /** Where the best lap was, if it is to be seen. */
  haunts(pose: Float32Array | null): void {
    this.ghost?.show(pose);
    this.canvas.dataset.ghost = String(pose !== null);
  }

  /** All that is drawn over the whole motion, as far as it is known. */
  private extent(reel: Reel): Box3 {
    const box = new Box3();
    const [point, margin] = [new Vector3(), new Vector3()];
    // Of what travels, the size of the thing itself counts, not that of its way.
    const most = reel.scene.follow === undefined ? LOOKS : 1;
    const looks = Math.min(most, Math.max(reel.count, 1));
    for (let look = 0; look < looks; look += 1) {
      const index = Math.round((look * (reel.count - 1)) / Math.max(1, looks - 1));
      reel.sample(reel.count > 0 ? reel.time(index) : 0, this.row);
      this.places.update(this.row);
      const add = (radius: number) => {
        if (!Number.isFinite(point.x + point.y + point.z)) return;
        margin.setScalar(radius);
        box.expandByPoint(point.clone().add(margin)).expandByPoint(point.clone().sub(margin));
      };
      for (const item of reel.scene.items) {
        if (item.kind === "body") {
          this.places.point(item.on, point);
          add(reach(item.shape));
        } else if (item.kind === "grains") {
          item.radii.forEach((radius, i) => {
            point.fromArray(this.row, item.at + item.stride * i);
            add(radius);
          });
        } else if (item.kind === "shell") {
          for (const node of item.nodes) {
            point.copy(this.places.origins[node]);
            add(0);
          }
        } else if ("through" in item || "ends" in item) {
          for (const anchor of "through" in item ? item.through : item.ends) {
            this.places.point(anchor, point);
            add(0);
          }
        } else if (item.kind === "joint" || item.kind === "support") {
          this.places.point(item.on, point);
          add(0);
        }
      }
    }
    if (box.isEmpty()) box.set(new Vector3(-0.5, -0.5, -0.5), new Vector3(0.5, 0.5, 0.5));
    return box;
  }

  private lowest(): number {
    const { min, max } = this.box;
    const corners = [min.x, max.x].flatMap((x) =>
      [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new Vector3(x, y, z))),
    );
    return Math.min(...corners.map((corner) => corner.dot(this.up)));
  }

  private light(centre: Vector3): void {
    const { sun } = this;
    const sky = new HemisphereLight("#ffffff", "#8f98a3", 1.7);
    sky.position.copy(this.up);
    const side = new Vector3(0.4, -0.55, 0.3).addScaledVector(this.up, 1.1);
    sun.position.copy(centre).addScaledVector(side, 2 * this.size);
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.normalBias = 0.004 * this.size;
    const reach = 0.9 * this.size;
    Object.assign(sun.shadow.camera, {
      left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * this.size, far: 6 * this.size,
    });
    this.world.add(sky, sun, sun.target);
  }

  /** Light and ground go with somebody who travels. */
  private travel(place: Vector3): void {
    this.sun.position.add(place).sub(this.sun.target.position);
    this.sun.target.position.copy(place);
    this.ground.under(place);
  }

  /** Looks at everything: from the front at what moves in a plane, else from a corner above. */
  fit(): void {
    const centre = this.box.getCenter(new Vector3());
    // What travels is no longer where it was at first.
    const gone = this.places.origins[this.rider];
    if (gone) centre.add(gone).sub(this.start);
    this.mode = "orbit";
    this.travel(centre);
    const extent = this.box.getSize(new Vector3());
    const right = this.right(extent);
    const front = new Vector3().crossVectors(right, this.up).normalize();
    const thickness = Math.abs(extent.dot(front)) / this.size;
    const beside = thickness < 0.25 ? 0.28 : 0.75;
    const direction = front.clone().addScaledVector(right, beside).addScaledVector(this.up, 0.42).normalize();
    const half = (this.camera.fov * Math.PI) / 360;
    const tall = Math.abs(extent.dot(this.up));
    const wide = Math.max(Math.abs(extent.dot(right)), 0.6 * Math.abs(extent.dot(front)));
    const aspect = Math.max(this.camera.aspect, 0.3);
    const needed = Math.max(tall, wide / aspect, 0.35 * this.size) / 2;
    const distance = (1.3 * needed) / Math.tan(half) + 0.3 * Math.abs(extent.dot(front));
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.controls.target.copy(centre);
    this.controls.update();
    this.touch();
  }

  /** The horizontal axis along which the scene is longest. */
  private right(extent: Vector3): Vector3 {
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    const flat = axes.filter((axis) => Math.abs(axis.dot(this.up)) < 0.7);
    return flat.reduce((best, axis) => (extent.dot(axis) > 1.2 * extent.dot(best) ? axis : best));
  }

  look(mode: CameraMode, frame: number): void {
    if (rides(this.mode) && !rides(mode)) {
      this.mode = mode;
      this.fit();
    }
    this.mode = mode;
    this.followed = frame;
    this.controls.enabled = !rides(mode);
    if (!rides(mode)) this.zoom(FIELD);
    this.before.copy(this.places.origins[frame] ?? this.before);
    if (mode === "follow") {
      this.camera.position.add(this.before).sub(this.controls.target);
      this.controls.target.copy(this.before);
    }
    this.move();
  }

  /** Something changed: the next picture is drawn. */
  touch(): void {
    this.dirty = true;
  }

  /** Moves everything to where a row says. */
  show(row: Float32Array, time: number): void {
    this.time = time;
    this.places.update(row);
    for (const figure of this.drawn) figure.update(this.places, row);
    this.move();
  }

  private move(): void {
    const origin = this.places.origins[this.followed];
    if (this.mode === "follow" && origin) {
      const shift = origin.clone().sub(this.before);
      this.camera.position.add(shift);
      this.controls.target.add(shift);
      this.before.copy(origin);
      this.travel(this.controls.target);
    }
    if (rides(this.mode) && origin) {
      const turn = this.places.turns[this.followed] ?? new Quaternion();
      const upright = this.firstTurns[this.followed] ?? new Quaternion();
      const shot = this.cameras.see(this.mode, this.time, origin, turn, upright);
      this.camera.position.copy(shot.place);
      this.camera.quaternion.copy(shot.turn);
      this.zoom(shot.angle);
      this.travel(origin);
    }
    this.touch();
  }

  private zoom(angle: number): void {
    if (this.camera.fov === angle) return;
    this.camera.fov = angle;
    this.camera.updateProjectionMatrix();
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.setSize(width, height, false);
    const first = this.camera.aspect === 1;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (first) this.fit();
    this.touch();
  }

  paint(theme: Theme): void {
    this.palette.paint(theme);
    this.ground.paint(theme);
    this.road?.paint(theme);
    this.sky?.paint(theme);
    this.ghost?.paint(theme);
    this.renderer.setClearColor(theme.background);
    this.touch();
  }

  /** Draws if anything changed. */
  render(always = false): void {
    if (!rides(this.mode)) this.controls.update();
    if (!this.dirty && !always) return;
    this.dirty = false;
    this.sky?.around(this.camera.position);
    this.renderer.info.reset();
    this.renderer.render(this.world, this.camera);
    // What a picture costs.
    const { calls, triangles } = this.renderer.info.render;
    Object.assign(this.canvas.dataset, { calls: String(calls), triangles: String(triangles) });
    const back = this.camera.quaternion.clone().invert();
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    this.turned(axes.map((axis) => axis.applyQuaternion(back)));
  }

  /** Arrows are shown, or not. */
  showForces(are: boolean): void {
    this.drawn.forEach(({ object }, i) => {
      if (this.items[i].kind === "arrow") object.visible = are;
    });
    this.touch();
  }

  /** All that is of the model, with its places as they are shown. */
  updated(): Object3D {
    this.things.updateMatrixWorld(true);
    return this.things;
  }

  /** Does something with the bodies alone: other programs make edges of their own. */
  async withoutLines<T>(work: (things: Object3D) => Promise<T>): Promise<T> {
    const lines: Object3D[] = [];
    this.things.traverse((object) => object instanceof Line && object.visible && lines.push(object));
    for (const line of lines) line.visible = false;
    try {
      return await work(this.things);
    } finally {
      for (const line of lines) line.visible = true;
    }
  }

  /** The name of what is at a place of the canvas, from -1 to 1. */
  nameAt(x: number, y: number): string {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), this.camera);
    const objects = this.drawn.map((figure) => figure.object);
    const hit = ray.intersectObjects([...objects, ...this.things.children.filter(isMany)], true)[0];
    if (!hit) return "";
    const { name, names } = hit.object.userData as { name?: string; names?: string[] };
    return (names && hit.instanceId !== undefined ? names[hit.instanceId] : name) ?? "";
  }
}

/** Whether a camera goes where something goes, without hands that turn it. */
function rides(mode: CameraMode): mode is Ride {
  return mode !== "orbit" && mode !== "follow";
}

function isMany(object: Object3D): boolean {
  return Array.isArray(object.userData.names);
}

function roadOf(items: Item[]): Road | undefined {
  return items.find((item) => item.kind === "road") as Road | undefined;
}
