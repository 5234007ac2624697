"""The machine of two-solvers.toml: carts with pendula on a rail, and a mass between them.

    wall --k-- [cart a] --k-- [middle] --k-- [cart b] --k-- wall
                  |                             |
               pendulum                      pendulum

Cart a is a scene of MuJoCo, cart b a mechanism of Exudyn. Both can also have all of it, to compare with.
"""

K, C = 1000.0, 5.0  # N/m, N.s/m: all springs
MIDDLE = 3.0  # kg
G = 9.81
#        mass of the cart, mass and length of the pendulum, where cart and pendulum begin
A = dict(cart=2.0, bob=0.5, length=0.5, x=0.05, angle=0.3)
B = dict(cart=1.0, bob=0.3, length=0.3, x=0.0, angle=0.0)


def course(t, end, before, after):
    """The prescribed motion within a step: a cubic between displacements and velocities at its ends."""
    h, (x0, v0, _), (x1, v1, _) = end - t, before, after

    def at(now):
        s = (now - t) / h
        a, b = 2 * (x0 - x1) + h * (v0 + v1), 3 * (x1 - x0) - h * (2 * v0 + v1)
        return x0 + s * (h * v0 + s * (b + s * a)), v0 + s * (2 * b + s * 3 * a) / h

    return at


def by_mujoco(carts, middle):
    """A scene of MuJoCo with these carts ("a", "b") and the mass between them."""
    import mujoco

    text = f'<mujoco><option gravity="0 0 {-G}" integrator="RK4"/><worldbody>'
    tendons = ""
    for place, (name, cart) in zip((-1, 1), (("a", A), ("b", B))):
        text += f'<site name="wall {name}" pos="{2 * place} 0 0"/>'
        if name not in carts:
            continue
        text += f"""<body pos="{place} 0 0"><joint name="{name}" type="slide" axis="1 0 0"/>
            <inertial pos="0 0 0" mass="{cart['cart']}" diaginertia="1 1 1"/><site name="{name}"/>
            <body><joint name="pendulum {name}" type="hinge" axis="0 -1 0"/>
            <inertial pos="0 0 {-cart['length']}" mass="{cart['bob']}" diaginertia="1e-9 1e-9 1e-9"/></body></body>"""
        for other in (f"wall {name}", "middle"):
            tendons += f"""<spatial stiffness="{K}" damping="{C}" springlength="1"><site site="{other}"/>
                <site site="{name}"/></spatial>"""
    text += f"""<body><joint name="middle" type="slide" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="{middle}" diaginertia="1 1 1"/><site name="middle"/></body>"""
    text += f"</worldbody><tendon>{tendons}</tendon></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for name, cart in (("a", A), ("b", B)):
        if name in carts:
            data.joint(name).qpos[0] = cart["x"]
            data.joint("pendulum " + name).qpos[0] = cart["angle"]
    return model, data


def by_exudyn(carts, prescribed=None):
    """A mechanism of Exudyn with these carts; the middle moves freely, or as a function of the time says."""
    import math

    import exudyn as exu
    import exudyn.itemInterface as items

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddNode(items.NodePointGround())
    fixed = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))

    def point(mass, x, y, free_in_y):
        node = mbs.AddNode(items.NodePoint2D(initialCoordinates=[x, y]))
        mbs.AddObject(items.MassPoint2D(physicsMass=mass, nodeNumber=node))
        along, across = [mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k)) for k in (0, 1)]
        if not free_in_y:
            mbs.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, across]))
        else:
            place = mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node))
            mbs.AddLoad(items.LoadForceVector(markerNumber=place, loadVector=[0, -mass * G, 0]))
        return node, along

    def spring(one, other):
        mbs.AddObject(items.CoordinateSpringDamper(markerNumbers=[one, other], stiffness=K, damping=C))

    sensors = {}
    middle, along = point(MIDDLE if prescribed is None else 1e-6, 0, 0, False)
    sensors["middle"] = mbs.AddSensor(items.SensorNode(nodeNumber=middle, outputVariableType=exu.OutputVariableType.Coordinates, storeInternal=True, writeToFile=False))
    for name, cart in (("a", A), ("b", B)):
        if name not in carts:
            continue
        node, moves = point(cart["cart"], cart["x"], 0, False)
        spring(fixed, moves)
        spring(along, moves)
        tip = (cart["x"] + cart["length"] * math.sin(cart["angle"]), -cart["length"] * math.cos(cart["angle"]))
        bob, _ = point(cart["bob"], *tip, True)
        ends = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=n)) for n in (node, bob)]
        mbs.AddObject(items.DistanceConstraint(markerNumbers=ends, distance=cart["length"]))
        sensors[name] = mbs.AddSensor(items.SensorNode(nodeNumber=node, outputVariableType=exu.OutputVariableType.Coordinates, storeInternal=True, writeToFile=False))
    if prescribed is not None:
        held = mbs.AddObject(items.CoordinateConstraint(
            markerNumbers=[fixed, along],
            offsetUserFunction=lambda mbs, t, number, offset: prescribed(t)[0],
            offsetUserFunction_t=lambda mbs, t, number, offset: prescribed(t)[1]))
        sensors["force"] = mbs.AddSensor(items.SensorObject(objectNumber=held, outputVariableType=exu.OutputVariableType.Force, storeInternal=True, writeToFile=False))
    mbs.Assemble()
    return exu, mbs, sensors


def settings(exu, start, end, steps):
    """How Exudyn takes so many steps."""
    given = exu.SimulationSettings()
    given.timeIntegration.startTime, given.timeIntegration.endTime = start, end
    given.timeIntegration.numberOfSteps = steps
    given.timeIntegration.verboseMode = 0
    given.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    given.timeIntegration.newton.relativeTolerance = 1e-10
    given.timeIntegration.newton.absoluteTolerance = 1e-12
    given.solutionSettings.writeSolutionToFile = False
    given.solutionSettings.sensorsWritePeriod = (end - start) / steps
    given.displayStatistics = given.displayComputationTime = False
    return given
