// The scene in three dimensions: light, camera, what is drawn.

import {
  Box3, DirectionalLight, Group, HemisphereLight, Line, type Object3D, PerspectiveCamera, PCFSoftShadowMap, Quaternion, Raycaster, Scene as World,
  SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { type Figure, figures } from "./figures";
import { Ground } from "./ground";
import { Palette } from "./palette";
import { Places, reach } from "./places";
import type { Reel } from "./reel";
import type { Item } from "./scene";
import type { Theme } from "./theme";
import { Scales } from "./tint";

export type CameraMode = "orbit" | "follow" | "driver";

/** The longest arrow as a fraction of the size of the scene. */
const LONGEST_ARROW = 0.18;
/** So many bars, joints and springs have their full thickness. */
const CROWD = 20;
/** Instants at which the extent of a motion is looked at. */
const LOOKS = 60;

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
  private readonly up: Vector3;
  private readonly box: Box3;
  private readonly row: Float32Array;
  private readonly before = new Vector3();
  private readonly sun = new DirectionalLight("#ffffff", 2.1);
  private strongest = 0;
  private dirty = true;

  /** Throws where there is no WebGL. */
  constructor(readonly canvas: HTMLCanvasElement, reel: Reel, private readonly turned: (axes: Vector3[]) => void) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
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
    this.drawn = figures(scene, this.places, {
      palette: this.palette,
      size: slender * this.size,
      up: this.up,
      scales: this.scales,
      arrowScale: (force, of) => {
        const isCut = of === "contact" && this.strongest > 0;
        if (!isCut) this.strongest = Math.max(this.strongest, force);
        return (LONGEST_ARROW * this.size) / Math.max(this.strongest, force);
      },
    });
    this.things.add(...this.drawn.map((figure) => figure.object));
    this.world.add(this.things);
    const centre = this.box.getCenter(new Vector3());
    this.ground = new Ground(centre, this.up, this.size, this.lowest() - 0.04 * this.size);
    this.world.add(this.ground.object);
    this.light(centre);
    this.camera = new PerspectiveCamera(38, 1, 0.003 * this.size, 60 * this.size);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxDistance = 20 * this.size;
    this.controls.addEventListener("change", () => this.touch());
    this.fit();
  }

  get gridSpacing(): number {
    return this.ground.spacing;
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
    if (this.mode === "driver" && mode !== "driver") {
      this.mode = mode;
      this.fit();
    }
    this.mode = mode;
    this.followed = frame;
    this.controls.enabled = mode !== "driver";
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
  show(row: Float32Array): void {
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
    if (this.mode === "driver" && origin) {
      const turn = this.places.turns[this.followed] ?? new Quaternion();
      const ahead = new Vector3(1, 0, 0).applyQuaternion(turn);
      this.camera.position.copy(origin).addScaledVector(this.up, 0.06 * this.size).addScaledVector(ahead, -0.02 * this.size);
      this.camera.lookAt(this.camera.position.clone().addScaledVector(ahead, this.size));
      this.travel(origin);
    }
    this.touch();
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
    this.renderer.setClearColor(theme.background);
    this.touch();
  }

  /** Draws if anything changed. */
  render(always = false): void {
    if (this.mode !== "driver") this.controls.update();
    if (!this.dirty && !always) return;
    this.dirty = false;
    this.renderer.render(this.world, this.camera);
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
    return (ray.intersectObjects(objects, true)[0]?.object.userData.name as string) ?? "";
  }
}
