"""A sweep with Ray: the same, on a cluster that Ray knows."""

from pathlib import Path

import ray

import oldham

MODEL = Path(__file__).resolve().parents[2] / "examples" / "driven-cart.toml"

if __name__ == "__main__":
    model = oldham.Model(MODEL, {"simulation.duration": 0.5})
    run = ray.remote(oldham.Model.run)
    for results in ray.get([run.remote(model, {"k": k}) for k in (100.0, 400.0, 1600.0)]):
        print(results["cart.load.x"].max())
