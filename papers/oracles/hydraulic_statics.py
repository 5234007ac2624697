"""Static equilibria of the hydraulic manipulators of pikulinski 2026 and peiret 2020, from their equations alone.

    python3 papers/oracles/hydraulic_statics.py > papers/oracles/hydraulic_statics.txt

Needs SciPy. Compared with in `crates/hydraulics/src/equilibrium.rs`, `crates/hydraulics/tests/circuit.rs` and
`crates/papers/tests/peiret.rs`. The loads are found by virtual work with differences of the actuators' lengths, the
pressures as roots of the flow balances (pikulinski Eq. 32, 33 with everything at rest), not by closed forms.
"""

import numpy as np
from scipy.optimize import brentq

PUMP, TANK, AREA, GRAVITY = 7.6e6, 1e5, 65e-4, 9.81


def chamber(inward, outward):
    """The pressure at which as much oil enters through `inward` as leaves through `outward`."""
    return brentq(lambda p: inward * np.sqrt(PUMP - p) - outward * np.sqrt(p - TANK), TANK, PUMP, xtol=1e-7, rtol=1e-15)


def pressures(spool):
    return chamber(spool, 1 - spool), chamber(1 - spool, spool)


def spool_for(load):
    def excess(spool):
        first, second = pressures(spool)
        return AREA * (second - first) - load

    return brentq(excess, 1e-6, 1 - 1e-6, xtol=1e-15)


def loads(energy, lengths, angles):
    """The thrusts that balance the weight: dE/dangle = thrust_i dlength_i/dangle."""
    n, step = len(angles), 1e-6

    def slope(function, i):
        ahead, behind = np.array(angles), np.array(angles)
        ahead[i] += step
        behind[i] -= step
        return (function(ahead) - function(behind)) / (2 * step)

    gradient = np.array([slope(energy, i) for i in range(n)])
    levers = np.array([[slope(lambda q: lengths(q)[j], i) for j in range(n)] for i in range(n)])
    return np.linalg.solve(levers, gradient)


def along(angle, length):
    return length * np.array([np.cos(angle), np.sin(angle)])


def one_actuator():
    """pikulinski Sect. 3.3: a boom of 1 m and 200 kg at 30 degrees, 350 kg at its end, carried at 0.5 m."""
    energy = lambda q: GRAVITY * (200 * 0.5 + 350) * np.sin(q[0])
    # The actuator stands where its angle to the boom is 60 degrees and its length 0.5 m.
    start = along(np.pi / 6, 0.5)
    foot = start - along(np.pi / 2, 0.5)
    lengths = lambda q: [np.linalg.norm(along(q[0], 0.5) - foot)]
    return loads(energy, lengths, [np.pi / 6])


def two_actuators():
    """peiret Table 2, with A at (0.3, -0.3) m and the second actuator 0.1 m from Q on link 1 and 0.45 m along link 2."""
    foot = np.array([0.3, -0.3])

    def energy(q):
        tip = np.sin(q[0]) + 0.5 * np.sin(q[1])
        return GRAVITY * (200 * 0.5 * np.sin(q[0]) + 250 * np.sin(q[0]) + 100 * tip)

    def lengths(q):
        elbow = along(q[0], 1.0)
        return [
            np.linalg.norm(along(q[0], 0.5) - foot),
            np.linalg.norm(elbow + along(q[1], 0.45) - along(q[0], 0.9)),
        ]

    return loads(energy, lengths, np.radians([30.0, -60.0]))


def main():
    (load,) = one_actuator()
    spool = spool_for(load)
    first, second = pressures(spool)
    print(f"one actuator: load {load:.3f} N, spool {spool:.6f}, pressures {first / 1e6:.5f} and {second / 1e6:.5f} MPa")
    for name, load in zip(("boom", "stick"), two_actuators()):
        print(f"two actuators, {name}: load {load:.3f} N, spool {spool_for(load):.6f}")


if __name__ == "__main__":
    main()
