"""Poles of force–displacement couplings with a zero-order hold (tamellin 2022, Sect. 3 and 6) from their equations alone.

    python3 papers/oracles/tamellin_poles.py > papers/oracles/tamellin_poles.txt

Needs mpmath. `crates/cli/tests/poles.rs` compares with the numbers that stand there. What is exchanged passes the hold
(1 - exp(-s T))/(s T): the side that receives a motion sees x_in - H x_out across the coupling spring, the other side the force of
that spring times H. Each pole is the root of the determinant that Newton's method finds from the pole without a coupling delay.
"""

from mpmath import exp, findroot, matrix, mp, det, polyroots, mpf, mpc

mp.dps = 30


class Chain:
    """Masses in a row between two walls; `springs` has stiffness and damping left of each mass and right of the last one."""

    def __init__(self, masses, springs, cut):
        """The coupling spring is that with the index `cut`; the side left of it receives the motion."""
        self.masses, self.springs, self.cut = masses, springs, cut

    def dynamic_stiffness(self, s, hold):
        n = len(self.masses)
        found = matrix(n, n)
        for i, mass in enumerate(self.masses):
            found[i, i] += mass * s**2
        for index, (k, c) in enumerate(self.springs):
            z = k + c * s
            left, right = index - 1, index
            if left >= 0:
                found[left, left] += z
            if right < n:
                # The reaction of the coupling spring on the right side is held, and what it sees of that side, too.
                found[right, right] += z * (hold**2 if index == self.cut else 1)
            if left >= 0 and right < n:
                factor = hold if index == self.cut else 1
                found[left, right] -= z * factor
                found[right, left] -= z * factor
        return found

    def without_delay(self):
        """Roots of the determinant without a hold, from its values at the nodes of an interpolation."""
        n = 2 * len(self.masses)
        places = [mpf(j) - mpf(n) / 2 for j in range(n + 1)]
        values = [det(self.dynamic_stiffness(p, mpf(1))) for p in places]
        vandermonde = matrix(n + 1, n + 1)
        for i, p in enumerate(places):
            for j in range(n + 1):
                vandermonde[i, j] = p ** (n - j)
        coefficients = mp.lu_solve(vandermonde, matrix(values))
        roots = polyroots(list(coefficients), maxsteps=500, extraprec=200)
        return sorted((root for root in roots if root.imag > 0), key=lambda root: root.imag)

    def with_hold(self, period):
        def function(s):
            hold = (1 - exp(-s * period)) / (s * period)
            return det(self.dynamic_stiffness(s, hold))

        return [findroot(function, mpc(start)) for start in self.without_delay()]


PAIR = [(10, 0), (100, 0), (1000, 0)]
DAMPED = [(k, mpf("0.1")) for k in (10, 100, 1000)]
FOUR = [(i * 100, i * mpf("0.01")) for i in range(1, 6)]


def show(name, chain, period):
    poles = ", ".join(f"{float(p.real):.4g} + {float(p.imag):.6g}i" for p in chain.with_hold(mpf(period)))
    print(f"{name}, {period} s: {poles} 1/s")


def main():
    show("undamped pair", Chain([1, 1], PAIR, 1), "0.001")
    for period in ("0.001", "0.004"):
        show("damped pair", Chain([1, 1], DAMPED, 1), period)
    show("chain of four", Chain([1, 2, 3, 4], FOUR, 2), "0.003")


if __name__ == "__main__":
    main()
