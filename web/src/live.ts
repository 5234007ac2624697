// The connection to a model that runs.

import type { Reel } from "./reel";

export interface Status {
  driver: "you" | "wheel" | "other" | "nobody";
  viewers: number;
  note: string;
  run: {
    state: "running" | "paused" | "finished" | "failed";
    message: string;
    real_time_factor: number;
    step_us: [number, number, number] | null;
    missed: number | null;
    returns: boolean;
  };
}

export type Wish =
  | { wish: "drive" | "leave" | "pause" | "go-on" | "reset" | "save" | "restart" | "end" }
  | { wish: "set"; input: number; value: number };

export class Live {
  private readonly socket: WebSocket;
  /** Rows that came, and their bytes. */
  received = { rows: 0, bytes: 0 };

  constructor(
    reel: Reel,
    token: string,
    told: (status: Status) => void,
    lost: () => void,
  ) {
    this.socket = new WebSocket(`ws://${location.host}/live?token=${token}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") told(JSON.parse(event.data) as Status);
      else {
        this.received.rows += 1;
        this.received.bytes += event.data.byteLength;
        reel.push(event.data);
      }
    });
    this.socket.addEventListener("close", lost);
  }

  wish(wish: Wish): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish));
  }
}
