"""A sweep with `concurrent.futures`: a run is a function of its settings that can be pickled."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import oldham

MODEL = Path(__file__).resolve().parents[2] / "examples" / "driven-cart.toml"

if __name__ == "__main__":
    model = oldham.Model(MODEL, {"simulation.duration": 0.5})
    with ProcessPoolExecutor(2) as pool:
        for results in pool.map(model.run, [{"k": k} for k in (100.0, 400.0, 1600.0)]):
            print(results["cart.load.x"].max())
