"""Times Exudyn on the hanging beam and on a chain of rigid links, beside Oldham's own figures.

The beam of Fontana 2026, Sect. 5.1: 24 m, pinned at both ends, from straight under gravity,
h = 1e-4 s. `exact` is Exudyn's geometrically exact spatial beam (two-node elements) with the same
number of nodes as Oldham's three-node elements: the same model. `cable` is its planar ANCF cable
without shear and torsion, a smaller problem. The chain: links of 0.5 m and 1 kg joined by spherical
joints, h = 1e-3 s.

Usage: exudyn_peer.py [path of the oldham binary]
"""

import json
import subprocess
import sys
import time
import warnings

import exudyn as exu
import numpy as np
from exudyn.beams import GenerateStraightLineANCFCable2D
from exudyn.utilities import (
    CoordinateConstraint,
    InertiaCuboid,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerNodeCoordinate,
    NodePointGround,
    NodeRigidBodyRotVecLG,
    ObjectANCFCable2D,
    ObjectBeamGeometricallyExact,
    VCable2D,
)

STEPS = 1000
REPEATS = 5


def settings(step, steps):
    options = exu.SimulationSettings()
    options.timeIntegration.numberOfSteps = steps
    options.timeIntegration.endTime = step * steps
    options.timeIntegration.verboseMode = 0
    options.timeIntegration.newton.useModifiedNewton = True
    options.timeIntegration.generalizedAlpha.spectralRadius = 0.6
    options.solutionSettings.writeSolutionToFile = False
    options.parallel.numberOfThreads = 1
    options.linearSolverType = exu.LinearSolverType.EigenSparse
    return options


def microseconds(build, step):
    best = float("inf")
    for _ in range(REPEATS):
        container = exu.SystemContainer()
        system = container.AddSystem()
        build(system)
        system.Assemble()
        start = time.process_time()
        system.SolveDynamic(settings(step, STEPS))
        best = min(best, time.process_time() - start)
    return best / STEPS * 1e6


def exact_beam(elements):
    """The same number of nodes as so many three-node elements."""

    def build(system):
        section = exu.BeamSection()
        section.stiffnessMatrix = np.diag([1e6, 0.6e6, 0.6e6, 1e3, 2e3, 1e4])
        section.inertia = np.diag([0.1, 0.05, 0.05])
        section.massPerLength = 5.0
        length = 24.0 / (2 * elements)
        nodes = [
            system.AddNode(NodeRigidBodyRotVecLG(referenceCoordinates=[i * length, 0, 0, 0, 0, 0]))
            for i in range(2 * elements + 1)
        ]
        for pair in zip(nodes, nodes[1:]):
            element = ObjectBeamGeometricallyExact(
                nodeNumbers=list(pair), length=length, sectionData=section
            )
            marker = system.AddMarker(MarkerBodyMass(bodyNumber=system.AddObject(element)))
            system.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, 0, -9.81]))
        ground = system.AddNode(NodePointGround())
        fixed = system.AddMarker(MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        for node in (nodes[0], nodes[-1]):
            for coordinate in (0, 1, 2, 3, 5):
                marker = MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)
                moving = system.AddMarker(marker)
                system.AddObject(CoordinateConstraint(markerNumbers=[fixed, moving]))

    return build


def cable(elements):
    def build(system):
        cable = ObjectANCFCable2D(
            physicsMassPerLength=5.0,
            physicsBendingStiffness=2e3,
            physicsAxialStiffness=1e6,
            visualization=VCable2D(show=False),
        )
        GenerateStraightLineANCFCable2D(
            system,
            [0, 0, 0],
            [24.0, 0, 0],
            elements,
            cable,
            massProportionalLoad=[0, -9.81, 0],
            fixedConstraintsNode0=[1, 1, 0, 0],
            fixedConstraintsNode1=[1, 1, 0, 0],
        )

    return build


def chain(links):
    def build(system):
        ground = system.CreateGround()
        last = ground
        for link in range(links):
            inertia = InertiaCuboid(density=1.0 / (0.5 * 0.05 * 0.05), sideLengths=[0.5, 0.05, 0.05])
            body = system.CreateRigidBody(
                referencePosition=[(link + 0.5) * 0.5, 0, 0],
                initialVelocity=[0, 0.4 * (link + 0.5) * 0.5, 0],
                initialAngularVelocity=[0, 0, 0.4],
                inertia=inertia,
                gravity=[0, 0, -9.81],
            )
            system.CreateSphericalJoint(bodyNumbers=[last, body], position=[link * 0.5, 0, 0])
            last = body

    return build


def own(binary, name):
    answer = subprocess.run([binary, "bench", name, "--json"], capture_output=True, check=True)
    return {figure["name"]: figure["value"] for figure in json.loads(answer.stdout)["figures"]}


def main():
    warnings.simplefilter("ignore", DeprecationWarning)
    exu.config.printToConsole = False
    peers = []
    for elements in (6, 12, 24):
        peers.append((f"beam-{elements}", "exact", microseconds(exact_beam(elements), 1e-4)))
        peers.append((f"beam-{elements}", "cable", microseconds(cable(elements), 1e-4)))
    peers.append(("chain-10", "rigid", microseconds(chain(10), 1e-3)))
    ours = {**own(sys.argv[1], "beam"), **own(sys.argv[1], "chain")} if len(sys.argv) > 1 else {}
    print(f"Exudyn {exu.__version__}, one thread, CPU time per step, best of {REPEATS}")
    print(f"{'':16} {'Exudyn / us':>12} {'Oldham / us':>12} {'ratio':>7}")
    for name, kind, value in peers:
        mine = ours.get(name)
        shown = f"{mine:12.1f} {value / mine:7.1f}" if mine else ""
        print(f"{name + ' ' + kind:16} {value:12.1f} {shown}")


main()
