# %% [markdown]
# # A hydraulic manipulator with a learning predictor (Pikulinski et al.)
# The oil takes many small steps within each step of the arm, and learns how the arm answers. Here a controller
# in Python moves the spool of the valve instead of the sine of the paper.

# %%
from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"


@oldham.subsystem("spool")
class Spool:
    """A proportional controller of the cylinder's length; a positive spool shortens it."""

    target: float
    gain: float = 2.0
    inputs = {"length": "m"}
    outputs = {"spool": "1"}
    direct: tuple[()] = ()

    def start(self) -> list[float]:
        return [0.0]

    def advance(
        self, state: NDArray[np.float64], t: float, dt: float, u: NDArray[np.float64]
    ) -> None:
        state[0] = np.clip(self.gain * (u[0] - self.target), -0.03, 0.03)

    def send(self, state: NDArray[np.float64], t: float, u: NDArray[np.float64]) -> float:
        return float(state[0])


text = f"""
include = "{examples / 'hydraulic-manipulator.toml'}"

[spool.it]
target = 0.52

[[connection]]
from = "arm.lift.length"
to = "it.length"

[[connection]]
from = "it.spool"
to = "oil.lift.spool"
"""
settings = {'excitation."oil.lift.spool"': None, "simulation.duration": 1.2}
Path("controlled.toml").write_text(text)
results = oldham.Model("controlled.toml", settings, kinds=[Spool]).run()
results.plot("arm.lift.length", "it.spool", "oil.lift.force").savefig("manipulator.png", dpi=80)
length = results["arm.lift.length"]
print(f"the cylinder went from {length[0]:.3f} m to {length[-1]:.3f} m")
assert abs(length[-1] - 0.52) < abs(length[0] - 0.52)
