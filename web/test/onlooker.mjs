// Somebody who looks on without a browser: takes the scene and the newest row, as the page does.

import { randomBytes } from "node:crypto";
import { connect } from "node:net";

/** The scene of a server, and its rows as they come. */
export async function looksOn(url) {
  const { hostname, port, searchParams } = new URL(url);
  const token = searchParams.get("token");
  const film = Buffer.from(await (await fetch(`http://${hostname}:${port}/film?token=${token}`)).arrayBuffer());
  const scene = JSON.parse(film.subarray(20, 20 + film.readUInt32LE(8)).toString());
  const seen = { scene, time: NaN, row: null, leave: () => socket.destroy() };
  const socket = connect(Number(port), hostname);
  const asked = [
    `GET /live?token=${token} HTTP/1.1`, `Host: ${hostname}:${port}`, "Upgrade: websocket", "Connection: Upgrade",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`, "Sec-WebSocket-Version: 13", "", "",
  ];
  socket.write(asked.join("\r\n"));
  let waiting = Buffer.alloc(0);
  let isOpen = false;
  socket.on("error", () => {});
  socket.on("data", (data) => {
    waiting = Buffer.concat([waiting, data]);
    if (!isOpen) {
      const end = waiting.indexOf("\r\n\r\n");
      if (end < 0) return;
      waiting = waiting.subarray(end + 4);
      isOpen = true;
    }
    for (let frame = next(); frame; frame = next()) {
      // A row is binary; what is told of the run is text.
      if (frame.kind !== 2) continue;
      seen.time = frame.content.readDoubleLE(0);
      seen.row = new Float32Array(frame.content.buffer.slice(frame.content.byteOffset + 8, frame.content.byteOffset + frame.content.length));
    }
  });
  const next = () => {
    if (waiting.length < 2) return null;
    const short = waiting[1] & 127;
    const [head, length] = short < 126 ? [2, short] : short === 126 ? [4, waiting.length < 4 ? Infinity : waiting.readUInt16BE(2)] : [10, waiting.length < 10 ? Infinity : Number(waiting.readBigUInt64BE(2))];
    if (waiting.length < head + length) return null;
    const frame = { kind: waiting[0] & 15, content: waiting.subarray(head, head + length) };
    waiting = waiting.subarray(head + length);
    return frame;
  };
  return seen;
}

/** Where a signal is in a row. */
export const place = (scene, name) => {
  const signal = scene.signals.find((signal) => signal.name === name);
  if (!signal) throw new Error(`there is no signal ${name}`);
  return signal.at;
};
