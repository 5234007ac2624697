"""Multipliers of linear equations with periodic coefficients, and the period of Van der Pol's oscillator, by SciPy.

    python3 crates/study/tests/data/floquet.py > crates/study/tests/data/floquet.txt

`trim.rs` and `floquet.rs` compare with the numbers that stand there. Each is computed with two tolerances; what they differ by is printed, too.
"""

import numpy as np
from scipy.integrate import solve_ivp


def monodromy(stiffness, damping, period, n, tolerance):
    """The matrix of x'' + damping x' + stiffness(t) x = 0 over a period."""

    def rhs(t, y):
        z = y.reshape(2 * n, 2 * n)
        x, v = z[:n], z[n:]
        return np.concatenate([v, -damping * v - stiffness(t) @ x]).ravel()

    start = np.eye(2 * n).ravel()
    solution = solve_ivp(rhs, (0, period), start, method="DOP853", rtol=tolerance, atol=1e-15, max_step=period / 400)
    return solution.y[:, -1].reshape(2 * n, 2 * n)


def radii(*arguments):
    found = [np.sort(np.abs(np.linalg.eigvals(monodromy(*arguments, tolerance))))[::-1] for tolerance in (1e-12, 3e-14)]
    return found[1], np.abs(found[0] - found[1]).max()


def told(name, *arguments):
    values, off = radii(*arguments)
    print(name, " ".join(f"{value:.13f}" for value in values), f"+- {off:.0e}")


def one(law):
    return lambda t: np.array([[law(t)]])


# Hill's equation with two harmonics, in its first tongue and beside it.
for delta in (1.0, 1.6):
    told(f"hill {delta}", one(lambda t: delta + 0.3 * np.cos(2 * t) + 0.2 * np.cos(4 * t)), 0.05, np.pi, 1)

# A pendulum of 0.2 m upside down on a support that is shaken by 10 mm: at 60 rad/s it falls, at 400 rad/s it stands.
for omega in (60.0, 400.0):
    told(
        f"inverted {omega:.0f}",
        one(lambda t: -(9.81 - 0.01 * omega**2 * np.cos(omega * t)) / 0.2),
        0.4,
        2 * np.pi / omega,
        1,
    )


# Jeffcott's rotor whose shaft is 100 and 60 N/m stiff across, 1 kg, damping 0.2 N.s/m: between its critical speeds and above them.
def unequal(speed):
    def law(t):
        c, s = np.cos(2 * speed * t), np.sin(2 * speed * t)
        return 80 * np.eye(2) + 20 * np.array([[c, s], [s, -c]])

    return law


for speed in (9.0, 15.0):
    told(f"jeffcott {speed:.0f}", unequal(speed), 0.2, np.pi / speed, 2)


# Van der Pol's oscillator, mu = 1.
def van_der_pol(tolerance):
    def rhs(t, y):
        return [y[1], (1 - y[0] ** 2) * y[1] - y[0]]

    def upwards(t, y):
        return y[0]

    upwards.direction = 1
    solution = solve_ivp(
        rhs, (0, 200), [2, 0], method="DOP853", rtol=tolerance, atol=1e-15, max_step=0.02, events=upwards
    )
    return np.diff(solution.t_events[0])[-1]


periods = [van_der_pol(tolerance) for tolerance in (1e-12, 3e-14)]
print(f"van-der-pol {periods[1]:.12f} +- {abs(periods[0] - periods[1]):.0e}")
