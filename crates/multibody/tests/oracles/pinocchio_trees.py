"""Mass matrices and bias forces of random trees by Pinocchio.

    python pinocchio_trees.py > pinocchio_trees.txt        which is committed

Needs `pin` and `numpy`. Joints: hinges and slides about any axis, balls, and a free base. Velocities and forces are
turned into the axes in which Oldham has them: those of a ball are absolute in the position given (they turn with the
parent), the velocity of a free base is that of its node in absolute axes.

Each tree is a line `tree BODIES FREEDOMS`, of each body a line `body PARENT KIND`, then numbers on lines of their own:
position, quaternion (w, x, y, z), velocity, angular velocity of the node; mass, centre, inertia (xx, xy, xz, yy, yz, zz)
in axes of the node; the axis in absolute axes. Then the lower triangle of the mass matrix, and the bias forces.
"""

import numpy as np
import pinocchio as pin

GRAVITY = np.array([0.3, -0.5, -9.81])


def body(random):
    parts = random.uniform(0.01, 0.05, 3)
    turn = pin.Quaternion(*(lambda q: q / np.linalg.norm(q))(random.normal(size=4))).matrix()
    inertia = turn @ np.diag(parts.sum() - parts) @ turn.T
    return pin.Inertia(random.uniform(0.5, 2.0), random.uniform(-0.1, 0.1, 3), inertia)


def tree(random, count, is_free):
    model = pin.Model()
    model.gravity = pin.Motion(GRAVITY, np.zeros(3))
    kinds, parents, axes = [], [], []
    for index in range(count):
        kind = "free" if is_free and index == 0 else random.choice(["hinge", "hinge", "hinge", "slide", "ball"])
        # Branch by branch, as Pinocchio needs it: on the last body, or on one of those that carry it.
        parent = index
        while parent > is_free and random.uniform() < 0.35:
            parent = int(model.parents[parent])
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        joint = {
            "hinge": lambda: pin.JointModelRevoluteUnaligned(axis),
            "slide": lambda: pin.JointModelPrismaticUnaligned(axis),
            "ball": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[kind]()
        turn = pin.Quaternion(*(lambda q: q / np.linalg.norm(q))(random.normal(size=4))).matrix()
        placement = pin.SE3.Identity() if kind == "free" else pin.SE3(turn, random.uniform(-0.3, 0.3, 3))
        number = model.addJoint(parent, joint, placement, f"j{index}")
        model.appendBodyToJoint(number, body(random), pin.SE3.Identity())
        kinds.append(kind)
        parents.append(parent)
        axes.append(axis)
    return model, kinds, parents, axes


def numbers(values):
    print(" ".join(repr(float(value)) for value in np.asarray(values).ravel()))


def main():
    random = np.random.default_rng(11)
    for count, is_free in [(2, False), (5, False), (7, True), (12, True), (20, False), (31, True)]:
        model, kinds, parents, axes = tree(random, count, is_free)
        data = model.createData()
        q = pin.normalize(model, pin.integrate(model, pin.neutral(model), random.uniform(-1, 1, model.nv)))
        v = random.uniform(-1, 1, model.nv)
        mass = pin.crba(model, data, q).copy()
        mass = np.triu(mass) + np.triu(mass, 1).T
        bias = pin.nonLinearEffects(model, data, q, v).copy()
        pin.forwardKinematics(model, data, q, v)
        # u = T v, and T v' + k where the axes of v turn with the body.
        to = np.eye(model.nv)
        carried = np.zeros(model.nv)
        for index, kind in enumerate(kinds):
            joint = model.joints[index + 1]
            rotation = data.oMi[index + 1].rotation
            at = slice(joint.idx_v, joint.idx_v + 3)
            if kind == "ball":
                to[at, at] = rotation
            if kind == "free":
                turning = slice(joint.idx_v + 3, joint.idx_v + 6)
                to[at, at] = rotation
                to[turning, turning] = rotation
                carried[at] = np.cross(v[turning], v[at])
        back = np.linalg.inv(to)
        bias = back.T @ (bias - mass @ carried)
        mass = back.T @ mass @ back
        print(f"tree {count} {model.nv}")
        for index, kind in enumerate(kinds):
            pose = data.oMi[index + 1]
            motion = pin.getVelocity(model, data, index + 1, pin.LOCAL_WORLD_ALIGNED)
            inertia = model.inertias[index + 1]
            turn = pin.Quaternion(pose.rotation).normalized()
            print(f"body {parents[index]} {kind}")
            numbers(pose.translation)
            numbers([turn.w, turn.x, turn.y, turn.z])
            numbers(motion.linear)
            numbers(motion.angular)
            i = inertia.inertia
            numbers([inertia.mass, *inertia.lever, i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2]])
            # The axis turns with a hinge's child not at all.
            numbers(pose.rotation @ axes[index])
        for row in range(model.nv):
            numbers(mass[row, :row + 1])
        numbers(bias)


main()
