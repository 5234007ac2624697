"""MuJoCo and Exudyn beside each other (examples/process/two-solvers.toml) at three steps, against the whole in either program:

    make solvers

The difference must fall with the step and be below 1 % of the motion at 1 ms.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "process"
sys.path.insert(0, str(EXAMPLE / "two-solvers"))
from whole import apart, exudyn_whole, largest, mujoco_whole

STEPS = [4e-3, 2e-3, 1e-3]
MOST = 0.01


def main():
    oldham = Path(sys.argv[1]).resolve()
    folder = Path(tempfile.mkdtemp())
    # The model starts its programs by `python3`.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    wholes = {"MuJoCo": mujoco_whole(), "Exudyn": exudyn_whole()}
    size = largest(wholes["MuJoCo"])
    found = {program: [] for program in wholes}
    for step in STEPS:
        out = folder / f"{step}.csv"
        command = [oldham, "run", EXAMPLE / "two-solvers.toml", "--set", f"simulation.step={step}"]
        subprocess.run([*command, "--no-analysis", "--out", out], env=environment, check=True, capture_output=True)
        for program, rows in wholes.items():
            found[program].append(apart(out, rows) / size)
    for program, shares in found.items():
        told = ", ".join(f"{step * 1e3:g} ms {share:.2e}" for step, share in zip(STEPS, shares))
        print(f"coupled and {program}: {told} of {size:.4f} m")
        assert all(late < early for early, late in zip(shares, shares[1:])), "the difference does not fall with the step"
        assert shares[-1] < MOST, f"the difference at 1 ms is above {MOST:.0%}"


main()
