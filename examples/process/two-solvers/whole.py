"""All of the machine in either program, and how far the run of two-solvers.toml is from it:

    oldham run examples/process/two-solvers.toml --out two-solvers.csv
    python whole.py two-solvers.csv
"""
import csv
import sys

import mujoco
from machine import MIDDLE, by_exudyn, by_mujoco, settings

DURATION, STEP = 2.0, 1e-4


def mujoco_whole():
    model, data = by_mujoco("ab", MIDDLE)
    model.opt.timestep = STEP
    rows = []
    for _ in range(round(DURATION / STEP) + 1):
        rows.append([data.joint(name).qpos[0] for name in ("a", "middle", "b")])
        mujoco.mj_step(model, data)
    return rows


def exudyn_whole():
    exu, mbs, sensors = by_exudyn("ab")
    mbs.SolveDynamic(settings(exu, 0, DURATION, round(DURATION / STEP)))
    stored = [mbs.GetSensorStoredData(sensors[name]) for name in ("a", "middle", "b")]
    return [[float(column[k][1]) for column in stored] for k in range(len(stored[0]))]


def largest(rows):
    return max(abs(value) for row in rows for value in row)


def apart(path, rows):
    """How far a coupled run is from a whole, at most."""
    with open(path) as file:
        table = list(csv.DictReader(line for line in file if not line.startswith("#")))
    column = lambda name: next(key for key in table[0] if key.startswith(name))
    names = [column("left.place"), column("joint.x.x"), column("right.place")]
    times = [float(row[column("time")]) for row in table]
    return max(
        abs(float(row[name]) - rows[min(round(t / STEP), len(rows) - 1)][i])
        for t, row in zip(times, table) for i, name in enumerate(names)
    )


def main():
    wholes = {"MuJoCo": mujoco_whole(), "Exudyn": exudyn_whole()}
    both = zip(wholes["MuJoCo"], wholes["Exudyn"])
    size = largest(wholes["MuJoCo"])
    print(f"largest displacement {size:.4f} m")
    between = max(abs(p - q) for one, other in both for p, q in zip(one, other))
    print(f"MuJoCo and Exudyn apart: {between / size:.2e} of it")
    if len(sys.argv) > 1:
        for program, rows in wholes.items():
            print(f"coupled and {program}: {apart(sys.argv[1], rows) / size:.2e} of it")


if __name__ == "__main__":
    main()
