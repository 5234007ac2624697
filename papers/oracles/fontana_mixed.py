"""Errors of the four masses when the coupling subsystem has another integrator (fontana 2026, Fig. 13), from the equations alone.

    python3 papers/oracles/fontana_mixed.py > papers/oracles/fontana_mixed.txt

Needs NumPy. `crates/stability/tests/mixed_solvers.rs` and `crates/model/tests/model/explicit.rs` compare with the ratios. All masses
are displaced by 1 cm and released; errors are root mean squares of the interface over two seconds, against the exact solution
and relative to the monolithic solution by the two-step method. Where the two-step method begins is not stated in the paper:
here the past is either at rest where the masses are held, or that of the exact solution, and both are printed.
"""

import numpy as np

from fontana_oscillators import A1, A2, B0, B1, B2, BASELINE, H, structure

STEPS = 2000


def exact(steps):
    """Positions, velocities and accelerations of bodies 1, 2 with 3, and 4, from one step before the start."""
    mass, damping, stiffness = structure(BASELINE)
    n = len(mass)
    inverse = np.linalg.inv(mass)
    first_order = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ stiffness, -inverse @ damping]])
    values, vectors = np.linalg.eig(first_order)
    amplitudes = np.linalg.solve(vectors, np.concatenate([np.full(n, 0.01), np.zeros(n)]))
    times = H * np.arange(-1, steps + 1)
    states = ((vectors * amplitudes) @ np.exp(np.outer(values, times))).real.T
    return np.hstack([states, (first_order @ states.T).T[:, n:]])


def past(start):
    """What is known one step before the start: x, v and a of the three bodies."""
    if start == "exact":
        return exact(1)[0]
    return np.concatenate([np.full(3, 0.01), np.zeros(6)])


def monolithic(start):
    mass, damping, stiffness = structure(BASELINE)
    now, old = exact(1)[1], past(start)
    found = [now[1]]
    left = mass + H * B0 * damping + (H * B0) ** 2 * stiffness
    for _ in range(STEPS):
        x, v, a, xo, vo, ao = now[:3], now[3:6], now[6:], old[:3], old[3:6], old[6:]
        known_x = A1 * x + A2 * xo + H * (B1 * v + B2 * vo)
        known_v = A1 * v + A2 * vo + H * (B1 * a + B2 * ao)
        end = -np.linalg.solve(left, damping @ known_v + stiffness @ (known_x + H * B0 * known_v))
        velocity = known_v + H * B0 * end
        now, old = np.concatenate([known_x + H * B0 * velocity, velocity, end]), now
        found.append(now[1])
    return np.array(found)


class Side:
    """One free body between a wall and the copy of the interface, which is led."""

    def __init__(self, mass, body, start):
        now, old = exact(1)[1], past(start)
        self.m = mass
        self.now = now[[body, body + 3, body + 6]]
        self.old = old[[body, body + 3, body + 6]]
        self.copy_now, self.copy_old = now[[1, 4]], old[[1, 4]]

    def force(self):
        k, c = BASELINE["k"], BASELINE["c"]
        return k * (self.now[0] - self.copy_now[0]) + c * (self.now[1] - self.copy_now[1])

    def step(self, led):
        k, c = BASELINE["k"], BASELINE["c"]
        (x, v, a), (xo, vo, ao) = self.now, self.old
        (y, w), (yo, wo) = self.copy_now, self.copy_old
        speed = (led - A1 * y - A2 * yo - H * (B1 * w + B2 * wo)) / (H * B0)
        known_x = A1 * x + A2 * xo + H * (B1 * v + B2 * vo)
        known_v = A1 * v + A2 * vo + H * (B1 * a + B2 * ao)
        left = self.m + H * B0 * 2 * c + (H * B0) ** 2 * 2 * k
        end = (k * led + c * speed - 2 * c * known_v - 2 * k * (known_x + H * B0 * known_v)) / left
        velocity = known_v + H * B0 * end
        self.old, self.now = self.now, np.array([known_x + H * B0 * velocity, velocity, end])
        self.copy_old, self.copy_now = self.copy_now, np.array([led, speed])


def coupled(integrator, start):
    """The loose scheme with Hermite's prediction; the coupling subsystem sees forces on the line between two exchanges."""
    mass = BASELINE["m2"] + BASELINE["m3"]
    sides = [Side(BASELINE["m1"], 0, start), Side(BASELINE["m4"], 2, start)]
    now, old = exact(1)[1], past(start)
    (x, v), (xo, vo) = now[[1, 4]], old[[1, 4]]
    force = sum(side.force() for side in sides)
    before = mass * old[7] if start == "exact" else 0.0
    found = [x]
    for _ in range(STEPS):
        rate = -12 / H * (x - xo) + 8 * v + 5 * vo
        led = A1 * x + A2 * xo + H * (B1 * v + B2 * vo) + H * B0 * rate
        for side in sides:
            side.step(led)
        after = sum(side.force() for side in sides)
        if integrator == "two-step":
            velocity = A1 * v + A2 * vo + H * (B1 * force + B2 * before + B0 * after) / mass
            position = A1 * x + A2 * xo + H * (B1 * v + B2 * vo + B0 * velocity)
        elif integrator == "runge-kutta, interpolated":
            velocity = v + H * (force + after) / 2 / mass
            position = x + H * v + H**2 * (force / 3 + after / 6) / mass
        elif integrator == "runge-kutta, held":
            velocity = v + H * force / mass
            position = x + H * v + H**2 * force / 2 / mass
        else:
            velocity = v + H * after / mass
            position = x + H * velocity
        x, xo, v, vo, force, before = position, x, velocity, v, after, force
        found.append(x)
    return np.array(found)


def main():
    reference = exact(STEPS)[1:, 1]
    error = lambda found: np.sqrt(np.mean((found - reference)[1:] ** 2))
    for start in ("at rest", "exact"):
        whole = error(monolithic(start))
        print(f"monolithic, past {start}: error {whole:.4e} m")
        for integrator in ("two-step", "runge-kutta, interpolated", "runge-kutta, held", "backward Euler"):
            print(f"{integrator}, past {start}: {error(coupled(integrator, start)) / whole:.4g} times that")


if __name__ == "__main__":
    main()
