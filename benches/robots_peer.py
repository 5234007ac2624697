"""Times MuJoCo's RK4 on the trees of hinges of `oldham bench robots`.

CPU time of a step of 1 ms, and of one simulated second with the fewest steps that bring the last body within 1e-3 and 1e-6 m of
where 20,000 steps bring it. One thread; contacts and limits are switched off, there are none.

Usage: robots_peer.py
"""

import math
import time

import mujoco
import numpy as np

ARM = [-1, 0, 1, 2, 3, 4]
TREE = [-1] + [(k - 1) // 2 for k in range(1, 31)]
HUMANOID = [-1, 0, 1, 2, 3, 4, 5, 2, 7, 8, 9, 2, 11, 12, 0, 14, 15, 16, 17, 18, 0, 20, 21, 22, 23, 24, 1, 26]
EXACT, STEPS, REPEATS = 20000, 1000, 10


def tree(parents):
    def body(k):
        place = [0, 0, 0] if parents[k] < 0 else [0.25 * math.cos(1.3 * k), 0.25 * math.sin(1.3 * k), -0.125]
        centre = [0.1 * math.cos(0.7 * k), 0.1 * math.sin(0.7 * k), -0.05]
        axis = ["0 1 0", "1 0 0", "0 0 1"][k % 3]
        numbers = lambda values: " ".join(repr(value) for value in values)
        inside = "".join(body(child) for child in range(len(parents)) if parents[child] == k)
        return (f'<body name="b{k}" pos="{numbers(place)}"><joint type="hinge" axis="{axis}"/>'
                f'<inertial pos="{numbers(centre)}" mass="{1 + 0.5 * math.cos(k)!r}" diaginertia="0.010 0.012 0.014"/>{inside}</body>')

    return ('<mujoco><option integrator="RK4" gravity="0 0 -9.81"><flag contact="disable" constraint="disable"/></option>'
            f"<worldbody>{body(0)}</worldbody></mujoco>")


def begin(model):
    data = mujoco.MjData(model)
    for k in range(model.njnt):
        # Joints are numbered as MuJoCo meets them: branch by branch.
        number = int(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, model.jnt_bodyid[k])[1:])
        data.qvel[model.jnt_dofadr[k]] = 0.5 * math.sin(2 * number + 1)
    return data


def second(model, last, steps):
    model.opt.timestep = 1.0 / steps
    data = begin(model)
    start = time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    spent = 1e3 * (time.process_time() - start)
    mujoco.mj_kinematics(model, data)
    body = model.body(last).id
    return data.xipos[body].copy(), spent


def until(model, last, error):
    exact, _ = second(model, last, EXACT)
    steps = 25
    while True:
        apart = np.linalg.norm(second(model, last, steps)[0] - exact)
        if apart <= error or steps > EXACT:
            return min(second(model, last, steps)[1] for _ in range(REPEATS)), steps
        steps += max(steps // 4, 1)


def main():
    print(f"MuJoCo {mujoco.__version__}, RK4, on trees of hinges")
    for name, parents in (("arm", ARM), ("tree", TREE), ("humanoid-hanging", HUMANOID)):
        model = mujoco.MjModel.from_xml_string(tree(parents))
        last = f"b{len(parents) - 1}"
        model.opt.timestep = 1e-3
        best = math.inf
        for _ in range(REPEATS):
            data = begin(model)
            start = time.process_time()
            mujoco.mj_step(model, data, nstep=STEPS)
            best = min(best, (time.process_time() - start) / STEPS * 1e6)
        print(f"  {name + '-rk4':24} {best:8.2f} us a step")
        place, _ = second(model, last, EXACT)
        print(f"  {'':24} after 1 s at {place[0]:.9f} {place[1]:.9f} {place[2]:.9f}")
        for error in (1e-3, 1e-6):
            spent, steps = until(model, last, error)
            print(f"  {f'{name}-{error:.0e}':24} {spent:8.3f} ms for 1 s, {steps} steps", flush=True)


main()
