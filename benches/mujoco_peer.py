"""Times MuJoCo on the shaken can, beside Oldham's own figures.

147 spheres of lead, radius 1 mm, friction 0.52, in a prism of 24 flat walls with bottom and lid, which moves along z by
4 mm sin(2 pi 15.5 Hz t); step 1e-4 s, 0.3 s, from the heap of `crates/contact/data`. MuJoCo's contacts are soft: they are set as stiff
as its step tolerates. The can is at rest and gravity moves instead, so that contacts know its velocity. Time is CPU time of `mj_step`, one thread; work and penetration are as `oldham bench contact` takes them.

Oldham's own figures for the same scene: `oldham bench contact`.

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


def main():
    centres = np.loadtxt(DATA)
    peer = run(centres)
    print(f"MuJoCo {mujoco.__version__} on the shaken can")
    print(f"  {peer['ms']:.3f} ms a step, {peer['p99']:.3f} ms 99th percentile")
    print(f"  {peer['penetration']:.1f} um largest penetration, {peer['work']:.2f} mJ work")


main()
