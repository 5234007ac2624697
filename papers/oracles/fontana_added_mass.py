"""How much mass may be tied rigidly to an interface (fontana 2026, the loose scheme), from the recurrence alone.

    python3 papers/oracles/fontana_added_mass.py > papers/oracles/fontana_added_mass.txt

Needs NumPy. `crates/papers/src/fontana/added_mass.rs` compares with the numbers that stand there. What is tied to the interface
follows its predicted motion: of the force on the interface's own mass remains 1 + r P(w) = 0 for a share r, with w the shift by one
step, s the operator of the two-step method and P the prediction (Eq. 8) as functions of w. The step cancels.
"""

import numpy as np
from numpy.polynomial import Polynomial

from fontana_oscillators import A1, A2, B0, B1, B2, bisected

W = Polynomial([0, 1])
LEFT = 1 - A1 * W - A2 * W**2
RIGHT = B0 + B1 * W + B2 * W**2


def radius(share):
    """The largest growth in a step: s = LEFT / RIGHT per step, Hermite's rate of the end."""
    past = B1 * W + B2 * W**2
    rate = -12 * (W - W**2) * RIGHT + (8 * W + 5 * W**2) * LEFT
    prediction = (A1 * W + A2 * W**2) * RIGHT + B0 * rate + past * LEFT
    roots = (RIGHT + share * prediction).roots()
    return 1 / np.abs(roots).min()


if __name__ == "__main__":
    bound = bisected(2.0, 1e-3, lambda share: radius(share) <= 1 + 1e-9)
    print(f"largest share that is stable: 1/{1 / bound:.4f}")
    for share in (0.549, 0.3):
        print(f"share {share}: radius {radius(share):.4f}")
