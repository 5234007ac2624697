"""The oscillator and the pendula of pikulinski 2026, run by hand: what a held start leaves, and what a hold gains.

    python3 papers/oracles/pikulinski_learning.py > papers/oracles/pikulinski_learning.txt

Needs NumPy. `crates/papers/tests/pikulinski.rs` compares with the numbers that stand there. Both are explicit Jacobi with
semi-implicit Euler on both sides; the force that is sent at the end of a step uses the motion of the other side as it is guessed there.
"""

import numpy as np

# Sect. 3.1: masses of 1 kg, walls of 10 and 1000 N/m, 100 N/m between.
K1, K2, KC, STEP = 10.0, 1000.0, 100.0, 1e-2


def oscillator(first_fit, steps=1000):
    """Relative energy error over time; the motion is held until `first_fit` pairs are known, then fitted with least norm."""
    x1 = x2 = 0.0
    v1, v2 = 100.0, -100.0
    start = 0.5 * (v1**2 + v2**2)
    force = KC * (x1 - x2)
    received, seen, answers = np.array([x2, v2]), [], []
    errors, fitted = [], None
    for _ in range(steps):
        sent = force
        v1 += STEP * (-K1 * x1 - KC * (x1 - x2))
        x1 += STEP * v1
        v2 += STEP * (-K2 * x2 + sent)
        known = np.array([received[0], received[1], sent])
        guess = received
        if len(seen) >= first_fit:
            model = np.linalg.lstsq(np.array(seen), np.array(answers), rcond=1e-12)[0]
            guess = known @ model
            fitted = model.T
        x2 += STEP * v2
        # What the force at the end is made of, before the other side's motion has arrived.
        force = KC * (x1 - guess[0])
        received = np.array([x2, v2])
        seen.append(known)
        answers.append(received)
        energy = 0.5 * (v1**2 + v2**2 + K1 * x1**2 + K2 * x2**2 + KC * (x1 - x2) ** 2)
        errors.append(energy)
    return np.array(errors), start, fitted


def monolithic(steps=1000):
    x1 = x2 = 0.0
    v1, v2 = 100.0, -100.0
    energies = []
    for _ in range(steps):
        v1, v2 = v1 + STEP * (-K1 * x1 - KC * (x1 - x2)), v2 + STEP * (-K2 * x2 + KC * (x1 - x2))
        x1, x2 = x1 + STEP * v1, x2 + STEP * v2
        energies.append(0.5 * (v1**2 + v2**2 + K1 * x1**2 + K2 * x2**2 + KC * (x1 - x2) ** 2))
    return np.array(energies)


# Sect. 3.2: point masses at the ends of massless links, angles from the horizontal.
GRAVITY, SPRING = 9.81, 50.0


class Chain:
    def __init__(self, anchor, links, length, mass, angle):
        self.anchor, self.length, self.mass = np.array(anchor), length, mass
        self.angles, self.rates = np.full(links, angle), np.zeros(links)

    def tip(self):
        return self.anchor + self.length * np.array([np.cos(self.angles).sum(), np.sin(self.angles).sum()])

    def jacobians(self):
        """Of the position of each joint by the angles."""
        n = len(self.angles)
        mask = np.tril(np.ones((n, n)))
        return np.stack([-self.length * np.sin(self.angles) * mask, self.length * np.cos(self.angles) * mask], axis=1)

    def step(self, h, force):
        """Kane's equations with the Jacobians of the point masses."""
        jacobians = self.jacobians()
        n = len(self.angles)
        mask = np.tril(np.ones((n, n)))
        drift = -self.length * np.stack([mask @ (np.cos(self.angles) * self.rates**2), mask @ (np.sin(self.angles) * self.rates**2)], axis=1)
        inertia = self.mass * np.einsum("jai,jak->ik", jacobians, jacobians)
        weight = np.array([0.0, -GRAVITY])
        load = self.mass * np.einsum("jai,ja->i", jacobians, weight - drift) + jacobians[-1].T @ force
        self.rates = self.rates + h * np.linalg.solve(inertia, load)
        self.angles = self.angles + h * self.rates

    def energy(self):
        jacobians = self.jacobians()
        speeds = jacobians @ self.rates
        heights = self.anchor[1] + self.length * np.cumsum(np.sin(self.angles))
        return 0.5 * self.mass * (speeds**2).sum() + self.mass * GRAVITY * heights.sum()


def pendula(coupled, steps=5000, h=1e-3):
    single = Chain([0.0, 0.0], 1, 2.0, 1.0, 0.0)
    chain = Chain([7.0, 0.0], 10, 0.5, 0.1, np.pi)
    force = SPRING * (single.tip() - chain.tip())
    energies = []
    for _ in range(steps):
        other = chain.tip()
        pull = SPRING * (single.tip() - other)
        single.step(h, -pull)
        chain.step(h, force if coupled else pull)
        # The force at the end knows the other tip as it was at the start.
        force = SPRING * (single.tip() - other)
        stretch = single.tip() - chain.tip()
        energies.append(single.energy() + chain.energy() + 0.5 * SPRING * stretch @ stretch)
    return np.array(energies)


def main():
    alone = monolithic()
    for pairs in (2, 3):
        energies, start, fitted = oscillator(pairs)
        error = (energies - alone) / start
        print(f"oscillator, fitted from {pairs} pairs on: mean energy error of the last 5 s {abs(error[500:]).mean():.4f}")
    exact = np.array([[1 - STEP**2 * K2, STEP, STEP**2], [-STEP * K2, 1, STEP]])
    print(f"oscillator: fitted model against Eq. 24 to {abs(fitted - exact).max():.1e}")
    error = pendula(True) - pendula(False)
    print(f"pendula, hold: largest energy error in 5 s {abs(error).max():.3f} J")


if __name__ == "__main__":
    main()
