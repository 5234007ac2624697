"""Mass matrices and forces of the MJCF models beside this, by MuJoCo: writes DATA/NAME.json, which is committed.

    python mjcf.py DATA

Constraints (limits, contact, dry friction) are switched off. Linear velocities of a free base are turned into axes
of the base, as in `robots.py`. Where joints are tied to each other, matrices and forces are those of the rates that remain: `ties` has a row
for each rate.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np

MODELS = ["pendulum", "cartpole", "classes", "plane_walker", "quadruped", "chain", "falling_box", "servo_arm"]

WITHOUT_DRIVES = ["servo_arm"]

# Rates of all joints by those that remain. The linkage is a parallelogram, so that its ties do not depend on where it is.
TIED = {
    "gripper": [[1, 0], [0, 1], [0, 1]],
    "four_bar": [[1], [-1], [1]],
}


def read(path):
    """A model without actuators and sensors: some of those in the files are there to be refused."""
    root = ElementTree.parse(path).getroot()
    for element in [*root.findall("actuator"), *root.findall("sensor")]:
        root.remove(element)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def hold(model, ties, name):
    """What MuJoCo says of its equality constraints: the rates that remain are those that they allow."""
    data = mujoco.MjData(model)
    for _ in range(5):
        data.qpos[:] = ties @ np.random.default_rng(1).uniform(0, 0.05, ties.shape[1])
        mujoco.mj_forward(model, data)
        rows = np.zeros((data.nefc, model.nv))
        if mujoco.mj_isSparse(model):
            mujoco.mju_sparse2dense(rows, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        else:
            rows[:] = data.efc_J.reshape(-1, model.nv)[:data.nefc]
        rows = rows[data.efc_type[:data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
        allowed = np.linalg.matrix_rank(rows)
        assert allowed == model.nv - ties.shape[1], (name, allowed)
        assert np.abs(rows @ ties).max() < 1e-12, (name, rows @ ties)


def main(folder):
    folder = Path(folder)
    for name in [*MODELS, *TIED]:
        path = folder / f"{name}.xml"
        model = read(path) if name in WITHOUT_DRIVES else mujoco.MjModel.from_xml_path(str(path))
        ties = np.array(TIED[name], float) if name in TIED else np.eye(model.nv)
        if name in TIED:
            hold(model, ties, name)
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
            if name in TIED:
                angles = ties @ angles[[list(row).index(1) for row in ties.T]]
            q[first:] = angles
            if free:
                turn = random.normal(size=4)
                q[:3], q[3:7] = random.uniform(-1, 1, 3), turn / np.linalg.norm(turn)
            v = ties @ random.uniform(-1, 1, ties.shape[1])

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
            mass = ties.T @ to_world.T @ mass @ to_world @ ties
            # Oldham's coordinates begin where the file draws the joints.
            offset = model.qpos0[first:]
            states.append({
                "base": [*q[:3], *q[4:7], q[3]] if free else [],
                "q": list(angles - offset),
                "v": list(v),
                "M": [list(mass[i, :i + 1]) for i in range(len(mass))],
                "g": list(ties.T @ to_world.T @ gravity),
                "h": list(ties.T @ bias),
            })
        answer = {"robot": name, "free": bool(free), "joints": joints, "states": states}
        if name in TIED:
            answer["ties"] = TIED[name]
        (folder / f"{name}.json").write_text(json.dumps(answer) + "\n")
        print(name, joints)


main(*sys.argv[1:])
