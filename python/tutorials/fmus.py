# %% [markdown]
# # FMUs
# The right half of two coupled masses becomes an FMU, which other programs can run. Here it comes back: coupled to
# the left half as a black box it has the same bits, and the verdict on the coupling is measured instead of computed.

# %%
from __future__ import annotations

from pathlib import Path

import numpy as np

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"
whole = oldham.Model(examples / "two-mass-damped.toml", {"simulation.duration": 1.0})

# %% [markdown]
# The half by itself. What the other one would send is an external input:

# %%
right = oldham.Model.from_dict(
    {
        "model": {"name": "Right mass"},
        "parameters": {"k": 1000.0, "c": 0.1},
        "simulation": {"duration": 1.0, "step": 4e-3},
        "lumped": {
            "right": {
                "integrator": "semi-implicit-euler",
                "masses": {"x2": {"mass": 1.0, "velocity": -100.0}},
                "springs": {"wall": {"between": ["x2", "ground"], "stiffness": "k", "damping": "c"}},
                "inputs": {"push": {"force": "x2"}},
                "outputs": {"x2": {"motion": "x2"}},
            }
        },
        "excitation": {"right.push": {"external": "push", "initial": 0.0}},
    }
)
print(right.export_fmu("right.fmu", fmi=2, force=True))

# %% [markdown]
# The left half, taken from the example, with the FMU in the place of the right one. `ports` makes a motion of its
# three outputs.

# %%
text = f"""
include = "{examples / 'two-mass-damped.toml'}"

[fmu.right]
file = "right.fmu"
process = "shared"
ports.mass = {{ x = "right.x2.x", v = "right.x2.v", a = "right.x2.a" }}
"""
changes = {
    "lumped.right": None,
    "connection": [
        {"from": "right.mass.motion", "to": "left.far"},
        {"from": "left.fc", "to": "right.push"},
    ],
    "simulation.duration": 1.0,
}
Path("coupled.toml").write_text(text)
coupled = oldham.Model("coupled.toml", changes)
native, foreign = whole.run(every=1), coupled.run(every=1)
assert np.array_equal(native["left.x1.x"], foreign["left.x1.x"])
native.plot("left.x1.x").savefig("fmus.png", dpi=80)

# %% [markdown]
# The verdict: computed from matrices, and measured from outside.

# %%
computed, measured = whole.check(along_run=False), coupled.check(along_run=False)
for verdict in (computed, measured):
    print(verdict["method"], verdict["decision"], verdict["spectral_radius"])
assert measured["decision"] == computed["decision"] == "unstable"
