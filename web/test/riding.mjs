// What a page computes for somebody who rides along, without a browser: laps, cameras, the time that is shown.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build as esbuild } from "esbuild";

/** A source of the page as a module. */
export async function source(root, name) {
  const built = await esbuild({ entryPoints: [join(root, `web/src/${name}.ts`)], bundle: true, format: "esm", write: false, absWorkingDir: join(root, "web") });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
}

/** A level road along a circle, anticlockwise from the first axis on, with three sectors. */
export function circle(radius, half) {
  const count = Math.round(2 * Math.PI * radius);
  const across = [half + 2, half, 0, -half, -half - 2];
  const point = (turn, left) => [(radius - left) * Math.cos(turn), (radius - left) * Math.sin(turn), 0];
  const points = Array.from({ length: count }, (_, i) => across.map((left) => point((2 * Math.PI * i) / count, left))).flat();
  const gates = [0, 1, 2].map((third) => [half, -half].map((left) => point((2 * Math.PI * third) / 3, left)));
  return { length: 2 * Math.PI * radius, across, points, kerbs: [], cones: [], gates };
}

/** Where something is on that circle after so many turns, as a pose. */
const around = (radius, turns) => {
  const turn = 2 * Math.PI * turns;
  const heading = turn + Math.PI / 2;
  return [radius * Math.cos(turn), radius * Math.sin(turn), 0, Math.cos(heading / 2), 0, 0, Math.sin(heading / 2)];
};

/** Laps of 10, 8 and 9 s around a circle, from a little before the line. */
export async function counts_laps_with_sectors(root) {
  const { Course } = await source(root, "course");
  const course = new Course(circle(20, 2.5));
  const turns = (t) => (t < 0 ? t / 10 : t < 10 ? t / 10 : t < 18 ? 1 + (t - 10) / 8 : 2 + (t - 18) / 9);
  const drive = (from, to) => {
    for (let i = from; i <= to; i += 1) course.at(i / 60, around(20, turns(i / 60)));
  };
  drive(-60, 18 * 60 + 270);
  const near = (found, expected, within) => assert.ok(Math.abs(found - expected) < within, `${found}, not ${expected}`);
  assert.equal(course.laps.length, 3);
  const lap = (i) => course.laps[i].ended - course.laps[i].began;
  near(lap(0), 10, 2e-3);
  near(lap(1), 8, 2e-3);
  course.laps[1].passed.forEach((passed, i) => near(passed - course.laps[1].began, ((i + 1) * 8) / 3, 3e-3));
  const along = (t) => course.along(around(20, turns(t)));
  near(along(22.5), 0.5 * 2 * Math.PI * 20, 0.05);
  // Half a lap of 9 s beside half a lap of 8 s.
  const told = course.told(22.5, along(22.5));
  near(told.now, 4.5, 2e-3);
  near(told.delta, 0.5, 0.01);
  near(told.best, 8, 2e-3);
  near(told.last.ended - told.last.began, 8, 2e-3);
  assert.equal(told.passed.length, 1);
  near(told.passed[0], 3, 3e-3);
  // As it was told in the first lap: there was one lap, and no time to beat but the best that is known now.
  assert.equal(course.told(5, along(5)).last, null);
  // The ghost, 2 s after its start, has a quarter of its lap behind it.
  const ghost = new Float32Array(7);
  assert.ok(course.ghost(2, ghost));
  const quarter = around(20, 0.25);
  ghost.forEach((number, i) => near(i < 3 ? number : Math.abs(number), i < 3 ? quarter[i] : Math.abs(quarter[i]), 0.05));
  assert.ok(!course.ghost(8.5, ghost), "after its lap there is none");
  // Back into the second lap: it ends once more, a second later than before, and the best lap stays.
  for (let i = 15 * 60; i <= 20 * 60; i += 1) course.at(i / 60, around(20, 1 + (i / 60 - 10) / 9));
  near(lap(1), 9, 2e-3);
  near(course.best.time, 8, 2e-3);
  // Who leaves out a sector has no lap.
  const cut = new Course(circle(20, 2.5));
  for (let i = -30; i <= 30; i += 1) cut.at(i / 60, around(20, i / 600));
  for (let i = 0; i <= 60; i += 1) cut.at(1 + i / 60, [20 - i / 3, 0.5, 0, 1, 0, 0, 0]);
  for (let i = -30; i <= 30; i += 1) cut.at(3 + i / 60, around(20, i / 600));
  assert.equal(cut.laps.filter((lap) => lap.ended !== null).length, 0);
}

/** What rides along does not jump, at whatever instants pictures are drawn. */
export async function rides_without_jerks(root) {
  const { Cameras } = await source(root, "cameras");
  const { Quaternion, Vector3 } = await import(pathToFileURL(join(root, "web/node_modules/three/build/three.module.js")).href);
  const speed = 15;
  const radius = 30;
  const road = circle(radius, 2.5);
  // Around a corner on a rough road: 5 mm up and down eight times a second, and a nose that nods by 10 mrad.
  const at = (t) => {
    const [x, y] = around(radius, (speed * t) / (2 * Math.PI * radius));
    const origin = new Vector3(x, y, 0.3 + 0.005 * Math.sin(50 * t));
    const heading = (speed * t) / radius + Math.PI / 2;
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), heading);
    return { origin, turn: turn.multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 0.01 * Math.sin(50 * t))) };
  };
  const watched = (mode, times) => {
    const cameras = new Cameras({ frame: 0, eye: [0, 0, 0.4] }, road, new Vector3(0, 0, 1), 3);
    return times.map((t) => {
      const { origin, turn } = at(t);
      const shot = cameras.see(mode, t, origin, turn, new Quaternion());
      return { t, place: shot.place.clone(), turn: shot.turn.clone(), angle: shot.angle, ahead: new Vector3(0, 0, -1).applyQuaternion(shot.turn), origin };
    });
  };
  // Pictures that come between 8 and 40 ms after each other.
  let state = 1;
  const uneven = [0];
  while (uneven.at(-1) < 6) {
    state = (state * 48271) % 2147483647;
    uneven.push(uneven.at(-1) + 0.008 + (0.032 * state) / 2147483647);
  }
  const even = Array.from({ length: 6 * 120 }, (_, i) => i / 120);
  // Once the first cut is forgotten.
  const accelerations = (shots) => shots.flatMap((shot, i) => {
    if (shot.t < 2.5 || i + 1 === shots.length) return [];
    const [before, after] = [shots[i - 1], shots[i + 1]];
    const [h, k] = [shot.t - before.t, after.t - shot.t];
    const rate = (from, to, span) => to.place.clone().sub(from.place).divideScalar(span);
    return [rate(shot, after, k).sub(rate(before, shot, h)).length() / ((h + k) / 2)];
  });
  const worst = (numbers) => Math.max(...numbers);
  // In the corner it has 7.5 m/s2; the bumps have 12.5 m/s2 besides, of which the boom of a chase passes few.
  for (const [name, times] of [["even", even], ["uneven", uneven]]) {
    const felt = worst(accelerations(watched("chase", times)));
    assert.ok(felt < 9.5, `chase, ${name} pictures: ${felt} m/s2`);
  }
  const nods = (shots) => worst(shots.slice(60).map(({ ahead }) => Math.abs(ahead.z)));
  assert.ok(nods(watched("driver", even)) < 0.004, `the head nods by ${nods(watched("driver", even))} of 0.01 rad`);
  // It sees the same at any rate of pictures, as far as a filter of what is between them can.
  for (const mode of ["driver", "chase"]) {
    const [slow, fast] = [watched(mode, Array.from({ length: 181 }, (_, i) => i / 60)), watched(mode, Array.from({ length: 721 }, (_, i) => i / 240))];
    const apart = slow.at(-1).place.distanceTo(fast.at(-1).place);
    assert.ok(apart < 0.05, `${mode} at 60 and at 240 pictures a second: ${apart} m`);
  }
  // Beside the road a camera stays where it is while it pans, and what passes stays in the picture.
  const passing = watched("trackside", even);
  const places = new Set(passing.map(({ place }) => place.toArray().map((x) => x.toFixed(6)).join()));
  assert.ok(places.size >= 2 && places.size <= 6, `${places.size} places`);
  for (const { place, ahead, origin, angle } of passing.slice(30)) {
    const off = ahead.angleTo(origin.clone().sub(place)) * (180 / Math.PI);
    assert.ok(off < angle / 2, `what passes is ${off} degrees off the middle of a picture of ${angle}`);
  }
  // A jump in time is a cut: nothing flies across the land.
  const cameras = new Cameras({ frame: 0 }, road, new Vector3(0, 0, 1), 3);
  cameras.see("chase", 0, at(0).origin, at(0).turn, new Quaternion());
  const shot = cameras.see("chase", 100, at(100).origin, at(100).turn, new Quaternion());
  assert.ok(shot.place.distanceTo(at(100).origin) < 6);
}

/** Rows that come in bursts are shown as a steady motion, a little late. */
export async function shows_a_steady_time(root) {
  const { SteadyClock } = await source(root, "clock");
  const clock = new SteadyClock();
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  let [shown, newest, wall, arrives] = [0, 0, 0, 0];
  const rates = [];
  const late = [];
  while (wall < 8) {
    // A picture after 12 to 22 ms; rows of 1/60 s come in bursts, up to 50 ms late.
    const passed = 0.012 + 0.01 * random();
    wall += passed;
    if (wall >= arrives) {
      newest = Math.floor(wall * 60) / 60;
      arrives = wall + 0.05 * random();
    }
    const next = clock.next(shown, passed, newest, 1 / 60);
    assert.ok(next >= shown && next <= newest, "it neither goes back nor ahead of what is known");
    if (wall > 2) {
      rates.push((next - shown) / passed);
      late.push(wall - next);
    }
    shown = next;
  }
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  assert.ok(Math.abs(mean - 1) < 0.01, `${mean} s a second`);
  // Shown as they come, rows would stand still and jump by 3 at a time.
  const deviation = Math.sqrt(rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / rates.length);
  assert.ok(deviation < 0.25, `its rate varies by ${deviation}`);
  assert.ok(Math.max(...late) < 0.12, `${Math.max(...late)} s late`);
  // The run goes back: so does the time.
  assert.equal(clock.next(shown, 0.016, 1, 1 / 60), 1);
}
