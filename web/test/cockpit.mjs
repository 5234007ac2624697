// Somebody drives laps of a track by keys before a real browser, and looks at them again; others drive cranes.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { looksOn, place } from "./onlooker.mjs";

/** What one picture may cost: an integrated chip draws it 60 times a second. */
const MOST_CALLS = 200;
const MOST_TRIANGLES = 300_000;
/** Straights and bends of the lap, in m. */
const STRAIGHT = 26;
const BEND = 10;

/** An oval with a hill, from the middle of a straight on. */
function oval() {
  const length = 2 * STRAIGHT + 2 * Math.PI * BEND;
  const at = (s) => {
    const [half, arc] = [STRAIGHT / 2, Math.PI * BEND];
    if (s < half) return [s, 0];
    if (s < half + arc) return [half + BEND * Math.sin((s - half) / BEND), BEND - BEND * Math.cos((s - half) / BEND)];
    if (s < half + arc + STRAIGHT) return [half - (s - half - arc), 2 * BEND];
    if (s < half + 2 * arc + STRAIGHT) {
      const turn = (s - half - arc - STRAIGHT) / BEND;
      return [-half - BEND * Math.sin(turn), BEND + BEND * Math.cos(turn)];
    }
    return [s - length, 0];
  };
  const count = Math.round(length / 2);
  const points = Array.from({ length: count }, (_, i) => {
    const s = (i * length) / count;
    return [...at(s), 0.5 * Math.sin((Math.PI * s) / length) ** 4];
  });
  return { length, points };
}

/** The examples with another track in them. */
function smallTrack({ root, scratch }) {
  const folder = join(scratch, "track");
  mkdirSync(folder);
  for (const name of ["formula-student.toml", "drive-car.toml", "drive-track.toml", "parts", "meshes"]) {
    cpSync(join(root, "examples", name), join(folder, name), { recursive: true });
  }
  const { length, points } = oval();
  writeFileSync(join(folder, "handling-track.csv"), `x,y,z\n${points.map((point) => point.map((x) => x.toFixed(4)).join(",")).join("\n")}\n`);
  const model = join(folder, "drive-track.toml");
  const road = join(folder, "parts", "handling-track.toml");
  const text = readFileSync(road, "utf8");
  assert.ok(text.includes("sectors = [150, 300]"));
  writeFileSync(road, text.replace("sectors = [150, 300]", `sectors = [${(length / 3).toFixed(1)}, ${((2 * length) / 3).toFixed(1)}]`));
  return { model, length };
}

/** Keys by which somebody who looks a little ahead stays on the road, at about this speed in m/s. */
function keysAt({ scene, row }, speed) {
  const road = scene.items.find((item) => item.kind === "road");
  const columns = road.across.length;
  const centre = road.points.filter((_, i) => i % columns === (columns - 1) / 2);
  const { at } = scene.frames[scene.rider.frame];
  const [x, y, , w, a, b, c] = row.slice(at, at + 7);
  const ahead = [1 - 2 * (b * b + c * c), 2 * (a * b + w * c)];
  const v = row[place(scene, "car.vx")];
  const far = ([px, py]) => Math.hypot(px - x, py - y);
  const nearest = centre.reduce((best, point, i) => (far(point) < far(centre[best]) ? i : best), 0);
  const goal = centre[(nearest + Math.round(3.5 + 0.35 * v)) % centre.length];
  const to = [goal[0] - x, goal[1] - y];
  const curvature = (2 * (ahead[0] * to[1] - ahead[1] * to[0])) / (to[0] ** 2 + to[1] ** 2);
  // The rack for that, over how far it goes at this speed: see `drive-car.toml`.
  const most = Math.min(0.024, 0.002 + 1.6 / Math.max(1, v * v));
  const wanted = Math.max(-1, Math.min(1, (-0.1 * curvature) / most));
  const steering = row[place(scene, "steering")];
  return {
    ArrowLeft: wanted < steering - 0.1,
    ArrowRight: wanted > steering + 0.1,
    ArrowUp: v < speed,
    d: v > speed + 1.5,
    off: far(centre[nearest]),
  };
}

/** Presses and releases what has changed. */
async function press(page, held, wanted) {
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "d"]) {
    if (Boolean(wanted[key]) === held.has(key)) continue;
    if (wanted[key]) held.add(key);
    else held.delete(key);
    await (wanted[key] ? page.keyboard.down(key) : page.keyboard.up(key));
  }
}

/** What the last picture cost, within what it may; of a road at least so many triangles. */
async function cost(page, what, least = 5000) {
  const { calls, triangles } = await page.$eval("#scene", ({ dataset }) => ({ calls: Number(dataset.calls), triangles: Number(dataset.triangles) }));
  assert.ok(calls > 5 && calls <= MOST_CALLS, `${what}: ${calls} draw calls`);
  assert.ok(triangles >= least && triangles <= MOST_TRIANGLES, `${what}: ${triangles} triangles`);
  return { calls, triangles };
}

/** All cameras show something else, and none costs too much. */
async function cameras({ drawn, picture, shot }, page, name) {
  const seen = [];
  const costs = {};
  for (const [key, camera] of [["3", "driver"], ["4", "chase"], ["5", "trackside"], ["1", "orbit"], ["2", "follow"]]) {
    await page.keyboard.press(key);
    await drawn(page);
    await drawn(page);
    assert.equal(await page.$eval("#camera", (select) => select.value), camera);
    seen.push(await picture(page));
    await shot(page, `${name}-${camera}`);
    costs[camera] = await cost(page, camera);
  }
  // In orbit and follow the camera stays where it was at first.
  for (const [i, one] of seen.slice(0, 4).entries()) for (const other of seen.slice(i + 1, 4)) assert.ok(!one.equals(other), "cameras differ");
  return costs;
}

/** Times at which a recorded motion comes by the start line in its direction, between two rows on the straight line. */
function crossings(lines, step) {
  const names = lines[0].split(",").map((name) => name.split(" ")[0]);
  const [px, py] = ["car.chassis.px", "car.chassis.py"].map((name) => names.indexOf(name));
  const points = lines.slice(1).map((line) => line.split(",")).map((fields) => [Number(fields[px]), Number(fields[py])]);
  return points.flatMap(([x, y], i) => {
    if (i === 0 || !(points[i - 1][0] < 0 && x >= 0 && Math.abs(y) < 5)) return [];
    return [step * (i - x / (x - points[i - 1][0]))];
  });
}

export async function laps_a_track(browser, tools) {
  const { answers, becomesDriver, drawn, oldham, open, replays, scratch, serving, shot, time } = tools;
  const { model } = smallTrack(tools);
  // At half the pace of the clock: keys that are late by a picture in software do not lead off the road.
  const server = await serving("drive", model, "--once", "--real-time", "0.5", "--out", "laps.csv");
  // A small picture: in software a large one takes a fifth of a second.
  const page = await open(browser, server.url, { viewport: { width: 1000, height: 600 } });
  const onlooker = await looksOn(server.url);
  await drawn(page);
  await shot(page, "track-start");
  await becomesDriver(page);
  const held = new Set();
  const worst = { off: 0 };
  const dash = (part) => page.$eval(`#dash ${part}`, (element) => element.textContent);
  // A lap, and some of the next one before its ghost.
  const ends = () => (onlooker.row ? onlooker.row[place(onlooker.scene, "timer.laps")] : 0);
  const limit = performance.now() + 240_000;
  let since = null;
  while (since === null || onlooker.time < since + 4) {
    assert.ok(performance.now() < limit, `after four minutes ${ends()} laps, at ${onlooker.time} s, ${worst.off} m off the line at most`);
    if (onlooker.row) {
      const wanted = keysAt(onlooker, 7);
      worst.off = Math.max(worst.off, wanted.off);
      assert.ok(wanted.off < 12, `${wanted.off} m off the line at ${onlooker.time} s`);
      await press(page, held, wanted);
      if (since === null && ends() >= 1) since = onlooker.time;
    }
    await new Promise((done) => setTimeout(done, 25));
  }
  await page.waitForFunction(() => document.getElementById("scene").dataset.ghost === "true", null, { timeout: 20_000 });
  await shot(page, "track-ghost");
  const costs = await cameras(tools, page, "track");
  const [last, best] = (await page.locator("#dash .laps > div > output:last-child").allTextContents()).slice(-2).map(parseSeconds);
  assert.match(await page.textContent("#status"), /from hand to row[0-9]+ ms/);
  assert.match(await dash(".delta"), /^[+\u2212][0-9.]+$/);
  await press(page, held, {});
  await page.getByRole("button", { name: "End", exact: true }).click();
  const { code, text } = await server.ended;
  assert.equal(code, 0, text);
  onlooker.leave();
  const { summary } = answers(text).at(-1);
  assert.deepEqual(page.complaints.filter((text) => !text.includes("WebSocket")), []);
  await page.close();
  const length = ["--set", `simulation.duration=${(summary.steps * 5e-4).toFixed(9)}`];
  const { drive } = replays([model], { file: "laps.csv", steps: summary.steps, step: 5e-4 });
  // The page, the recorded places and the timer of the model agree on the last lap that was driven.
  const passed = crossings(drive, 5e-4);
  const laps = passed.slice(1).map((end, i) => end - passed[i]);
  assert.ok(laps.length >= 1, `${laps}`);
  assert.ok(Math.abs(last - laps.at(-1)) < 0.02 && Math.abs(best - Math.min(...laps)) < 0.02, `${last} and ${best} of ${laps}`);
  const names = drive[0].split(",").map((name) => name.split(" ")[0]);
  const timed = Number(drive.at(-1).split(",")[names.indexOf("timer.last")]);
  // That one begins its first lap with the run, not at the line.
  const ran = laps.length > 1 ? last : passed[1];
  assert.ok(Math.abs(ran - timed) < 0.02, `${ran}, the timer of the model says ${timed}`);
  // Once more with the same inputs, seen from every camera, on a large and on a small screen.
  oldham("run", model, ...length, "--set", "record.every=30", "--no-analysis", "--replay", "laps.csv", "--out", "track/again.parquet", "--force");
  const again = await serving("view", "track/again.parquet");
  const replay = await open(browser, again.url);
  await replay.$eval("#slider", (slider) => {
    slider.value = String(Number(slider.max) - 1);
    slider.dispatchEvent(new Event("input"));
  });
  await drawn(replay);
  assert.ok((await time(replay)) > 10);
  await cameras(tools, replay, "track-replay");
  await replay.keyboard.press("4");
  await replay.emulateMedia({ colorScheme: "dark" });
  await drawn(replay);
  await shot(replay, "track-dark");
  const told = (await replay.locator("#dash .laps > div > output:last-child").allTextContents()).slice(-2).map(parseSeconds);
  // Rows of the replay are 15 ms apart.
  assert.ok(Math.abs(told[1] - best) < 0.02, `the replay tells ${told}`);
  assert.deepEqual(replay.complaints, []);
  await replay.close();
  const phone = await open(browser, again.url, { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true });
  await drawn(phone);
  await shot(phone, "track-phone");
  await fits(phone);
  await phone.close();
  again.stop();
  assert.equal((await again.ended).code, 0);
  writeFileSync(join(scratch, "costs.json"), JSON.stringify(costs));
  return { laps: laps.map((lap) => Number(lap.toFixed(2))), off: Number(worst.off.toFixed(1)), steps: summary.steps, missed: summary.lateness.missed, costs: JSON.stringify(costs) };
}

const parseSeconds = (text) => text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);

/** Nothing is wider than the screen, and instruments lie within the scene. */
async function fits(page) {
  const { wide, shown, inside } = await page.evaluate(() => {
    const [dash, view] = ["dash", "view"].map((id) => document.getElementById(id).getBoundingClientRect());
    const inside = dash.left >= view.left && dash.right <= view.right && dash.top >= view.top && dash.bottom <= view.bottom;
    return { wide: document.documentElement.scrollWidth, shown: innerWidth, inside };
  });
  assert.ok(wide <= shown, `a phone shows the whole width: ${wide} of ${shown}`);
  assert.ok(inside, "instruments lie within the scene");
}

/** Levers of machines that are no cars: each key moves what it is to move, and in its direction. */
export async function drives_machines(browser, tools) {
  const { answers, becomesDriver, drawn, example, open, replays, serving, shot } = tools;
  const machines = [
    ["drive-excavator", 2e-3, [["ArrowUp", "arm.sensors.lift", -1], ["ArrowRight", "arm.sensors.elbow", -1]]],
    ["drive-crane", 1e-2, [["ArrowRight", "crane.place", 1], ["ArrowUp", "crane.sensors.tension", 0]]],
  ];
  const steps = {};
  for (const [name, step, moves] of machines) {
    const server = await serving("drive", example(name), "--once", "--out", `${name}.csv`);
    const page = await open(browser, server.url);
    const onlooker = await looksOn(server.url);
    await becomesDriver(page);
    await page.waitForFunction(() => parseFloat(document.getElementById("time").textContent) > 0.1);
    for (const [key, signal, sign] of moves) {
      const at = place(onlooker.scene, signal);
      const until = async (seconds) => {
        while (!(onlooker.time > seconds)) await new Promise((done) => setTimeout(done, 20));
        return onlooker.row[at];
      };
      const before = await until(0);
      await page.keyboard.down(key);
      const after = await until(onlooker.time + 1.2);
      await page.keyboard.up(key);
      if (sign !== 0) assert.ok(sign * (after - before) > 0.1, `${name}: ${key} moves ${signal} from ${before} to ${after}`);
    }
    await drawn(page);
    await shot(page, name);
    await cost(page, name, 100);
    assert.ok((await page.locator("#dash .dial output").allTextContents()).every((text) => /^-?[0-9.]+$/.test(text)), "instruments show numbers");
    assert.equal(await page.locator("#dash .lever, #dash .pedal").count(), 2);
    await page.getByRole("button", { name: "End", exact: true }).click();
    const { code, text } = await server.ended;
    assert.equal(code, 0, text);
    onlooker.leave();
    assert.deepEqual(page.complaints.filter((text) => !text.includes("WebSocket")), []);
    await page.close();
    steps[name] = answers(text).at(-1).summary.steps;
    replays([example(name)], { file: `${name}.csv`, steps: steps[name], step });
  }
  return steps;
}
