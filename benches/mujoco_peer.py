"""Times MuJoCo on the shaken can and on piles of boxes and spheres, beside Oldham's own figures.

147 spheres of lead, radius 1 mm, friction 0.52, in a prism of 24 flat walls with bottom and lid, which moves along z by
4 mm sin(2 pi 15.5 Hz t); step 1e-4 s, 0.3 s, from the heap of `crates/contact/data`. MuJoCo's contacts are soft: they are set as stiff
as its step tolerates. The can is at rest and gravity moves instead, so that contacts know its velocity. Time is CPU time of `mj_step`, one thread; work and penetration are as `oldham bench contact` takes them.

Piles of 1 to 1000 boxes or spheres fall into a shaft from the same places as in `oldham bench piles`, with the same step of 2.5 ms, elliptic cones,
Newton's method at its own tolerance and contacts as MuJoCo has them by default, one thread, nothing asleep: 0.5 s from the first touch on, and 0.5 s after 3 s.

A sledge on sixteen feet slides at 5 m/s, and a box of 1 kg is held by two jaws on slides: 400 steps of 2.5 ms each.

Oldham's own figures for the same scenes: `oldham bench contact` and `oldham bench piles`.

Usage: mujoco_peer.py
"""

import math
import time
from pathlib import Path

import mujoco
import numpy as np

RADIUS, DENSITY, FRICTION = 1e-3, 11344.0, 0.52
CAN, HEIGHT, WALLS = 10e-3, 11.84e-3, 24
STEP, STEPS = 1e-4, 3000
AMPLITUDE, FREQUENCY = 4e-3, 15.5
DATA = Path(__file__).parent.parent / "crates/contact/data/shaken-can.txt"


def model(centres):
    solid = f'friction="{FRICTION} 0 0" condim="3" solref="{2 * STEP} 1" solimp="0.99 0.999 1e-6"'
    planes = []
    faces = [((0, 0, 0), (0, 0, 1)), ((0, 0, HEIGHT), (0, 0, -1))]
    for k in range(WALLS):
        c, s = math.cos(2 * math.pi * k / WALLS), math.sin(2 * math.pi * k / WALLS)
        faces.append(((CAN * c, CAN * s, 0), (-c, -s, 0)))
    for (x, y, z), (a, b, c) in faces:
        planes.append(f'<geom type="plane" size="1 1 1" pos="{x} {y} {z}" zaxis="{a} {b} {c}" {solid}/>')
    mass = DENSITY * 4 / 3 * math.pi * RADIUS**3
    grains = [
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="{mass}" {solid}/></body>'
        for x, y, z in centres
    ]
    return f"""
<mujoco>
  <option timestep="{STEP}" gravity="0 0 -9.81" cone="elliptic" solver="Newton" tolerance="1e-12" iterations="50"/>
  <size memory="64M"/>
  <worldbody>
    {"".join(planes)}
    {"".join(grains)}
  </worldbody>
</mujoco>"""


def run(centres):
    scene = mujoco.MjModel.from_xml_string(model(centres))
    data = mujoco.MjData(scene)
    mass = DENSITY * 4 / 3 * math.pi * RADIUS**3
    count = len(centres)
    heights = 6 * np.arange(count) + 2
    times, work, deepest = [], 0.0, 0.0
    at = [AMPLITUDE * math.sin(2 * math.pi * FREQUENCY * step * STEP) for step in range(STEPS + 1)]
    speeds = [(at[step + 1] - at[step]) / STEP for step in range(STEPS)]
    # At rest in the absolute frame.
    data.qvel[heights] = -speeds[0]
    before, last = 0.0, speeds[0]
    for step, speed in enumerate(speeds):
        scene.opt.gravity[2] = -9.81 - (speed - last) / STEP
        last = speed
        start = time.process_time()
        mujoco.mj_step(scene, data)
        times.append(time.process_time() - start)
        momentum = mass * (data.qvel[heights].sum() + count * speed)
        force = (momentum - before) / STEP + count * mass * 9.81
        before = momentum
        work += force * speed * STEP
        if step % 10 == 0 and data.ncon:
            deepest = max(deepest, -data.contact.dist.min())
    times.sort()
    return {
        "ms": 1e3 * sum(times) / STEPS,
        "p99": 1e3 * times[int(0.99 * STEPS)],
        "penetration": 1e6 * deepest,
        "work": 1e3 * work,
    }


PILE_STEP, SPACING, JITTER = 2.5e-3, 0.26, 0.015


class Noise:
    """Numbers from -1 to 1, the same as Oldham's."""

    def __init__(self, seed):
        self.state = seed

    def vector(self):
        return np.array([self.next() for _ in range(3)])

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**52 - 1


def pile(kind, count):
    along, across = {1: (1, 1), 10: (2, 1), 100: (5, 2), 1000: (10, 10)}[count]
    x, y = along * SPACING, across * SPACING
    solid = 'friction="0.5 0 0" condim="3" density="1000"'
    shape = {"boxes": 'type="box" size="0.08 0.06 0.05"', "spheres": 'type="sphere" size="0.06"'}[kind]
    walls = [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (1, 0, 0)), ((x, y, 0), (-1, 0, 0)), ((0, 0, 0), (0, 1, 0)), ((x, y, 0), (0, -1, 0))]
    parts = [
        f'<geom type="plane" size="20 20 1" pos="{p[0]} {p[1]} {p[2]}" zaxis="{z[0]} {z[1]} {z[2]}" {solid}/>' for p, z in walls
    ]
    noise = Noise(1)
    for i in range(count):
        site = np.array([i % along, i // along % across, i // (along * across)])
        at = (site + 0.5) * SPACING + noise.vector() * JITTER
        turn = noise.vector() * math.pi
        angle = np.linalg.norm(turn)
        axis = math.sin(angle / 2) * turn / angle
        pose = f'pos="{at[0]} {at[1]} {at[2]}" quat="{math.cos(angle / 2)} {axis[0]} {axis[1]} {axis[2]}"'
        parts.append(f"<body {pose}><freejoint/><geom {shape} {solid}/></body>")
    return f"""
<mujoco>
  <option timestep="{PILE_STEP}" gravity="0 0 -9.81" cone="elliptic" solver="Newton"/>
  <size memory="2G"/>
  <worldbody>{"".join(parts)}</worldbody>
</mujoco>"""


def time_piles(kind, count):
    scene = mujoco.MjModel.from_xml_string(pile(kind, count))
    data = mujoco.MjData(scene)

    def stretch(name):
        spent, deepest, contacts = 0.0, 0.0, 0
        for _ in range(200):
            start = time.process_time()
            mujoco.mj_step(scene, data)
            spent += time.process_time() - start
            contacts += data.ncon
            if data.ncon:
                deepest = max(deepest, -data.contact.dist.min())
        print(f"  {name:21} {1e6 * spent / 200:10.1f} us a step, {1e3 * deepest:.3f} mm deep, {contacts / 200:.0f} contacts", flush=True)

    while not (data.ncon and data.contact.dist.min() <= 0):
        mujoco.mj_step(scene, data)
    stretch(f"{kind}-{count}-landing")
    while data.time < 3:
        mujoco.mj_step(scene, data)
    stretch(f"{kind}-{count}")


def time_steps(name, scene, data, steps, see):
    """CPU time of steps, and what is seen of their end."""
    spent, deepest = 0.0, 0.0
    for _ in range(steps):
        start = time.process_time()
        mujoco.mj_step(scene, data)
        spent += time.process_time() - start
        if data.ncon:
            deepest = max(deepest, -data.contact.dist.min())
    print(f"  {name:21} {1e6 * spent / steps:10.1f} us a step, {1e3 * deepest:.3f} mm deep, {see(data)}", flush=True)


OPTION = f'<option timestep="{PILE_STEP}" gravity="0 0 -9.81" cone="elliptic" solver="Newton"/>'


def time_sledge(feet=16, steps=400):
    solid = 'friction="0.3 0 0" condim="3"'
    angles = [2 * math.pi * k / feet for k in range(feet)]
    spheres = "".join(
        f'<geom type="sphere" size="0.01" pos="{0.3 * math.cos(a)} {0.3 * math.sin(a)} -0.04" mass="0" {solid}/>' for a in angles
    )
    scene = mujoco.MjModel.from_xml_string(f"""
<mujoco>{OPTION}
  <worldbody>
    <geom type="plane" size="20 20 1" {solid}/>
    <body pos="0 0 0.05"><freejoint/><inertial pos="0 0 0" mass="10" diaginertia="1 1 2"/>{spheres}</body>
  </worldbody>
</mujoco>""")
    data = mujoco.MjData(scene)
    data.qvel[0] = 5.0
    time_steps(f"sledge-{feet}", scene, data, steps, lambda data: f"way {data.qpos[0]:.4f} m, height {data.qpos[2]:.5f} m")


def time_gripper(steps=400):
    """Two jaws on slides, pressed together by motors, and a box between them."""
    solid = 'friction="0.6 0 0" condim="3"'
    jaws = "".join(
        f'<body pos="{0.05 * side} 0 0"><joint name="{name}" type="slide" axis="1 0 0"/>'
        f'<geom type="box" size="0.01 0.03 0.05" mass="0.2" {solid}/></body>'
        for name, side in (("left", -1), ("right", 1))
    )
    motors = "".join(f'<motor joint="{name}"/>' for name in ("left", "right"))
    scene = mujoco.MjModel.from_xml_string(f"""
<mujoco>{OPTION}
  <worldbody>{jaws}<body><freejoint/><geom type="box" size="0.04 0.04 0.04" mass="1" {solid}/></body></worldbody>
  <actuator>{motors}</actuator>
</mujoco>""")
    data = mujoco.MjData(scene)
    data.ctrl[:] = [30.0, -30.0]
    time_steps(
        "gripper",
        scene,
        data,
        steps,
        lambda data: f"both jaws carry {data.qfrc_constraint[4]:.4f} N, the box has fallen by {-1e3 * data.qpos[4]:.4f} mm",
    )


def main():
    centres = np.loadtxt(DATA)
    peer = run(centres)
    print(f"MuJoCo {mujoco.__version__} on the shaken can")
    print(f"  {peer['ms']:.3f} ms a step, {peer['p99']:.3f} ms 99th percentile")
    print(f"  {peer['penetration']:.1f} um largest penetration, {peer['work']:.2f} mJ work")
    print(f"MuJoCo {mujoco.__version__} on piles")
    for kind in ("boxes", "spheres"):
        for count in (1, 10, 100, 1000):
            # Its matrix is dense in a pile of spheres: minutes for each simulated second.
            if (kind, count) != ("spheres", 1000):
                time_piles(kind, count)
    time_sledge()
    time_gripper()


main()
