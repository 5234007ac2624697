"""The two-mass oscillator of zhang 2022 from its equations alone: spectral radii, maps of stability, errors.

    python3 papers/oracles/zhang_two_masses.py > papers/oracles/zhang_two_masses.txt

Needs NumPy. `crates/papers/tests/zhang.rs` compares with the numbers that stand there. Mass 1 is stepped by the
two-step method (Eq. 6, 7), mass 2 by the impulse method (Eq. 38); the inputs are Eq. 39 and 42, the prediction is
Eq. 33 to 35.
"""

import numpy as np

# alpha dt^2, beta dt, gamma
LAWS = {"index-3": (1.0, 0.0, 0.0), "index-2": (1.0, 1.0, 0.0), "index-1": (2.0, 2.0, 1.0)}
ORDERS = ("nonsmooth first", "smooth first", "both at once", "implicit")
# Position, velocity and force of mass 1 now and before, position and velocity of mass 2, the reaction that was sent last.
STATES = 9


def weights(rho):
    """a1, a2, b0, b1, b2 of Eq. 7."""
    share = (1 - rho) ** 2 / (4 - (1 - rho) ** 2)
    a2 = (3 * (1 - rho) ** 2 + 4 * (2 * rho - 1)) / (4 - (1 - rho) ** 2)
    return 1 - a2, a2, share / 2 + 0.5, a2 / 2 + 0.5 - share, a2 / 2 + share / 2


def step_matrix(phase, rho, law, order="nonsmooth first", ratio=1.0, dt=1e-3):
    """The matrix that takes the state over a step; `phase` is omega_01 dt, `ratio` m2 / m1 with m1 = 1 kg."""
    a1, a2, b0, b1, b2 = weights(rho)
    k, m2 = (phase / dt) ** 2, ratio
    # Each quantity is a row: how it depends on the state, and on a trial force in the last place.
    x, v, u, xo, vo, uo, y, w, sent, trial = np.eye(STATES + 1)

    def smooth(force):
        """Position, velocity and acceleration of mass 1 at the end, if `force` acts there."""
        known_x = a1 * x + a2 * xo + dt * (b1 * v + b2 * vo)
        known_v = a1 * v + a2 * vo + dt * (b1 * (u - k * x) + b2 * (uo - k * xo))
        velocity = (known_v + dt * b0 * (force - k * known_x)) / (1 + (dt * b0) ** 2 * k)
        position = known_x + dt * b0 * velocity
        return position, velocity, force - k * position

    def predicted():
        velocity = -12 / dt * (x - xo) + 8 * v + 5 * vo
        position = a1 * x + a2 * xo + dt * (b1 * v + b2 * vo) + dt * b0 * velocity
        return position, velocity, u - k * x

    def nonsmooth(position, velocity, acceleration):
        """Velocity of mass 2 at the end, and the reaction on mass 1."""
        if law == "original":
            end = velocity - (y - x) / dt
        else:
            alpha, beta, gamma = LAWS[law] if isinstance(law, str) else law
            end = (alpha * (position - y) / dt + beta * velocity + gamma * (w + dt * acceleration)) / (alpha + beta + gamma)
        return end, m2 * (w - end) / dt

    if order == "nonsmooth first":
        end, reaction = nonsmooth(*predicted())
        force = reaction
    elif order == "smooth first":
        force = sent
        end, reaction = nonsmooth(*smooth(force))
    elif order == "both at once":
        force = sent
        end, reaction = nonsmooth(*predicted())
    else:
        # The reaction is affine in the force: its fixed point.
        _, reaction = nonsmooth(*smooth(trial))
        force = (reaction - reaction[-1] * trial) / (1 - reaction[-1])
        end, reaction = nonsmooth(*smooth(force))
    position, velocity, _ = smooth(force)
    return np.array([position, velocity, force, x, v, u, y + dt * end, end, reaction])[:, :STATES]


def radius(phase, rho, law, order="nonsmooth first", ratio=1.0, dt=1e-3):
    # In units in which all entries have one size.
    size = dt ** np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    matrix = step_matrix(phase, rho, law, order, ratio, dt)
    return np.abs(np.linalg.eigvals(size[:, None] * matrix / size)).max()


def share(law, order="nonsmooth first", ratio=1.0):
    """The stable part of the grid of 40 by 41 points."""
    points = [(0.05 * i, 0.025 * j) for i in range(1, 41) for j in range(41)]
    return np.mean([radius(phase, rho, law, order, ratio) <= 1 + 1e-8 for phase, rho in points])


def error(law, order, dt):
    """Eq. 47 for the position of mass 1 over 0.5 s; both masses start at 0.1 m/s, their past is the exact one."""
    frequency = np.sqrt(2500.0)
    matrix = step_matrix(np.sqrt(5000.0) * dt, 0.56, law, order, dt=dt)

    def exact(t):
        return 0.1 / frequency * np.sin(frequency * t), 0.1 * np.cos(frequency * t), 0.1 * frequency * np.sin(frequency * t)

    state = np.array([*exact(0), *exact(-dt), *exact(0)[:2], 0.0])
    difference = size = 0.0
    for n in range(1, round(0.5 / dt) + 1):
        state = matrix @ state
        difference += abs(state[0] - exact(n * dt)[0])
        size += abs(exact(n * dt)[0])
    return difference / size


def main():
    phase = np.sqrt(5000.0) * 1e-3
    for order in ORDERS[:3]:
        for law in ["original", *LAWS]:
            print(f"Fig. 5, {order}, {law}: radius {radius(phase, 0.56, law, order):.5f}, stable {share(law, order):.4f}")
    for factor in (0.2, 20.0, 200.0):
        print(f"Fig. 6, weights {factor}, {factor}, 1: stable {share((factor, factor, 1.0)):.4f}")
    print(f"Fig. 6, implicit: stable {share('original', 'implicit'):.4f}")
    for ratio in (0.5, 2.0):
        for law in ("original", "index-1"):
            print(f"Fig. 7, ratio {ratio}, {law}: stable {share(law, ratio=ratio):.4f}")
    for law in ("original", "index-2", "index-1"):
        print(f"Fig. 7, ratio 2, smooth first, {law}: stable {share(law, 'smooth first', 2.0):.4f}")
    for law, order in (("index-1", "nonsmooth first"), ("original", "implicit"), ("index-1", "implicit")):
        for dt in (1e-3, 1e-4, 1e-5):
            print(f"Fig. 9, {law}, {order}, {dt:g} s: error {error(law, order, dt):.6f}")


if __name__ == "__main__":
    main()
