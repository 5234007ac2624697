// The page: finds its film, and keeps scene, plots and controls at one time.

import { Vector3 } from "three";
import { Course } from "./course";
import { Dash } from "./dash";
import { Drive, label } from "./drive";
import { element, isTyping, make, on, option } from "./dom";
import { Laps, type Point } from "./lap";
import { Live, type Status } from "./live";
import { picker } from "./picker";
import { Player } from "./player";
import { Plot, number, unit } from "./plot";
import { Reel } from "./reel";
import { Ride } from "./ride";
import { Video, savePicture, saveScene, saveVtk } from "./save";
import type { Road, Signal } from "./scene";
import { choose, isDark, restore, theme } from "./theme";
import { View, type CameraMode } from "./view";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

async function load(token: string): Promise<Reel> {
  const inside = element("film").textContent?.trim();
  if (inside) {
    const text = atob(inside);
    return Reel.read(Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer);
  }
  const answer = await fetch(`film?token=${encodeURIComponent(token)}`);
  if (!answer.ok) throw new Error(await answer.text());
  return Reel.read(await answer.arrayBuffer());
}

class Page {
  private readonly player: Player;
  private readonly view: View | null;
  private readonly video: Video | null;
  private readonly row: Float32Array;
  private readonly plots: Plot[] = [];
  private readonly live: Live | null;
  private readonly drive: Drive | null;
  private readonly shownEnergies: { at: number; unit: string; cell: HTMLElement }[] = [];
  /** Takes the camera that the scene asks for. */
  private first = () => {};
  private shown = NaN;
  private rows = -1;
  private legend = "";
  private laps: Laps | null = null;
  private readonly dash: Dash | null;
  private readonly ride: Ride | null;
  private readonly course: Course | null;
  /** The last row that the course has seen. */
  private drivenTo = -Infinity;
  private readonly pose = new Float32Array(7);
  private readonly haunted = new Float32Array(7);
  private before = performance.now();
  private readonly slider = element<HTMLInputElement>("slider");
  private readonly time = element("time");

  constructor(private readonly reel: Reel, token: string) {
    const { scene } = reel;
    this.player = new Player(reel);
    this.row = new Float32Array(scene.width);
    document.title = scene.title;
    element("title").textContent = scene.title;
    element("description").textContent = scene.description;
    this.view = this.open();
    this.video = this.view && Video.isPossible ? new Video(this.view, reel, this.player) : null;
    this.controls();
    this.groups();
    this.signals();
    this.live = scene.source === "live" ? this.connect(token) : null;
    this.drive = this.live && scene.inputs.length > 0 ? new Drive(scene.inputs, scene.signals, this.live) : null;
    const road = scene.items.find((item) => item.kind === "road") as Road | undefined;
    const rider = scene.rider && scene.frames[scene.rider.frame];
    const up = new Vector3(...scene.up);
    this.ride = rider?.moves === "freely" ? new Ride(reel, rider.at, up) : null;
    this.course = road && this.ride ? new Course(road) : null;
    this.dash = this.instruments();
    this.keys();
    this.paint();
    const resized = new ResizeObserver(() => this.view?.resize());
    resized.observe(element("view"));
    this.view?.resize();
    this.first();
    requestAnimationFrame((now) => this.tick(now));
  }

  /** Without WebGL there is no scene; everything else works. */
  private open(): View | null {
    try {
      return new View(element<HTMLCanvasElement>("scene"), this.reel, (axes) => this.triad(axes));
    } catch (error) {
      for (const id of ["png", "video", "gltf", "vtk", "camera", "followed", "fit"]) {
        element<HTMLButtonElement>(id).disabled = true;
      }
      element("scene").hidden = true;
      tell(
        "This browser shows no WebGL, so there is no picture in three dimensions.\n" +
          "Turn hardware acceleration on in its settings, or open the page in another browser.\n" +
          `The plots work without. (${error instanceof Error ? error.message : String(error)})`,
      );
      return null;
    }
  }

  private controls(): void {
    const { player, reel, view } = this;
    const speed = element<HTMLSelectElement>("speed");
    speed.append(...SPEEDS.map((factor) => option(String(factor), `${factor} \u00d7`)));
    player.speed = this.calmSpeed();
    speed.value = String(player.speed);
    speed.addEventListener("change", () => (player.speed = Number(speed.value)));
    const loop = element<HTMLInputElement>("loop");
    loop.addEventListener("change", () => (player.loop = loop.checked));
    on("play", "click", () => player.toggle());
    on("live", "click", () => player.goLive());
    this.slider.addEventListener("input", () => {
      player.playing = false;
      player.seek(Number(this.slider.value));
    });
    const camera = element<HTMLSelectElement>("camera");
    const followed = element<HTMLSelectElement>("followed");
    reel.scene.frames.forEach((frame, i) => {
      if (frame.moves !== "not") followed.append(option(String(i), frame.name));
    });
    const look = () => {
      element("of").hidden = camera.value === "orbit";
      view?.look(camera.value as CameraMode, Number(followed.value));
    };
    camera.addEventListener("change", look);
    followed.addEventListener("change", look);
    if (reel.scene.follow !== undefined) {
      camera.value = "follow";
      followed.value = String(reel.scene.follow);
    }
    element("of").hidden = camera.value === "orbit";
    const isRidden = reel.scene.rider !== undefined;
    camera.querySelectorAll<HTMLOptionElement>("option").forEach((choice) => {
      const isThere = choice.value === "chase" ? isRidden : choice.value !== "trackside" || view?.hasTrackside === true;
      if (!isThere) choice.remove();
    });
    if (view?.hasTrackside) camera.value = "chase";
    this.first = look;
    on("fit", "click", () => {
      camera.value = "orbit";
      look();
      view?.fit();
    });
    const forces = element("forces");
    forces.hidden = !reel.scene.items.some((item) => item.kind === "arrow");
    forces.addEventListener("click", () => {
      const shown = forces.getAttribute("aria-pressed") === "false";
      forces.setAttribute("aria-pressed", String(shown));
      view?.showForces(shown);
    });
    on("theme", "click", () => {
      choose(!isDark());
      this.paint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    on("keys", "click", () => element<HTMLDialogElement>("help").showModal());
    on("png", "click", () => view && savePicture(view, reel));
    on("gltf", "click", () => view && void saveScene(view, reel));
    on("vtk", "click", () => view && saveVtk(view, reel, player.time));
    const record = element("video");
    if (!this.video) (record as HTMLButtonElement).disabled = true;
    record.addEventListener("click", () => {
      if (this.video?.recording) return this.video.stop();
      record.setAttribute("aria-pressed", "true");
      this.video?.start(() => {
        record.setAttribute("aria-pressed", "false");
        player.loop = loop.checked;
      });
    });
    const canvas = element<HTMLCanvasElement>("scene");
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons !== 0 || !view) return;
      const box = canvas.getBoundingClientRect();
      const x = (2 * (event.clientX - box.left)) / box.width - 1;
      element("hover").textContent = view.nameAt(x, 1 - (2 * (event.clientY - box.top)) / box.height);
    });
    canvas.addEventListener("pointerleave", () => (element("hover").textContent = ""));
  }

  /** A speed at which a motion lasts some seconds. */
  private calmSpeed(): number {
    const length = this.reel.last - this.reel.first;
    if (!(length > 0) || (length >= 2 && length <= 60)) return 1;
    return SPEEDS.reduce((best, factor) =>
      Math.abs(Math.log(length / factor / 6)) < Math.abs(Math.log(length / best / 6)) ? factor : best,
    );
  }

  private groups(): void {
    const { scene } = this.reel;
    const used = new Set(scene.items.map((item) => item.group));
    const entries = scene.groups.flatMap((name, i) => {
      if (!used.has(i) || scene.groups.length < 2) return [];
      const mark = make("i");
      mark.dataset.series = String(i % 8);
      return [make("li", "", mark, make("span", name))];
    });
    element("groups").replaceChildren(...entries);
    element("notes").replaceChildren(...scene.notes.map((note) => make("p", note)));
  }

  private signals(): void {
    const { signals } = this.reel.scene;
    const of = (role: Signal["role"]) => signals.filter((signal) => signal.role === role);
    const energies = of("energy");
    if (energies.length > 0) this.plot(energies);
    of("output").slice(0, 2).forEach((signal) => this.plot([signal]));
    picker(signals, (signal) => {
      const plot = this.plot([signal]);
      plot.element.scrollIntoView({ block: "nearest" });
    });
    const spurious = of("spurious");
    const isWhole = (signal: Signal) => signal.name.startsWith("energy.");
    this.table("whole", [...energies, ...spurious.filter(isWhole)]);
    const interfaces = spurious.filter((signal) => !isWhole(signal));
    this.table("interfaces", interfaces);
    element("energy").hidden = energies.length + spurious.length === 0;
    element("exchange").hidden = interfaces.length === 0;
    element<HTMLDetailsElement>("exchange").open = interfaces.length < 3;
  }

  /** Lines of a table whose values follow the time. */
  private table(id: string, signals: Signal[]): void {
    const lines = signals.map((signal) => {
      const name = signal.name.replace(/^(energy|exchange)\./, "").replace("imbalance", "spurious");
      const cell = make("td");
      this.shownEnergies.push({ at: signal.at, unit: signal.unit, cell });
      return make("tr", "", make("td", name.replace("<->", " \u2194 ")), cell);
    });
    element(id).replaceChildren(make("tbody", "", ...lines));
  }

  private plot(signals: Signal[]): Plot {
    const plot = new Plot(
      this.reel,
      signals,
      (time) => {
        this.player.playing = false;
        this.player.seek(time);
      },
      (changed) => {
        if (changed.signals.length === 0) {
          this.plots.splice(this.plots.indexOf(changed), 1);
          changed.element.remove();
        }
        this.shown = NaN;
      },
    );
    this.plots.push(plot);
    element("plots").append(plot.element);
    this.shown = NaN;
    return plot;
  }

  private connect(token: string): Live {
    element("live").hidden = false;
    element("status").hidden = false;
    const lost = () => this.status(null);
    return new Live(this.reel, token, (status) => this.status(status), lost);
  }

  /** What the model has instruments for, and what somebody drives. */
  private instruments(): Dash | null {
    const { inputs, signals, gauges } = this.reel.scene;
    const levers = inputs.flatMap((input) => {
      const at = signals.find(({ name }) => name === input.name)?.at;
      return at === undefined ? [] : [{ input, at, name: label(inputs, input) }];
    });
    const isWanted = gauges.length > 0 || this.course !== null;
    return isWanted ? new Dash(gauges, levers, this.ride !== null, this.course !== null) : null;
  }

  private status(status: Status | null): void {
    const line = (name: string, value: string) => make("div", "", make("span", name), make("span", value));
    const panel = element("status");
    if (!status) {
      panel.append(Object.assign(make("p", "The connection is lost: the program has ended."), { className: "failed" }));
      return;
    }
    this.drive?.tell(status);
    this.player.runs = status.run.state === "running";
    const { run, viewers, note } = status;
    const lines: HTMLElement[] = [
      make("h2", `Run: ${run.state}`),
      line("simulated seconds per second", number(run.real_time_factor)),
    ];
    if (run.step_us) {
      const [median, p99, longest] = run.step_us.map((time) => number(time));
      lines.push(line("step, median", `${median} \u00b5s`), line("99 % below", `${p99} \u00b5s`), line("longest", `${longest} \u00b5s`));
    }
    if (run.missed !== null) lines.push(line("deadlines missed", String(run.missed)));
    const latency = this.drive?.latency.usual ?? null;
    if (latency !== null) lines.push(line("from hand to row", `${latency.toFixed(0)} ms`));
    lines.push(line("viewers", String(viewers)));
    if (note) lines.push(make("p", note));
    if (run.message) {
      const message = make("p", run.message);
      message.className = run.state;
      lines.push(message);
    }
    panel.replaceChildren(...lines);
  }

  private keys(): void {
    addEventListener("keydown", (event) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (element<HTMLDialogElement>("help").open) return;
      const act = this.action(event);
      if (!act) return;
      act();
      event.preventDefault();
    });
  }

  private action(event: KeyboardEvent): (() => void) | undefined {
    const { player } = this;
    const camera = (mode: string) => () => {
      const select = element<HTMLSelectElement>("camera");
      if (![...select.options].some(({ value }) => value === mode)) return;
      select.value = mode;
      select.dispatchEvent(new Event("change"));
    };
    const faster = (by: number) => () => {
      const speed = element<HTMLSelectElement>("speed");
      const at = SPEEDS.indexOf(player.speed) + by;
      player.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))];
      speed.value = String(player.speed);
    };
    const rows = event.shiftKey ? 10 : 1;
    const click = (id: string) => () => element(id).click();
    // A button in focus takes the space bar for itself.
    if (event.key === " " && event.target instanceof HTMLButtonElement) return undefined;
    const actions: Record<string, () => void> = {
      " ": () => player.toggle(),
      ArrowLeft: () => player.step(-rows),
      ArrowRight: () => player.step(rows),
      Home: () => player.seek(this.reel.first),
      End: () => player.seek(this.reel.last),
      "+": faster(1),
      "=": faster(1),
      "-": faster(-1),
      l: click("loop"),
      f: click("fit"),
      g: click("forces"),
      p: click("png"),
      t: click("theme"),
      "?": click("keys"),
      "/": () => element("search").focus(),
      "1": camera("orbit"),
      "2": camera("follow"),
      "3": camera("driver"),
      "4": camera("chase"),
      "5": camera("trackside"),
    };
    return actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  }

  private paint(): void {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    this.view?.paint(theme());
    this.shown = NaN;
  }

  /** The axes as the camera sees them. */
  private triad(axes: Vector3[]): void {
    const svg = element("triad");
    const order = [0, 1, 2].sort((a, b) => axes[a].z - axes[b].z);
    svg.replaceChildren(
      ...order.flatMap((i) => {
        const { x, y } = axes[i];
        const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        const numbers = { x2: 24 * x, y2: -24 * y };
        for (const [key, value] of Object.entries(numbers)) line.setAttribute(key, value.toFixed(1));
        text.setAttribute("x", (32 * x).toFixed(1));
        text.setAttribute("y", (-32 * y).toFixed(1));
        text.textContent = "xyz"[i];
        line.setAttribute("class", `a${i}`);
        text.setAttribute("class", `a${i}`);
        return [line, text];
      }),
    );
  }

  private tick(now: number): void {
    const seconds = Math.min(0.25, (now - this.before) / 1000);
    this.before = now;
    this.player.advance(seconds);
    this.drive?.advance(seconds, this.row);
    const { reel } = this;
    if (reel.count > 0) this.drive?.listen((at) => reel.value(reel.count - 1, at));
    this.countLaps();
    this.drives();
    if (this.player.time !== this.shown || this.reel.count !== this.rows) this.update();
    this.view?.render(this.video?.recording);
    this.video?.watch();
    const play = element("play");
    const symbol = this.player.playing ? "\u23f8\ufe0e" : "\u25b6\ufe0e";
    if (play.textContent !== symbol) {
      play.textContent = symbol;
      play.setAttribute("aria-label", this.player.playing ? "Pause" : "Play");
    }
    element("live").setAttribute("aria-pressed", String(this.player.live));
    requestAnimationFrame((next) => this.tick(next));
  }

  /** Laps of what travels, as far as it has come. */
  private countLaps(): void {
    const { reel, drive } = this;
    const frame = reel.scene.frames[reel.scene.follow ?? -1];
    // A road has lines of its own.
    if (!drive || this.course || frame?.moves !== "freely" || reel.count === 0) return;
    const at = (index: number, first: number, count: number) => Array.from({ length: count }, (_, i) => reel.value(index, first + i));
    const place = (index: number) => at(index, frame.at, 3) as Point;
    if (!this.laps) {
      const [w, x, y, z] = at(0, frame.at + 3, 4);
      // The first axis of the frame.
      const ahead: Point = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)];
      this.laps = new Laps(reel.first, place(0), ahead);
    }
    const newest = reel.count - 1;
    this.laps.at(reel.last, place(newest));
    drive.tellLaps(this.laps, reel.last);
  }

  /** Follows what rides along the road, row by row; rows that come again are those of another try. */
  private drives(): void {
    const { course, reel } = this;
    const frame = reel.scene.frames[reel.scene.rider?.frame ?? -1];
    if (!course || frame?.moves !== "freely" || reel.count === 0) return;
    const back = reel.takeReturn();
    if (back !== null && back <= this.drivenTo) this.drivenTo = reel.before(back);
    const first = this.drivenTo < reel.first ? 0 : reel.index(this.drivenTo) + 1;
    for (let i = first; i < reel.count; i += 1) {
      for (let k = 0; k < 7; k += 1) this.pose[k] = reel.value(i, frame.at + k);
      course.at(reel.time(i), this.pose);
    }
    this.drivenTo = reel.last;
  }

  /** Instruments, and the ghost, at the time that is shown. */
  private tells(): void {
    const { course, dash, player, reel, ride, row } = this;
    const frame = reel.scene.frames[reel.scene.rider?.frame ?? -1];
    let told = null;
    if (course && frame?.moves === "freely") {
      const along = course.along([row[frame.at], row[frame.at + 1], row[frame.at + 2]]);
      told = course.told(player.time, along);
      const since = told.now;
      const isThere = since !== null && course.ghost(since, this.haunted);
      // A lap that is its own ghost has none.
      const apart = Math.hypot(...[0, 1, 2].map((k) => this.haunted[k] - row[frame.at + k]));
      this.view?.haunts(isThere && apart > 0.3 ? this.haunted : null);
    }
    dash?.show(row, ride?.motion(player.time) ?? null, told);
  }

  private update(): void {
    const { player, reel, row } = this;
    const { first, last } = reel;
    this.shown = player.time;
    this.rows = reel.count;
    reel.sample(player.time, row);
    this.view?.show(row, player.time);
    this.tells();
    Object.assign(this.slider, { min: String(first), max: String(last) });
    this.slider.value = String(player.time);
    const digits = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(Math.max(last - first, 1e-9)))));
    this.time.textContent = `${player.time.toFixed(digits)} s`;
    this.slider.setAttribute("aria-valuetext", this.time.textContent);
    for (const plot of this.plots) plot.draw(player.time, row);
    this.energies();
    this.scale();
  }

  private grid(spacing: number | null): string {
    return spacing === null ? "" : `grid ${number(spacing).replace(/\.?0+$/, "")} m`;
  }

  private energies(): void {
    for (const { at, unit: name, cell } of this.shownEnergies) {
      cell.textContent = `${number(this.row[at])} ${unit(name)}`;
    }
  }

  private scale(): void {
    if (!this.view) return;
    const lumped = this.reel.scene.frames.some((frame) => frame.moves === "along");
    const factor = this.view.places.scale;
    const words = lumped
      ? `displacements drawn ${factor >= 1 ? `${factor} times larger` : `${Number((1 / factor).toPrecision(3))} times smaller`}`
      : this.grid(this.view.gridSpacing);
    const text = lumped && factor === 1 ? "displacements as they are" : words;
    if (element("scale").textContent !== text) element("scale").textContent = text;
    const legend = this.view.scales.entries().map(({ name, unit: of, largest }) => `${name} \u00b1${number(largest)} ${unit(of)}`);
    if (legend.join() === this.legend) return;
    this.legend = legend.join();
    element("legend").replaceChildren(...legend.map((text) => make("li", "", make("i"), make("span", text))));
  }
}

function tell(message: string): void {
  const place = element("message");
  place.textContent = message;
  place.hidden = false;
}

restore();
const token = new URLSearchParams(location.search).get("token") ?? "";
load(token).then(
  (reel) => {
    new Page(reel, token);
    document.body.dataset.ready = "true";
  },
  (error: unknown) => tell(`The film cannot be shown.\n${error instanceof Error ? error.message : String(error)}`),
);
