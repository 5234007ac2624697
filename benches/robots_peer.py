"""Times MuJoCo and Drake on the mechanisms of `oldham bench robots`.

CPU time of a step of 1 ms, and of one simulated second with the fewest steps that bring the last body within 1e-3 and 1e-6 m of
where many steps bring it: MuJoCo by RK4 (and Euler for the step alone), Drake by its Runge-Kutta methods of third and fifth order with the loosest
accuracy that does it. One thread; contacts and limits are switched off where there are none. The loop of four bars is a soft
constraint in MuJoCo, as hard as the step tolerates; where it belongs is found here from the circles of its ends. Drake has no loops
in continuous time. A humanoid on its feet bends its knees by steps of 2 ms.

Usage: robots_peer.py
"""

import math
import time

import mujoco
import numpy as np

try:
    import pydrake.all as drake
except ImportError:
    drake = None

ARM = [-1, 0, 1, 2, 3, 4]
TREE = [-1] + [(k - 1) // 2 for k in range(1, 31)]
HUMANOID = [-1, 0, 1, 2, 3, 4, 5, 2, 7, 8, 9, 2, 11, 12, 0, 14, 15, 16, 17, 18, 0, 20, 21, 22, 23, 24, 1, 26]
STEPS, REPEATS, MOST = 1000, 10, 1.0


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def hinged(parents):
    """Of each link: carrier, place in it, centre of mass, axis, mass, inertia, rate of its hinge."""
    links = []
    for k, parent in enumerate(parents):
        place = [0, 0, 0] if parent < 0 else [0.25 * math.cos(1.3 * k), 0.25 * math.sin(1.3 * k), -0.125]
        centre = [0.1 * math.cos(0.7 * k), 0.1 * math.sin(0.7 * k), -0.05]
        axis = [[0, 1, 0], [1, 0, 0], [0, 0, 1]][k % 3]
        links.append((parent, place, centre, axis, 1 + 0.5 * math.cos(k), [0.010, 0.012, 0.014], 0.5 * math.sin(2 * k + 1)))
    return links


def chain(count):
    """The same of a chain on balls, which turns as one body."""
    return [
        (k - 1, [0.5 if k else 0, 0, 0], [0.25, 0, 0], None, 1.0, [0.002, 0.022, 0.022], [0.3, 0, 0.4] if k == 0 else [0, 0, 0])
        for k in range(count)
    ]


def in_mujoco(links):
    def body(k):
        _, place, centre, axis, mass, inertia, _ = links[k]
        inside = "".join(body(child) for child in range(len(links)) if links[child][0] == k)
        joint = '<joint type="ball"/>' if axis is None else f'<joint type="hinge" axis="{numbers(axis)}"/>'
        return (f'<body name="b{k}" pos="{numbers(place)}">{joint}'
                f'<inertial pos="{numbers(centre)}" mass="{mass!r}" diaginertia="{numbers(inertia)}"/>{inside}</body>')

    # A document of a hundred bodies inside each other is deeper than the reader goes.
    if len(links) > 50:
        return in_mujoco_by_specification(links)
    return mujoco.MjModel.from_xml_string(
        '<mujoco><option integrator="RK4" gravity="0 0 -9.81"><flag contact="disable" constraint="disable"/></option>'
        f"<worldbody>{body(0)}</worldbody></mujoco>")


def in_mujoco_by_specification(links):
    spec = mujoco.MjSpec()
    spec.option.gravity = [0, 0, -9.81]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    bodies = []
    for k, (parent, place, centre, axis, mass, inertia, _) in enumerate(links):
        carrier = spec.worldbody if parent < 0 else bodies[parent]
        body = carrier.add_body(name=f"b{k}", pos=place)
        body.explicitinertial, body.mass, body.ipos, body.inertia = True, mass, centre, inertia
        if axis is None:
            body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        else:
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        bodies.append(body)
    return spec.compile()


class MuJoCo:
    def __init__(self, model, last, rates):
        self.model, self.last, self.rates = model, model.body(last).id, rates

    def begin(self):
        data = mujoco.MjData(self.model)
        for k in range(self.model.njnt):
            # Joints are numbered as MuJoCo meets them: branch by branch.
            number = int(mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_BODY, self.model.jnt_bodyid[k])[1:])
            first = self.model.jnt_dofadr[k]
            rate = np.atleast_1d(self.rates[number])
            data.qvel[first : first + len(rate)] = rate
        return data

    def step(self):
        self.model.opt.timestep = 1e-3
        best, whole = math.inf, time.process_time()
        steps = STEPS
        while True:
            data = self.begin()
            start = time.process_time()
            mujoco.mj_step(self.model, data, nstep=steps)
            spent = time.process_time() - start
            best = min(best, spent / steps * 1e6)
            if time.process_time() - whole > MOST:
                return best

    def second(self, steps):
        self.model.opt.timestep = 1.0 / steps
        data = self.begin()
        start = time.process_time()
        mujoco.mj_step(self.model, data, nstep=steps)
        spent = 1e3 * (time.process_time() - start)
        mujoco.mj_kinematics(self.model, data)
        return data.xipos[self.last].copy(), spent

    def until(self, exact, error, most):
        steps = 25
        while steps <= most:
            place, spent = self.second(steps)
            if np.linalg.norm(place - exact) <= error:
                total = spent
                while total < 1e3 * MOST:
                    again = self.second(steps)[1]
                    spent, total = min(spent, again), total + again
                return spent, f"{steps} steps"
            steps += max(steps // 4, 1)
        return None


class Drake:
    """The same links as a plant in continuous time."""

    def __init__(self, links):
        self.links = links
        self.plant = drake.MultibodyPlant(0.0)
        bodies = []
        for k, (parent, place, centre, axis, mass, inertia, _) in enumerate(links):
            at_centre = drake.RotationalInertia(*inertia)
            inertia = drake.SpatialInertia.MakeFromCentralInertia(mass, centre, at_centre)
            body = self.plant.AddRigidBody(f"b{k}", inertia)
            carrier = self.plant.world_body() if parent < 0 else bodies[parent]
            frame = drake.FixedOffsetFrame(f"f{k}", carrier.body_frame(), drake.RigidTransform(place))
            frame = self.plant.AddFrame(frame)
            if axis is None:
                joint = drake.BallRpyJoint(f"j{k}", frame, body.body_frame())
            else:
                joint = drake.RevoluteJoint(f"j{k}", frame, body.body_frame(), axis)
            self.plant.AddJoint(joint)
            bodies.append(body)
        self.plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
        self.plant.Finalize()

    def second(self, method, accuracy):
        simulator = drake.Simulator(self.plant)
        drake.ResetIntegratorFromFlags(simulator, method, 0.1)
        integrator = simulator.get_mutable_integrator()
        integrator.set_fixed_step_mode(False)
        integrator.set_target_accuracy(accuracy)
        context = simulator.get_mutable_context()
        for k, link in enumerate(self.links):
            joint = self.plant.GetJointByName(f"j{k}")
            if link[3] is None:
                joint.set_angular_velocity(context, link[6])
            else:
                joint.set_angular_rate(context, link[6])
        simulator.Initialize()
        start = time.process_time()
        simulator.AdvanceTo(1.0)
        spent = 1e3 * (time.process_time() - start)
        last = self.plant.GetBodyByName(f"b{len(self.links) - 1}")
        place = self.plant.EvalBodyPoseInWorld(context, last).multiply(np.array(self.links[-1][2]))
        return place, spent, integrator.get_num_steps_taken()

    def until(self, exact, error):
        best = None
        for method in ("runge_kutta3", "runge_kutta5"):
            accuracy = 1e-1
            while accuracy > 1e-12:
                place, spent, steps = self.second(method, accuracy)
                if np.linalg.norm(place - exact) <= error:
                    if best is None or spent < best[0]:
                        best = (spent, f"{method}, accuracy {accuracy:.0e}, {steps} steps")
                    break
                if spent > 2e4:
                    break
                accuracy /= 3
        return best


def say(name, value, unit, note=""):
    print(f"  {name:30} {value:10.3f} {unit}  {note}", flush=True)


def compare(name, links, exact_steps):
    model = in_mujoco(links)
    peer = MuJoCo(model, f"b{len(links) - 1}", [link[6] for link in links])
    say(f"{name}-rk4", peer.step(), "us", "a step of MuJoCo")
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    say(f"{name}-impulses", peer.step(), "us", "a step of MuJoCo's Euler")
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    exact, _ = peer.second(exact_steps)
    print(f"  {'':30} after 1 s at {exact[0]:.7f} {exact[1]:.7f} {exact[2]:.7f}")
    plant = Drake(links) if drake else None
    for error in (1e-3, 1e-6):
        of_peers = {"MuJoCo": peer.until(exact, error, exact_steps), "Drake": plant and plant.until(exact, error)}
        for who, found in of_peers.items():
            if found:
                say(f"{name}-{error:.0e}", found[0], "ms", f"1 s by {who}, {found[1]}")
            else:
                print(f"  {f'{name}-{error:.0e}':30} not reached by {who}")


CRANK, COUPLER, ROCKER, BASE = 1.0, 2.5, 2.0, 3.0


def bars(angle):
    """Centres and angles of the three bars."""
    tip, far = np.array([math.cos(angle), math.sin(angle)]), np.array([BASE, 0.0])
    between = far - tip
    distance = np.linalg.norm(between)
    along = (COUPLER**2 - ROCKER**2 + distance**2) / (2 * distance)
    n = between / distance
    pin = tip + n * along + np.array([-n[1], n[0]]) * math.sqrt(COUPLER**2 - along**2)
    centres = np.array([tip / 2, (tip + pin) / 2, (far + pin) / 2])
    return centres, np.array([angle, math.atan2(*(pin - tip)[::-1]), math.atan2(*(pin - far)[::-1])]), tip, pin


def four_bar_by_hand():
    """Where the middle of the rocker is after 1 s: one coordinate, Lagrange's equation, differences of fourth order."""
    d = 1e-3

    def slope(of, q):
        return (8 * (of(q + d) - of(q - d)) - (of(q + 2 * d) - of(q - 2 * d))) / (12 * d)

    def inertia(q):
        return np.sum(slope(lambda q: bars(q)[0], q) ** 2) + 0.3 * np.sum(slope(lambda q: bars(q)[1], q) ** 2)

    def height(q):
        return 9.81 * np.sum(bars(q)[0][:, 1])

    def rates(q, v):
        return np.array([v, -(0.5 * slope(inertia, q) * v * v + slope(height, q)) / inertia(q)])

    state, steps = np.array([1.0, 0.0]), 400
    h = 1.0 / steps
    for _ in range(steps):
        a = rates(*state)
        b = rates(*(state + h / 2 * a))
        c = rates(*(state + h / 2 * b))
        e = rates(*(state + h * c))
        state = state + h / 6 * (a + 2 * b + 2 * c + e)
    centre = bars(state[0])[0][2]
    return np.array([centre[0], 0.0, centre[1]])


def four_bar():
    centres, _, tip, pin = bars(1.0)
    at = lambda point: numbers([point[0], 0, point[1]])
    inertial = lambda centre: f'<inertial pos="{at(centre)}" mass="1" diaginertia="0.1 0.3 0.3"/>'
    hinge = '<joint type="hinge" axis="0 1 0"/>'
    # The constraint settles within two steps.
    text = lambda step: f"""
<mujoco><option integrator="RK4" gravity="0 0 -9.81" tolerance="1e-14"><flag contact="disable"/></option><worldbody>
<body name="b0">{hinge}{inertial(tip / 2)}
<body name="b1" pos="{at(tip)}">{hinge}{inertial((pin - tip) / 2)}</body></body>
<body name="b2" pos="{at([BASE, 0])}">{hinge}{inertial((pin - [BASE, 0]) / 2)}</body></worldbody>
<equality><connect body1="b1" body2="b2" anchor="{at(pin - tip)}" solref="{2 * step!r} 1" solimp="0.9999 0.9999 1e-6"/></equality>
</mujoco>"""
    exact = four_bar_by_hand()
    print(f"  {'':30} by its circles after 1 s at {exact[0]:.7f} {exact[1]:.7f} {exact[2]:.7f}")
    peer = lambda step: MuJoCo(mujoco.MjModel.from_xml_string(text(step)), "b2", [0.0] * 3)
    say("four-bar-rk4", peer(1e-3).step(), "us", "a step of MuJoCo")
    for error in (1e-3, 1e-6):
        steps, found, least = 25, None, math.inf
        while steps <= 20000 and found is None:
            place, _ = peer(1 / steps).second(steps)
            apart = np.linalg.norm(place - exact)
            least = min(least, apart) if math.isfinite(apart) else least
            found = (steps, min(peer(1 / steps).second(steps)[1] for _ in range(REPEATS))) if apart <= error else None
            steps += max(steps // 4, 1)
        if found:
            say(f"four-bar-{error:.0e}", found[1], "ms", f"1 s by MuJoCo, {found[0]} steps")
        else:
            print(f"  {f'four-bar-{error:.0e}':30} not reached by MuJoCo, {least:.1e} m at best", flush=True)


HIP, KNEE, SHOULDER, ELBOW = (-0.25, 4000, 0.5), (0.5, 4000, 0.5), (-0.4, 1000, 0.1), (0.0, 500, 0.1)
# Of each part: carrier, centre, edges, hinge, mass, servo (where it holds, how stiffly, rotor).
PARTS = [
    ("pelvis", -1, (0, 0, 0.97), (0.18, 0.3, 0.16), None, 11, None),
    ("trunk", 0, (0, 0, 1.27), (0.2, 0.34, 0.44), (0, 0, 1.05), 24, (0.0, 4000, 0.5)),
    ("head", 1, (0, 0, 1.62), (0.18, 0.18, 0.18), (0, 0, 1.5), 5, (0.0, 400, 0.05)),
]
for _y in (0.1, -0.1):
    _k = len(PARTS)
    PARTS += [
        (f"thigh{_k}", 0, (0, _y, 0.71), (0.14, 0.13, 0.42), (0, _y, 0.92), 7.5, HIP),
        (f"shank{_k}", _k, (0, _y, 0.29), (0.1, 0.1, 0.42), (0, _y, 0.5), 3.2, KNEE),
        (f"foot{_k}", _k + 1, (0.05, _y, 0.04), (0.26, 0.1, 0.08), (0, _y, 0.08), 1.0, HIP),
    ]
for _y in (0.22, -0.22):
    _k = len(PARTS)
    PARTS += [
        (f"upper{_k}", 1, (0, _y, 1.28), (0.08, 0.08, 0.28), (0, _y, 1.42), 2.0, SHOULDER),
        (f"fore{_k}", _k, (0, _y, 0.99), (0.07, 0.07, 0.3), (0, _y, 1.14), 1.6, ELBOW),
    ]


def standing():
    origin = [np.array(part[4] if part[4] else part[2], dtype=float) for part in PARTS]
    servos = []

    def body(k):
        name, on, centre, edges, hinge, mass, servo = PARTS[k]
        inside = "".join(body(child) for child in range(len(PARTS)) if PARTS[child][1] == k)
        place = origin[k] - (origin[on] if on >= 0 else 0)
        squares = [edge * edge * mass / 12 for edge in edges]
        inertia = [sum(squares) - own for own in squares]
        own = f'<inertial pos="{numbers(centre - origin[k])}" mass="{mass}" diaginertia="{numbers(inertia)}"/>'
        if servo is None:
            joint = "<freejoint/>"
        else:
            joint = f'<joint name="{name}" type="hinge" axis="0 1 0" armature="{servo[2]}"/>'
            servos.append(f'<position joint="{name}" kp="{servo[1]}" kv="{servo[1] / 16}"/>')
        geom = ""
        if name.startswith("foot"):
            geom = f'<geom type="box" size="{numbers(np.array(edges) / 2)}" pos="{numbers(centre - origin[k])}" friction="0.8"/>'
        return f'<body name="b{k}" pos="{numbers(place)}">{joint}{own}{geom}{inside}</body>'

    world = body(0)
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="2e-3" gravity="0 0 -9.81" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="5 5 1" friction="0.8"/>{world}</worldbody><actuator>{"".join(servos)}</actuator></mujoco>')
    targets = {part[0]: part[6][0] for part in PARTS if part[6]}
    best, deepest = math.inf, 0.0
    for repeat in range(REPEATS):
        data = mujoco.MjData(model)
        for k in range(model.nu):
            data.ctrl[k] = targets[model.joint(model.actuator_trnid[k, 0]).name]
        start = time.process_time()
        if repeat:
            mujoco.mj_step(model, data, nstep=500)
            best = min(best, (time.process_time() - start) / 500 * 1e6)
            continue
        for _ in range(500):
            mujoco.mj_step(model, data)
            if data.ncon:
                deepest = max(deepest, -data.contact.dist.min())
    say("humanoid-standing", best, "us", f"a step of MuJoCo, {deepest:.1e} m deep at most, pelvis at {data.qpos[2]:.4f} m after 1 s")


def main():
    # Steps that are too long diverge on purpose.
    mujoco.set_mju_user_warning(lambda message: None)
    print(f"MuJoCo {mujoco.__version__}, {'Drake' if drake else 'without Drake, which is not installed'}")
    compare("arm", hinged(ARM), 20000)
    compare("tree", hinged(TREE), 20000)
    compare("humanoid-hanging", hinged(HUMANOID), 20000)
    compare("chain-10", chain(10), 20000)
    four_bar()
    standing()
    compare("chain-100", chain(100), 4000)


main()
