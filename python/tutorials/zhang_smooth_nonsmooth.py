# %% [markdown]
# # Smooth and nonsmooth parts (Zhang et al.)
# A part with impulses beside a smooth one: what the nonsmooth part is told of the interface decides whether the
# pair is stable.

# %%
from pathlib import Path

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"
model = oldham.Model(examples / "smooth-nonsmooth.toml")
print(model)
results = model.run()
results.plot().savefig("smooth-nonsmooth.png", dpi=80)
assert results.status == "finished"
