# %% [markdown]
# # Poles and compensators (Tamellin et al. 2022)
# Two masses exchange every 4 ms. The delay of the exchange makes the faster mode grow, although every part is
# damped. Where is the border, and what undoes the delay?

# %%
from pathlib import Path

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"
model = oldham.Model(examples / "two-mass-damped.toml")
verdict = model.check(along_run=False)
print(verdict["decision"], verdict["spectral_radius"])
for pole in model.poles()["poles"]:
    print(pole)

# %% [markdown]
# A map over the stiffness of the coupling and the macro step:

# %%
study = model.stability_map(("kc", 10, 1000, 13), ("simulation.step", 5e-4, 8e-3, 13))
study.plot().savefig("map.png", dpi=80)
print(study)

# %% [markdown]
# Gains that put the poles of the co-simulation where those of the whole system are:

# %%
for tried in model.compensate():
    if tried["offered"]:
        print(tried["approach"], tried["radius_without"], "->", tried["radius_with"])
        assert tried["radius_with"] < 1.0 < tried["radius_without"]

# %% [markdown]
# What growth means: the energy of the coupled run.

# %%
results = model.run()
results.plot("left.x1.x", "energy.total").savefig("growth.png", dpi=80)
