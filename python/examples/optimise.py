"""An optimisation with SciPy: damping of the link that brings a pushed cart's load to rest soonest."""

from __future__ import annotations

from pathlib import Path

from scipy.optimize import minimize_scalar

import oldham

MODEL = Path(__file__).resolve().parents[2] / "examples" / "driven-cart.toml"
model = oldham.Model(MODEL)


def swing(c: float) -> float:
    """How far the load moves against the cart, squared and summed."""
    results = model.run({"c": c}, every=10)
    return float(((results["cart.load.x"] - results["cart.cart.x"]) ** 2).mean())


best = minimize_scalar(swing, bounds=(0.5, 60.0), method="bounded", options={"xatol": 0.1})
print(f"c = {best.x:.1f} N.s/m; swing {best.fun:.2e} m2, as in the file {swing(1.0):.2e} m2")
assert best.fun < swing(1.0)
