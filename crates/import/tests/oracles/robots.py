"""Mass matrices, gravity and bias forces of robots by Pinocchio, and their fall of one second by MuJoCo.

    python robots.py own DATA              the URDFs in DATA: writes DATA/NAME.json, which is committed
    python robots.py shipped FOLDER        ten robots of PyPI's example-robot-data: writes FOLDER/NAME.urdf and NAME.json

Needs `pin`, `mujoco` and `numpy`, and for `shipped` also `example-robot-data`. What is compared is what both programs call the
same: meshes, mimics and dry friction are taken out of the shipped files; an inertia that no body can have is replaced by
the nearest that one can, as `oldham convert` says that it does.
"""

import json
import site
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

# Name, path below the robots of the wheel, whether the base is free.
SHIPPED = [
    ("ur5", "ur_description/urdf/ur5_robot.urdf", False),
    ("xarm7", "xarm_description/urdf/xarm7.urdf", False),
    ("panda", "panda_description/urdf/panda.urdf", False),
    ("z1", "z1_description/urdf/z1.urdf", False),
    ("allegro", "allegro_hand_description/urdf/allegro_right_hand.urdf", False),
    ("solo12", "solo_description/robots/solo12.urdf", True),
    ("go2", "go2_description/urdf/go2.urdf", True),
    ("simple_humanoid", "simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    ("g1", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", True),
    ("tiago_pro", "tiago_pro_description/robots/tiago_pro.urdf", False),
]
OWN = [("arm", False), ("walker", True), ("cart", False)]


def nearest(given):
    """The nearest inertia that a body can have, by its second moments."""
    second = 0.5 * np.trace(given) * np.eye(3) - given
    values, axes = np.linalg.eigh(second)
    if values.min() >= -1e-10 * abs(values).max():
        return given
    second = axes @ np.diag(values.clip(0)) @ axes.T
    return np.trace(second) * np.eye(3) - second


def bare(path, repaired):
    """A URDF without what the programs do not share."""
    tree = ET.parse(path)
    robot = tree.getroot()
    for tag in ("gazebo", "transmission", "material", "mujoco"):
        for element in robot.findall(tag):
            robot.remove(element)
    for link in robot.findall("link"):
        for element in list(link):
            if element.tag != "inertial":
                link.remove(element)
        inertia = link.find("inertial/inertia")
        if inertia is None or not repaired:
            continue
        get = lambda key: float(inertia.get(key, 0))
        tensor = np.array([[get("ixx"), get("ixy"), get("ixz")],
                           [get("ixy"), get("iyy"), get("iyz")],
                           [get("ixz"), get("iyz"), get("izz")]])
        tensor = nearest(tensor)
        for key, (i, j) in {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}.items():
            inertia.set(key, repr(float(tensor[i, j])))
    for joint in robot.findall("joint"):
        for tag in ("mimic", "safety_controller", "calibration"):
            for element in joint.findall(tag):
                joint.remove(element)
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            dynamics.set("friction", "0")
    return tree


def damping(tree):
    found = {}
    for joint in tree.getroot().findall("joint"):
        dynamics = joint.find("dynamics")
        found[joint.get("name")] = float(dynamics.get("damping", 0)) if dynamics is not None else 0.0
    return found


def states(path, free, tree, count, seed):
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(str(path))
    data = model.createData()
    random = np.random.default_rng(seed)
    dampers = damping(tree)
    joints = [name for name in model.names[1:] if name != "root_joint"]
    first = 6 if free else 0
    result = []
    for _ in range(count):
        q = pin.neutral(model)
        angles = []
        if free:
            turn = random.normal(size=4)
            q[:3] = random.uniform(-1, 1, 3)
            q[3:7] = turn / np.linalg.norm(turn)
        for joint in (model.joints[model.getJointId(name)] for name in joints):
            low, high = -1.5, 1.5
            if joint.nq == 1:
                low = max(low, model.lowerPositionLimit[joint.idx_q])
                high = min(high, model.upperPositionLimit[joint.idx_q])
                if low >= high:
                    low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
            angle = random.uniform(low, high)
            angles.append(angle)
            q[joint.idx_q:joint.idx_q + joint.nq] = angle if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        v = random.uniform(-1, 1, model.nv)
        mass = pin.crba(model, data, q).copy()
        mass = np.triu(mass) + np.triu(mass, 1).T
        lost = np.array([dampers[name] for name in joints]) * v[first:]
        gravity = pin.computeGeneralizedGravity(model, data, q).copy()
        bias = pin.nonLinearEffects(model, data, q, v).copy()
        bias[first:] += lost
        result.append({
            "base": list(q[:7]) if free else [],
            "q": angles,
            "v": list(v),
            "M": [list(mass[i, :i + 1]) for i in range(model.nv)],
            "g": list(gravity),
            "h": list(bias),
        })
    return joints, result


def fall(tree, joints, start):
    """Angles after one second from rest, and by how much they differ with twice the step."""
    robot = tree.getroot()
    for joint in robot.findall("joint"):
        if joint.get("type") == "revolute":
            joint.set("type", "continuous")
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            # MuJoCo's explicit method cannot follow strong dampers of light links.
            joint.remove(dynamics)
        limit = joint.find("limit")
        if limit is not None:
            limit.set("lower", "-1000")
            limit.set("upper", "1000")
    text = ET.tostring(robot, encoding="unicode")
    extension = ('<mujoco><compiler fusestatic="false" balanceinertia="false" strippath="false" '
                 'inertiafromgeom="false"/><option integrator="RK4" gravity="0 0 -9.81"/></mujoco>')
    text = text.replace("</robot>", extension + "</robot>")
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        print("    MuJoCo:", str(error).splitlines()[0])
        return None
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    if model.nq != len(joints):
        print("    MuJoCo has other coordinates")
        return None
    ends = []
    for steps in (10000, 20000):
        model.opt.timestep = 1.0 / steps
        data = mujoco.MjData(model)
        for name, angle in zip(joints, start):
            data.qpos[model.joint(name).qposadr[0]] = angle
        for _ in range(steps):
            mujoco.mj_step(model, data)
        ends.append(np.array([data.qpos[model.joint(name).qposadr[0]] for name in joints]))
    return {"end": list(ends[1]), "error": float(abs(ends[1] - ends[0]).max()), "xml": text}


def robot(name, path, free, folder, count, repaired):
    tree = bare(path, repaired)
    used = folder / f"{name}.pin.urdf"
    tree.write(used)
    joints, found = states(used, free, tree, count, seed=len(name))
    used.unlink()
    answer = {"robot": name, "free": free, "joints": joints, "states": found}
    if repaired:
        # Oldham finds the nearest inertia by itself.
        bare(path, False).write(folder / f"{name}.urdf")
    # The base is held, also where it is free otherwise.
    run = fall(tree, joints, found[0]["q"])
    if run:
        xml = run.pop("xml")
        answer["fall"] = run
        (folder / f"{name}.fall.urdf").write_text(xml)
    (folder / f"{name}.json").write_text(json.dumps(answer) + "\n")
    print(f"{name}: {len(joints)} joints, {count} states")


def main(kind, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "own":
        for name, free in OWN:
            robot(name, folder / f"{name}.urdf", free, folder, 3, False)
        return
    for place in site.getsitepackages():
        share = Path(place) / "cmeel.prefix/share/example-robot-data/robots"
        if share.is_dir():
            for name, path, free in SHIPPED:
                robot(name, share / path, free, folder, 20, True)
            return
    sys.exit("example-robot-data is not installed")


main(*sys.argv[1:])
