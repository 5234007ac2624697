// Opens the page in a real browser: plays, scrubs, plots, drives.
//
//     node web/test/browser.mjs target/debug [folder for screenshots [names of steps, if not all]]
//
// Frame rates are told, not required: without a graphics card they say nothing.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build as esbuild } from "esbuild";
import { chromium } from "playwright-core";
import { NO_WEBGL, SOFTWARE_WEBGL, chromiumPath } from "./chromium.mjs";
import * as cockpit from "./cockpit.mjs";
import * as riding from "./riding.mjs";

const built = resolve(process.argv[2] ?? "target/debug");
const shots = process.argv[3] && resolve(process.argv[3]);
const root = resolve(new URL("../..", import.meta.url).pathname);
const scratch = mkdtempSync(join(tmpdir(), "oldham-browser-"));
const executablePath = await chromiumPath(join(root, "target/tools"));
if (shots) mkdirSync(shots, { recursive: true });

const oldham = (...words) => execFileSync(join(built, "oldham"), words, { cwd: scratch, encoding: "utf8" });
const example = (name) => join(root, "examples", `${name}.toml`);
const running = new Set();

/** Starts a command that serves, and gives where. */
async function serving(...words) {
  const child = spawn(join(built, "oldham"), [...words, "--json"], { cwd: scratch, stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  let text = "";
  const ended = new Promise((done) => child.on("close", (code) => done({ code, text })));
  ended.then(() => running.delete(child));
  const url = await new Promise((found, failed) => {
    child.stdout.on("data", (data) => {
      text += data;
      const line = text.split("\n").find((line) => line.includes('"url"'));
      if (line) found(JSON.parse(line).url);
    });
    ended.then(() => failed(new Error(`oldham ${words.join(" ")} ended: ${text}`)));
  });
  return { url, ended, stop: () => child.kill("SIGINT") };
}

/** A page in which every complaint is a failure. */
async function open(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 }, ...options });
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !/GPU stall|GL Driver/.test(message.text())) {
      page.complaints.push(message.text());
    }
  });
  await page.goto(url);
  await page.waitForSelector("body[data-ready]", { timeout: 30_000 });
  return page;
}

const shot = async (page, name) => shots && page.screenshot({ path: join(shots, `${name}.png`) });
const time = (page) => page.$eval("#time", (output) => parseFloat(output.textContent));
/** The page draws when the browser asks it to. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const scrub = async (page, part) => {
  await page.$eval("#slider", (slider, part) => {
    slider.value = String(Number(slider.min) + part * (Number(slider.max) - Number(slider.min)));
    slider.dispatchEvent(new Event("input"));
  }, part);
  await drawn(page);
};
const picture = (page) => page.locator("#scene").screenshot();

async function plays(browser) {
  oldham("run", example("cut-beam"), "--no-analysis", "--set", "simulation.duration=0.3", "--set", "record.every=10");
  const server = await serving("view", "cut-beam.parquet");
  const began = performance.now();
  const page = await open(browser, server.url);
  await drawn(page);
  const started = performance.now() - began;
  assert.equal(await page.title(), "Beam in two parts");
  assert.deepEqual(await page.locator("#groups li").allTextContents(), ["beam.left", "beam.right"]);
  const first = await picture(page);
  await shot(page, "beam-start");
  await scrub(page, 1);
  assert.equal(await time(page), 0.3);
  const last = await picture(page);
  assert.ok(!first.equals(last), "the beam has moved");
  await shot(page, "beam-end");
  await energies(page);
  await page.keyboard.press("Home");
  await drawn(page);
  assert.equal(await time(page), 0);
  await page.keyboard.press("ArrowRight");
  await drawn(page);
  assert.equal(await time(page), 0.001);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => parseFloat(document.getElementById("time").textContent) > 0.01);
  await page.keyboard.press("Space");
  const paused = await time(page);
  await drawn(page);
  assert.equal(await time(page), paused, "the space bar pauses");
  await plots(page);
  await cameras(page);
  await exports(page);
  await darkens(page);
  await shot(page, "beam-dark");
  assert.deepEqual(page.complaints, []);
  await page.close();
  server.stop();
  assert.equal((await server.ended).code, 0);
  return { started: Math.round(started) };
}

/** Kinds of energy, and what every interface adds to them without being asked. */
async function energies(page) {
  assert.ok(await page.isVisible("#energy"));
  for (const [table, rows] of [["#whole", 3], ["#interfaces", 2]]) {
    const told = await page.locator(`${table} tr`).allTextContents();
    assert.ok(told.length >= rows && told.every((text) => /-?[0-9.]+(e-?[0-9]+)? J$/.test(text.trim())), `${table}: ${told}`);
  }
}

/** The system becomes dark, and the page with it; a choice of the user counts more. */
async function darkens(page) {
  const brightness = () => page.evaluate(() => {
    const [, r, g, b] = getComputedStyle(document.body).backgroundColor.match(/(\d+), (\d+), (\d+)/);
    return (Number(r) + Number(g) + Number(b)) / 3;
  });
  const light = await brightness();
  await page.emulateMedia({ colorScheme: "dark" });
  await drawn(page);
  const dark = await brightness();
  assert.ok(light > 200 && dark < 80, `from ${light} to ${dark}`);
}

async function plots(page) {
  const before = await page.locator(".plot").count();
  await page.keyboard.press("/");
  await page.keyboard.type("middle x");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".plot").count(), before + 1);
  const plot = page.locator(".plot").last();
  assert.match(await plot.textContent(), /beam\.middle\.x/);
  await plot.scrollIntoViewIfNeeded();
  await drawn(page);
  const canvas = plot.locator("canvas");
  const inked = await canvas.evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  });
  assert.ok(inked > 500, "the curve is drawn");
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + box.width / 2 + 24, box.y + box.height / 2);
  await drawn(page);
  const chosen = await time(page);
  assert.ok(chosen > 0.13 && chosen < 0.17, `a click on the plot chooses the time, not ${chosen}`);
}

async function cameras(page) {
  const orbit = await picture(page);
  await page.keyboard.press("2");
  await page.selectOption("#followed", { index: 8 });
  await drawn(page);
  assert.ok(!orbit.equals(await picture(page)), "the camera follows");
  await page.keyboard.press("3");
  await drawn(page);
  await page.keyboard.press("f");
  await drawn(page);
  const box = await page.locator("#scene").boundingBox();
  const seen = await picture(page);
  await page.mouse.move(box.x + 400, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 520, box.y + 340, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
  assert.ok(!seen.equals(await picture(page)), "the scene turns");
  await page.keyboard.press("f");
}

async function exports(page) {
  const saved = async (act, ending) => {
    const [download] = await Promise.all([page.waitForEvent("download"), act()]);
    assert.ok(download.suggestedFilename().endsWith(ending), download.suggestedFilename());
    const path = join(scratch, download.suggestedFilename());
    await download.saveAs(path);
    return readFileSync(path);
  };
  const png = await saved(() => page.keyboard.press("p"), ".png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.length > 5000, "the picture is not empty");
  const vtk = (await saved(() => page.click("#vtk"), ".vtk")).toString();
  checks_vtk(vtk);
  const gltf = await saved(() => page.click("#gltf"), ".glb");
  assert.equal(gltf.subarray(0, 4).toString(), "glTF");
  await page.selectOption("#speed", "0.2");
  const video = await saved(() => page.click("#video"), ".webm");
  assert.equal(video.readUInt32BE(0), 0x1a45dfa3, "a video is EBML");
}

/** Every cell of a VTK file has its corners, and every cell and point its number. */
function checks_vtk(text) {
  const lines = text.split("\n");
  assert.match(lines[0], /^# vtk DataFile Version 3.0/);
  const points = Number(lines.find((line) => line.startsWith("POINTS")).split(" ")[1]);
  const at = lines.findIndex((line) => line.startsWith("POLYGONS"));
  const [, count, size] = lines[at].split(" ").map(Number);
  const cells = lines.slice(at + 1, at + 1 + count).map((line) => line.split(" ").map(Number));
  assert.equal(cells.flat().length, size);
  assert.ok(cells.every(([corners, ...places]) => corners === 3 && places.every((place) => place < points)));
  assert.ok(lines.includes(`POINT_DATA ${points}`));
  assert.ok(points > 100 && !text.includes("NaN"));
}

/** The page as a file, in a browser that reaches nobody. */
async function plays_without_a_server(browser) {
  oldham("view", "cut-beam.parquet", "-o", "film.html");
  const page = await browser.newPage({ viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true });
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(join(scratch, "film.html")).href);
  await page.waitForSelector("body[data-ready]");
  await scrub(page, 0.5);
  assert.equal(await time(page), 0.15);
  await drawn(page);
  await shot(page, "phone");
  const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= shown, `a phone shows the whole width: ${wide} of ${shown}`);
  assert.deepEqual(asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:")), []);
  await page.close();
  return { bytes: statSync(join(scratch, "film.html")).size };
}

async function draws_everything(browser) {
  execFileSync(join(built, "examples/gallery"), [join(scratch, "gallery.html")]);
  const page = await open(browser, pathToFileURL(join(scratch, "gallery.html")).href);
  await scrub(page, 0.15);
  await shot(page, "gallery");
  assert.equal(await page.textContent("#title"), "Everything that can be drawn <b>&amp; escaped</b>");
  assert.equal(await page.locator("#title b, #groups i:not([data-series]), aside u").count(), 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
}

async function says_that_there_is_no_webgl() {
  const browser = await chromium.launch({ executablePath, args: NO_WEBGL });
  const page = await browser.newPage();
  await page.goto(pathToFileURL(join(scratch, "film.html")).href);
  await page.waitForSelector("body[data-ready]");
  assert.match(await page.textContent("#message"), /no WebGL/);
  assert.ok((await page.locator(".plot").count()) > 0, "plots work without");
  await shot(page, "no-webgl");
  await browser.close();
}

async function wrong_token(browser, url) {
  const page = await browser.newPage();
  await page.goto(url.replace(/token=.*/, "token=wrong"));
  await page.waitForSelector("#message:not([hidden])");
  assert.match(await page.textContent("#message"), /token is missing or wrong/);
  await page.close();
}

/** Becomes the driver. */
async function becomesDriver(page) {
  await page.click("#take");
  await page.waitForFunction(() => document.getElementById("drive").textContent.includes("You drive"));
}

async function drives(browser) {
  const model = [example("driven-cart"), "--set", "simulation.duration=60"];
  const server = await serving("drive", ...model, "--once", "--out", "drive.csv");
  await wrong_token(browser, server.url);
  const page = await open(browser, server.url);
  const other = await open(browser, server.url);
  assert.match(await page.textContent("#drive"), /Nobody drives/);
  await becomesDriver(page);
  await other.waitForFunction(() => document.getElementById("drive").textContent.includes("Somebody else drives"));
  assert.ok(await other.isDisabled("#take"), "there is one driver");
  await page.bringToFront();
  const shows = (value) => page.waitForFunction((value) => document.querySelector("#drive output").textContent.startsWith(value), value);
  for (const [key, value] of [["ArrowRight", "20.00"], ["ArrowLeft", "-20.00"]]) {
    await page.keyboard.down(key);
    await shows(value);
    await shot(page, "drive");
    await page.keyboard.up(key);
    await shows("1.500");
  }
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  await press("Pause");
  await press("Go on");
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await press("End");
  const { code, text } = await server.ended;
  assert.equal(code, 0, text);
  const answer = answers(text).at(-1);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("connection is lost"));
  assert.deepEqual(page.complaints.filter((text) => !text.includes("WebSocket")), []);
  await page.close();
  await other.close();
  const { drive } = replays(model, { file: "drive.csv", steps: answer.summary.steps, step: 1e-3 });
  const column = drive[0].split(",").findIndex((name) => name.includes("driver.push"));
  const pushes = drive.slice(1).map((line) => Number(line.split(",")[column]));
  assert.equal(Math.max(...pushes), 20);
  assert.equal(Math.min(...pushes), -20);
  return { steps: answer.summary.steps, missed: answer.summary.lateness.missed };
}

/** What a command told in JSON, one a line. */
const answers = (text) => text.trim().split("\n").map((line) => JSON.parse(line)).filter((answer) => answer.summary);

/** Back to the start, on, back to a saved state: every take is a file of its own that can be replayed. */
async function goes_back(browser) {
  const model = [example("driven-cart"), "--set", "simulation.duration=60"];
  // Slowly, for a browser that draws a picture a second on a busy machine.
  const server = await serving("drive", ...model, "--real-time", "0.3", "--once", "--out", "takes.csv");
  const page = await open(browser, server.url);
  const reaches = (seconds) => page.waitForFunction((seconds) => parseFloat(document.getElementById("time").textContent) > seconds, seconds);
  const returns = (seconds) => page.waitForFunction((seconds) => parseFloat(document.getElementById("time").textContent) < seconds, seconds);
  await becomesDriver(page);
  await page.keyboard.down("ArrowRight");
  await reaches(1.8);
  await page.keyboard.press("r");
  await returns(1.5);
  await reaches(0.3);
  await page.keyboard.press("k");
  await reaches(3);
  await page.keyboard.up("ArrowRight");
  await page.keyboard.press("b");
  await returns(2.6);
  await reaches(2);
  await page.getByRole("button", { name: "End", exact: true }).click();
  const { code, text } = await server.ended;
  assert.equal(code, 0, text);
  const takes = answers(text);
  assert.deepEqual(takes.map((take) => take.results), ["takes.csv", "takes-2.csv", "takes-3.csv"]);
  assert.deepEqual(page.complaints.filter((text) => !text.includes("WebSocket")), []);
  await page.close();
  for (const take of takes.slice(0, 2)) {
    replays(model, { file: take.results, steps: take.summary.steps, step: 1e-3 });
  }
  const last = takes[2];
  replays(model, { file: last.results, steps: last.summary.steps, step: 1e-3, resume: "takes.csv.checkpoint" });
  return { takes: takes.map((take) => take.summary.steps) };
}

/** The same inputs again: the same bits, as far as the drive went. */
function replays(model, { file, steps, step, resume }) {
  const lines = (name) => readFileSync(join(scratch, name), "utf8").trim().split("\n");
  const length = ["--set", `simulation.duration=${(steps * step).toFixed(9)}`];
  const from = resume ? ["--resume", resume] : [];
  oldham("run", ...model, "--set", "record.every=1", ...length, ...from, "--no-analysis", "--replay", file, "--out", "again.csv", "--force");
  const [drive, again] = [lines(file), lines("again.csv")];
  if (!resume) assert.equal(drive.length, steps + 2);
  assert.ok(drive.length > 100, `${file} has ${drive.length} lines`);
  assert.deepEqual(again, drive, "a replay has the same bits");
  return { drive };
}

/** Arrow keys drive a car: it goes, it turns to the side of the key, and the drive is repeated to the bit. */
async function drives_the_car(browser) {
  const server = await serving("drive", example("drive-car"), "--once", "--out", "car.csv");
  const page = await open(browser, server.url);
  await shot(page, "car-stands");
  await becomesDriver(page);
  const reaches = (seconds) => page.waitForFunction(
    (seconds) => parseFloat(document.getElementById("time").textContent) > seconds, seconds, { timeout: 120_000 });
  await page.keyboard.down("ArrowUp");
  await reaches(1.5);
  await page.keyboard.down("ArrowLeft");
  await reaches(3);
  await page.waitForFunction(() => Math.abs(parseFloat(document.querySelector("#drive .felt").style.getPropertyValue("--share"))) > 0.02);
  await shot(page, "car-drives");
  assert.match(await page.textContent("#drive .lap"), /^Lap [0-9.]+ s/);
  await page.keyboard.press("3");
  await drawn(page);
  await shot(page, "car-drives-inside");
  await page.keyboard.up("ArrowUp");
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.down("d");
  await reaches(3.5);
  await page.keyboard.up("d");
  await page.getByRole("button", { name: "End", exact: true }).click();
  const { code, text } = await server.ended;
  assert.equal(code, 0, text);
  const { summary } = answers(text).at(-1);
  assert.deepEqual(page.complaints.filter((text) => !text.includes("WebSocket")), []);
  await page.close();
  const { drive } = replays([example("drive-car")], { file: "car.csv", steps: summary.steps, step: 5e-4 });
  const names = drive[0].split(",");
  const column = (name) => {
    const at = names.findIndex((known) => known.split(" ")[0] === name);
    assert.ok(at >= 0, `${name} is recorded`);
    return drive.slice(1).map((line) => Number(line.split(",")[at]));
  };
  const way = column("car.chassis.px");
  const far = way.reduce((most, x) => Math.max(most, x), way[0]) - way[0];
  assert.ok(far > 2, `it has gone ${far} m`);
  const [w, x, y, z] = ["q0", "q1", "q2", "q3"].map((name) => column(`car.chassis.${name}`));
  const headings = w.map((_, i) => Math.atan2(2 * (x[i] * y[i] + w[i] * z[i]), 1 - 2 * (y[i] ** 2 + z[i] ** 2)));
  // Over any number of turns.
  const heading = headings.slice(1).reduce((sum, here, i) => {
    const turn = here - headings[i];
    return sum + turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
  }, headings[0]);
  assert.ok(heading > 0.1, `it has turned to the left, by ${heading} rad`);
  const torque = column("driver.steering_torque");
  assert.ok(torque.some((torque) => Math.abs(torque) > 0.1), "the steering is felt");
  return { steps: summary.steps, heading: Number(heading.toFixed(2)), factor: Number(summary.real_time_factor.toFixed(2)), missed: summary.lateness.missed };
}

/** Two rounds of a circle of 20 m, of 10 and of 8 seconds, and then back to the start. */
async function counts_laps() {
  const built = await esbuild({ entryPoints: [join(root, "web/src/lap.ts")], bundle: true, format: "esm", write: false });
  const { Laps } = await import(`data:text/javascript,${encodeURIComponent(built.outputFiles[0].text)}`);
  const laps = new Laps(0, [0, 0, 0], [1, 0, 0]);
  const at = (time) => {
    const turn = 2 * Math.PI * (time < 10 ? time / 10 : 1 + (time - 10) / 8);
    laps.at(time, [20 * Math.sin(turn), 20 - 20 * Math.cos(turn), 0]);
  };
  for (let i = 1; i <= 1850; i += 1) at(i * 0.01 + 0.003);
  assert.equal(laps.count, 2);
  // Where the speed changes, the straight line between two rows, of 10 ms, is off by a part of that.
  assert.ok(Math.abs(laps.last - 8) < 2e-3 && Math.abs(laps.best - 8) < 2e-3, `${laps.last}`);
  assert.ok(Math.abs(laps.now(18.5) - 0.5) < 1e-4);
  at(0.5);
  assert.deepEqual([laps.count, laps.last, laps.now(0.5)], [0, null, 0.5]);
}

/** A gamepad that the test moves. */
const fakePad = () => {
  const pad = { connected: true, axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ value: 0, pressed: false })), shakes: 0 };
  pad.vibrationActuator = { playEffect: async () => (pad.shakes += 1) };
  window.fakePad = pad;
  navigator.getGamepads = () => [pad];
};

async function drives_with_a_gamepad(browser) {
  const server = await serving("drive", example("driven-cart"), "--set", "simulation.duration=60", "--once", "--out", "pad.csv");
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
  await context.addInitScript(fakePad);
  const page = await open(context, server.url);
  await becomesDriver(page);
  const tilt = (value) => page.evaluate((value) => (window.fakePad.axes[0] = value), value);
  const shows = (value) => page.waitForFunction((value) => document.querySelector("#drive output").textContent.startsWith(value), value);
  await shows("1.500");
  await tilt(0.05);
  await drawn(page);
  await shows("1.500");
  await tilt(1);
  await shows("20.00");
  // This one rests at 0.2 and goes to 0.6: the whole range, once it is known.
  await page.click("#drive summary");
  await tilt(0.2);
  const calibrate = page.locator("#drive .pads > button");
  await calibrate.click();
  for (const value of [0.6, -0.4, 0.2]) {
    await tilt(value);
    await drawn(page);
  }
  await calibrate.click();
  await shows("1.500");
  await tilt(0.6);
  await shows("20.00");
  await tilt(-0.4);
  await shows("-20.00");
  await page.fill("#drive input[type=number]", "50");
  await page.press("#drive input[type=number]", "Enter");
  await tilt(0.38);
  await shows("1.500");
  await shot(page, "gamepad");
  // What was set is kept by the browser.
  await page.getByRole("button", { name: "Let go" }).click();
  await page.reload();
  await page.waitForSelector("body[data-ready]");
  await becomesDriver(page);
  await tilt(0.6);
  await shows("20.00");
  await tilt(0.3);
  await shows("1.500");
  assert.deepEqual(page.complaints, []);
  await page.getByRole("button", { name: "End", exact: true }).click();
  assert.equal((await server.ended).code, 0);
  await context.close();
}

/** Records as Linux writes them for wheels: seconds, kind, code, value. */
const recorded = (events) => Buffer.concat(events.map(([time, kind, code, value]) => {
  const record = Buffer.alloc(24);
  record.writeBigInt64LE(BigInt(Math.floor(time)), 0);
  record.writeBigInt64LE(BigInt(Math.round((time % 1) * 1e6)), 8);
  record.writeUInt16LE(kind, 16);
  record.writeUInt16LE(code, 18);
  record.writeInt32LE(value, 20);
  return record;
}));

/** A wheel that is plugged into the computer drives; those at pages look on until it is gone, then one of them drives, and closes. */
async function drives_with_a_wheel(browser) {
  writeFileSync(join(scratch, "turns.events"), recorded([[0, 3, 0, 64000], [0, 0, 0, 0], [15, 0, 0, 0]]));
  writeFileSync(join(scratch, "wheel.toml"), 'device = "recorded"\ninputs."driver.push" = { axis = "ABS_X", rest = 32000, high = 64000, low = 0, dead = 0.0 }\n');
  const model = [example("driven-cart"), "--set", "simulation.duration=600"];
  const server = await serving("drive", ...model, "--wheel", "turns.events", "--calibration", "wheel.toml", "--once", "--out", "wheel.csv");
  const page = await open(browser, server.url);
  await page.waitForFunction(() => document.getElementById("drive").textContent.includes("The wheel drives"));
  assert.ok(await page.isDisabled("#take"), "there is one driver");
  await page.waitForFunction(() => document.querySelector("#drive output").textContent.startsWith("20.00"), null, { timeout: 10_000 });
  await shot(page, "wheel");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("the recording is over"), null, { timeout: 60_000 });
  await becomesDriver(page);
  await page.keyboard.down("ArrowLeft");
  await page.waitForFunction(() => document.querySelector("#drive output").textContent.startsWith("-20.00"));
  // The browser is closed in mid-drive: somebody else may drive, from where the input was at first.
  await page.close();
  const other = await open(browser, server.url);
  await other.waitForFunction(() => document.getElementById("drive").textContent.includes("Nobody drives"));
  await becomesDriver(other);
  await other.getByRole("button", { name: "End", exact: true }).click();
  const { code, text } = await server.ended;
  assert.equal(code, 0, text);
  await other.close();
  const { drive } = replays(model, { file: "wheel.csv", steps: answers(text).at(-1).summary.steps, step: 1e-3 });
  const column = drive[0].split(",").findIndex((name) => name.includes("driver.push"));
  const pushes = drive.slice(1).map((line) => Number(line.split(",")[column]));
  for (const place of [20, -20]) assert.ok(pushes.includes(place), `the wheel or the keys pushed by ${place}`);
  assert.equal(pushes.at(-1), 1.5, "who has closed the browser has let go");
}

async function drives_with_a_finger(browser) {
  const server = await serving("drive", example("driven-cart"), "--set", "simulation.duration=60", "--once", "--out", "finger.csv");
  const page = await open(browser, server.url, { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true });
  await becomesDriver(page);
  const field = page.locator(".touch .sideways");
  await field.waitFor();
  const box = await field.boundingBox();
  const finger = (type, x) => field.dispatchEvent(type, { pointerId: 7, pointerType: "touch", clientX: x, clientY: box.y + box.height / 2, bubbles: true });
  await field.evaluate((element) => (element.setPointerCapture = () => {}));
  const sent = page.locator("#drive output");
  await finger("pointerdown", box.x + box.width - 4);
  await page.waitForFunction(() => document.querySelector("#drive output").textContent.startsWith("20.00"));
  await shot(page, "phone-drive");
  await finger("pointerup", box.x);
  await page.waitForFunction(() => document.querySelector("#drive output").textContent.startsWith("1.500"));
  assert.equal(await sent.count(), 1);
  const [wide, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= shown, `a phone shows the whole width: ${wide} of ${shown}`);
  await page.getByRole("button", { name: "End", exact: true }).tap();
  assert.equal((await server.ended).code, 0);
  await page.close();
}

async function looks_on(browser) {
  const server = await serving("view", example("slider-crank"), "--set", "simulation.duration=1");
  const page = await open(browser, server.url);
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("finished"), null, { timeout: 30_000 });
  await drawn(page);
  assert.equal(await time(page), 1);
  await scrub(page, 0.5);
  assert.ok(Math.abs((await time(page)) - 0.5) < 0.01, "one can look back");
  assert.match(await page.textContent("#status"), /step, median[0-9.]+ \u00b5s99 % below[0-9.]+ \u00b5slongest/);
  await shot(page, "live");
  assert.deepEqual(page.complaints, []);
  server.stop();
  assert.equal((await server.ended).code, 0);
  await page.close();
}

/** A sheet, coloured by its bending moment. */
async function shows_loads(browser) {
  oldham("run", example("clamped-plate"), "--set", "simulation.duration=1", "--set", "record.every=20", "--out", "plate.parquet");
  oldham("view", "plate.parquet", "-o", "plate.html");
  const page = await open(browser, pathToFileURL(join(scratch, "plate.html")).href);
  await scrub(page, 1);
  assert.match(await page.textContent("#legend"), /m11 \u00b1[0-9.]+ N/);
  const colours = async () => {
    const shot = await picture(page);
    return page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const count = { red: 0, blue: 0 };
      for (let i = 0; i < data.length; i += 4) {
        if (data[i] > data[i + 2] + 40) count.red += 1;
        if (data[i + 2] > data[i] + 40) count.blue += 1;
      }
      return count;
    }, [...shot]);
  };
  const { red, blue } = await colours();
  assert.ok(red > 500 && blue > 500, `the ends bend the other way than the middle: ${red} red, ${blue} blue`);
  await shot(page, "loads");
  assert.deepEqual(page.complaints, []);
  await page.close();
}

async function plays_a_car(browser) {
  const words = ["--no-analysis", "--set", "simulation.duration=0.9", "--set", "v0=20", "--set", "t_step=0.2", "--set", "steer=0.01"];
  oldham("run", example("formula-student"), ...words, "--out", "car.parquet");
  const server = await serving("view", "car.parquet");
  const page = await open(browser, server.url);
  await drawn(page);
  const first = await picture(page);
  await shot(page, "car-start");
  await scrub(page, 1);
  assert.ok(!first.equals(await picture(page)), "the car has moved");
  await shot(page, "car-end");
  await page.keyboard.press("3");
  await drawn(page);
  await shot(page, "car-driver");
  await darkens(page);
  await shot(page, "car-dark");
  assert.deepEqual(page.complaints, []);
  await page.close();
  server.stop();
  assert.equal((await server.ended).code, 0);
}

/** Boxes that a ball knocks over, and a can full of grains that shakes. */
async function plays_contacts(browser) {
  for (const [name, ...words] of [["stacked-boxes"], ["particle-damper", "--set", "simulation.duration=0.05"]]) {
    oldham("run", example(name), "--no-analysis", ...words, "--out", `${name}.parquet`);
    const server = await serving("view", `${name}.parquet`);
    const page = await open(browser, server.url);
    await drawn(page);
    const first = await picture(page);
    await shot(page, `${name}-start`);
    await scrub(page, 1);
    assert.ok(!first.equals(await picture(page)), `${name} has moved`);
    await shot(page, `${name}-end`);
    assert.deepEqual(page.complaints, []);
    await page.close();
    server.stop();
    assert.equal((await server.ended).code, 0);
  }
}

/** A step by the name of another. */
const named = ({ name }, step) => Object.defineProperty(step, "name", { value: name });

const browser = await chromium.launch({ executablePath, args: SOFTWARE_WEBGL });
try {
  const tools = { answers, becomesDriver, drawn, example, oldham, open, picture, replays, root, scratch, serving, shot, time };
  const { counts_laps_with_sectors, rides_without_jerks, shows_a_steady_time } = riding;
  const computed = [counts_laps_with_sectors, rides_without_jerks, shows_a_steady_time].map((step) => named(step, () => step(root)));
  const driven = [cockpit.laps_a_track, cockpit.drives_machines].map((step) => named(step, (browser) => step(browser, tools)));
  const steps = [...computed, ...driven, plays, plays_without_a_server, draws_everything, says_that_there_is_no_webgl, drives, goes_back, drives_the_car, counts_laps, drives_with_a_gamepad, drives_with_a_wheel, drives_with_a_finger, looks_on, shows_loads, plays_a_car, plays_contacts];
  const wanted = process.argv.slice(4);
  for (const step of steps.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const began = performance.now();
    const told = await step(browser);
    console.log(`${step.name.replaceAll("_", " ")}: ok, ${((performance.now() - began) / 1000).toFixed(1)} s`, told ?? "");
  }
} finally {
  for (const child of running) child.kill("SIGKILL");
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
