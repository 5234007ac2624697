"""A sweep with Dask: the same, with the scheduler that Dask has."""

from pathlib import Path

import dask

import oldham

MODEL = Path(__file__).resolve().parents[2] / "examples" / "driven-cart.toml"

if __name__ == "__main__":
    model = oldham.Model(MODEL, {"simulation.duration": 0.5})
    runs = [dask.delayed(model.run)({"k": k}) for k in (100.0, 400.0, 1600.0)]
    for results in dask.compute(*runs, scheduler="processes", num_workers=2):
        print(results["cart.load.x"].max())
