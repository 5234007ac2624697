# %% [markdown]
# # A cut beam (Fontana et al. 2026)
# A simply supported beam is cut at mid-span; both halves run side by side and exchange the motion and the
# force of one interface. The middle is compared with the whole beam.

# %%
from pathlib import Path

import oldham

examples = Path(__file__).resolve().parents[2] / "examples"
beam = oldham.Model(examples / "cut-beam.toml", {"simulation.duration": 0.1})
cut = beam.run(every=5)
figure = cut.plot("beam.middle", title="Mid-span of the cut beam")
figure.savefig("cut-beam.png", dpi=80)

# %% [markdown]
# The whole beam, solved without the cut:

# %%
whole = beam.run(every=5, monolithic=True)
difference = abs(cut["beam.middle.x"] - whole["beam.middle.x"]).max()
print(f"largest difference: {difference:.2e} m of {abs(whole['beam.middle.x']).max():.2e} m")
assert difference < 1e-3 * abs(whole["beam.middle.x"]).max()
