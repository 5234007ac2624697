"""The two coupled masses of tamellin 2022, run by hand: errors without compensation and with the printed gains.

    python3 papers/oracles/tamellin_two_masses.py > papers/oracles/tamellin_two_masses.txt

Needs NumPy and SciPy. `crates/papers/tests/values.rs` compares with the numbers that stand there. Explicit Jacobi, inputs
held, semi-implicit Euler on both sides, one micro step a macro step (Sect. 5.1, 5.2). The force that is sent at the end of a step still
knows the motion that was held over it. The compensator is Eq. 37 to 40; an acceleration that a side feeds back to itself is that of the very step.
"""

import numpy as np
from scipy.linalg import expm

M1, M2, K1, K2, KC = 1.0, 1.0, 10.0, 1000.0, 100.0
# d, f and g of Tables 4: on mass 1 from itself and from mass 2, on mass 2 from mass 1 and from itself.
NONE = np.zeros((3, 4))
UNDAMPED = np.array([[-0.0035, 0.0004, -0.0108, -0.0012], [0.0, -0.0498, -0.0499, 0.0994], [-0.4222, 0.7846, -1.0729, -0.1962]])


def histories(damping, step, gains, duration):
    """Displacement of mass 2 and coupling force, as they run and exactly."""
    c1 = c2 = cc = damping
    d, f, g = gains
    steps = round(duration / step)
    x1 = x2 = 0.0
    v1, v2 = 100.0, -100.0
    a1 = a2 = 0.0
    # What is held: motion of mass 2 for side 1, the force for side 2.
    force = KC * (x1 - x2) + cc * (v1 - v2)
    sent = force - (d[2] * a1 + f[2] * v1 + g[2] * x1)
    found = np.empty((steps + 1, 2))
    found[0] = x2, force
    for n in range(steps):
        held_x, held_v, held_a = x2, v2, a2
        received = sent
        own = f[0] * v1 + g[0] * x1 + d[1] * held_a + f[1] * held_v + g[1] * held_x
        a1 = (-K1 * x1 - c1 * v1 - KC * (x1 - held_x) - cc * (v1 - held_v) - own) / (M1 + d[0])
        v1 += step * a1
        x1 += step * v1
        a2 = (-K2 * x2 - c2 * v2 + received - f[3] * v2 - g[3] * x2) / (M2 + d[3])
        v2 += step * a2
        x2 += step * v2
        force = KC * (x1 - held_x) + cc * (v1 - held_v)
        sent = force - (d[2] * a1 + f[2] * v1 + g[2] * x1)
        found[n + 1] = x2, force
    damper = np.array([[c1 + cc, -cc], [-cc, c2 + cc]])
    spring = np.array([[K1 + KC, -KC], [-KC, K2 + KC]])
    once = expm(step * np.block([[np.zeros((2, 2)), np.eye(2)], [-spring, -damper]]))
    state = np.array([0.0, 0.0, 100.0, -100.0])
    exact = np.empty_like(found)
    for n in range(steps + 1):
        exact[n] = state[1], KC * (state[0] - state[1]) + cc * (state[2] - state[3])
        state = once @ state
    return found, exact


def nrms_until(found, exact):
    """Eq. 42 over all times up to each."""
    count = np.arange(1, len(found) + 1)[:, None]
    mean = np.cumsum((found - exact) ** 2, axis=0) / count
    span = np.maximum.accumulate(exact, axis=0) - np.minimum.accumulate(exact, axis=0)
    return np.sqrt(mean) / np.where(span > 0, span, np.inf)


def main():
    displacement, force = nrms_until(*histories(0.0, 1e-3, UNDAMPED, 10.0))[-1]
    print(f"undamped, 1 ms, printed gains, 10 s: displacement {displacement:.5f}, force {force:.5f}")
    for name, damping, step, printed in (("undamped, 1 ms", 0.0, 1e-3, 5.159), ("damped, 4 ms", 0.1, 4e-3, 4.909)):
        errors = nrms_until(*histories(damping, step, NONE, 96.0))[:, 0]
        print(f"{name}, no compensation: displacement {errors[round(10 / step)]:.4f} at 10 s, {printed} reached at {step * np.argmax(errors >= printed):.3f} s")


if __name__ == "__main__":
    main()
