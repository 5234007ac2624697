"""Mass matrices and forces of the MJCF models beside this, by MuJoCo: writes DATA/NAME.json, which is committed.

    python mjcf.py DATA

Constraints (limits, contact, dry friction) are switched off. Linear velocities of a free base are turned into axes of the base, as in
`robots.py`.
"""

import json
import sys
from pathlib import Path

import mujoco
import numpy as np

MODELS = ["pendulum", "cartpole", "classes", "plane_walker", "quadruped", "chain"]


def main(folder):
    folder = Path(folder)
    for name in MODELS:
        model = mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml"))
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        data = mujoco.MjData(model)
        free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
        joints = [model.joint(i).name for i in range(model.njnt)][1 if free else 0:]
        random = np.random.default_rng(len(name))
        states = []
        for _ in range(3):
            q = model.qpos0.copy()
            first = 7 if free else 0
            low = np.where(model.jnt_limited, model.jnt_range[:, 0], -1.5)[model.njnt - len(joints):]
            high = np.where(model.jnt_limited, model.jnt_range[:, 1], 1.5)[model.njnt - len(joints):]
            angles = random.uniform(np.maximum(low, -1.5), np.minimum(high, 1.5))
            q[first:] = angles
            if free:
                turn = random.normal(size=4)
                q[:3], q[3:7] = random.uniform(-1, 1, 3), turn / np.linalg.norm(turn)
            v = random.uniform(-1, 1, model.nv)

            def forces(rates):
                data.qpos[:], data.qvel[:] = q, rates
                mujoco.mj_forward(model, data)
                return (data.qfrc_bias - data.qfrc_passive).copy()

            mass = np.zeros((model.nv, model.nv))
            gravity = forces(np.zeros(model.nv))
            to_world = np.eye(model.nv)
            carried = np.zeros(model.nv)
            if free:
                rotation = np.zeros(9)
                mujoco.mju_quat2Mat(rotation, q[3:7])
                to_world[:3, :3] = rotation.reshape(3, 3)
                carried[:3] = to_world[:3, :3] @ np.cross(v[3:6], v[:3])
            bias = forces(to_world @ v)
            mujoco.mj_fullM(model, data, mass)
            bias = to_world.T @ (bias + mass @ carried)
            mass = to_world.T @ mass @ to_world
            # Oldham's coordinates begin where the file draws the joints.
            offset = model.qpos0[first:]
            states.append({
                "base": [*q[:3], *q[4:7], q[3]] if free else [],
                "q": list(angles - offset),
                "v": list(v),
                "M": [list(mass[i, :i + 1]) for i in range(model.nv)],
                "g": list(to_world.T @ gravity),
                "h": list(bias),
            })
        answer = {"robot": name, "free": bool(free), "joints": joints, "states": states}
        (folder / f"{name}.json").write_text(json.dumps(answer) + "\n")
        print(name, joints)


main(*sys.argv[1:])
