# %% [markdown]
# # A log crane (Peiret et al.)
# A crane with two cylinders, a four-bar linkage and a gripper; the oil sees the crane through a reduced model of
# the interface. A stepper goes on by hand and tries two futures from one state.

# %%
from pathlib import Path

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"
model = oldham.Model(
    examples / "log-crane.toml",
    {
        'excitation."oil.boom.speed"': {"external": "boom", "initial": 0.0},
        "simulation.duration": 1.0,
    },
)
print(model)

# %%
futures = {}
with model.stepper(outputs=["crane.boom.length"]) as stepper:
    stepper.step([0.0], 10)
    for speed in (-0.05, 0.05):
        other = stepper.branch()
        futures[speed] = [float(other.step([speed])[0]) for _ in range(30)]

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(layout="constrained")
for speed, lengths in futures.items():
    axes.plot([model.step * (11 + n) for n in range(30)], lengths, label=f"{speed} m/s wanted")
axes.set(xlabel="time in s", ylabel="length of the boom's cylinder in m")
axes.legend()
figure.savefig("crane.png", dpi=80)
assert futures[-0.05][-1] < futures[0.05][-1]
