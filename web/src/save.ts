// Pictures, videos and scenes for other programs.

import { GLTFExporter } from "three/examples/jsm/exporters/GLTFExporter.js";
import type { Player } from "./player";
import type { Reel } from "./reel";
import type { View } from "./view";
import { vtk } from "./vtk";

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A name for a file, of the title. */
export function fileName(reel: Reel, ending: string): string {
  const plain = reel.scene.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${plain || "oldham"}${ending}`;
}

export function savePicture(view: View, reel: Reel): void {
  view.render(true);
  view.canvas.toBlob((blob) => blob && download(blob, fileName(reel, ".png")), "image/png");
}

export async function saveScene(view: View, reel: Reel): Promise<void> {
  const whole = await view.withoutLines((figures) =>
    new GLTFExporter().parseAsync(figures, { binary: true, onlyVisible: true }),
  );
  download(new Blob([whole as ArrayBuffer], { type: "model/gltf-binary" }), fileName(reel, ".glb"));
}

export function saveVtk(view: View, reel: Reel, time: number): void {
  const text = vtk(reel.scene.title, time, view.updated());
  download(new Blob([text], { type: "text/plain" }), fileName(reel, ".vtk"));
}

/** Records the canvas while the motion plays once. */
export class Video {
  private recorder: MediaRecorder | null = null;

  constructor(private readonly view: View, private readonly reel: Reel, private readonly player: Player) {}

  static get isPossible(): boolean {
    return typeof MediaRecorder !== "undefined" && "captureStream" in HTMLCanvasElement.prototype;
  }

  get recording(): boolean {
    return this.recorder !== null;
  }

  start(ended: () => void): void {
    const kinds = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
    const kind = kinds.find((kind) => MediaRecorder.isTypeSupported(kind));
    const recorder = new MediaRecorder(this.view.canvas.captureStream(30), {
      mimeType: kind,
      videoBitsPerSecond: 8_000_000,
    });
    const pieces: Blob[] = [];
    recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
    recorder.addEventListener("stop", () => {
      this.recorder = null;
      const ending = recorder.mimeType.includes("mp4") ? ".mp4" : ".webm";
      download(new Blob(pieces, { type: recorder.mimeType }), fileName(this.reel, ending));
      ended();
    });
    this.recorder = recorder;
    if (this.reel.scene.source === "recorded") {
      Object.assign(this.player, { time: this.reel.first, playing: true, loop: false, live: false });
    }
    recorder.start();
  }

  stop(): void {
    this.recorder?.stop();
  }

  /** Ends with the motion. */
  watch(): void {
    if (this.recorder?.state === "recording" && this.reel.scene.source === "recorded" && !this.player.playing) {
      this.stop();
    }
  }
}
