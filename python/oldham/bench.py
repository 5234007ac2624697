"""What the border between Python and the engine costs: `python -m oldham.bench [--json] [--quick]`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import thread_time
from typing import Any, Callable

import numpy as np

from . import Model, Results, _native, subsystem

_STEP = 1e-3


@subsystem("exchange")
class _Exchange:
    """Two inputs, four outputs, nothing else."""

    inputs = {"a": "N", "b": "N"}
    outputs = {"p": "N", "q": "N", "r": "N", "s": "N"}
    direct: tuple[()] = ()

    def advance(self, state: None, t: float, dt: float, u: Any) -> None:
        return None

    def send(self, state: None, t: float, u: Any) -> tuple[float, float, float, float]:
        return 0.0, 0.0, 0.0, 0.0


def _cart() -> dict[str, Any]:
    mass = {"mass": 1.0}
    spring = {"between": ["ground", "x"], "stiffness": 4.0}
    return {
        "model": {"name": "Bench"},
        "simulation": {"duration": 1.0, "step": _STEP},
        "lumped": {
            "cart": {
                "integrator": "exact",
                "masses": {"x": mass},
                "springs": {"wall": spring},
                "inputs": {"push": {"force": "x"}},
                "outputs": {"x": {"motion": "x"}},
            }
        },
        "excitation": {"cart.push": {"external": "push", "initial": 0.0}},
    }


def _best(work: Callable[[], object], times: int) -> float:
    """The shortest of some CPU times in s: other load adds nothing to them."""
    found = []
    for _ in range(times):
        started = thread_time()
        work()
        found.append(thread_time() - started)
    return min(found)


def step(count: int, times: int) -> float:
    """Microseconds of a step that is asked for from Python, beyond one of many that the engine does by itself."""
    stepper = Model.from_dict(_cart()).stepper(outputs=["cart.x.x", "cart.x.v"])
    own = _best(lambda: stepper.advance(count), times)
    given = [0.5]

    def asked() -> None:
        go = stepper.step
        for _ in range(count):
            go(given)

    return (_best(asked, times) - own) / count * 1e6


def exchange(count: int, times: int) -> float:
    """Microseconds of a macro step that a Python part with two inputs and four outputs adds."""
    plain = _cart()
    own = _pair(plain)
    with_part = _pair(plain)
    with_part["exchange"] = {"it": {}}
    with_part["connection"] += [
        {"from": "one.wall", "to": "it.a"},
        {"from": "two.wall", "to": "it.b"},
    ]
    alone = Model.from_dict(own).stepper(outputs=[])
    coupled = Model.from_dict(with_part, kinds=[_Exchange]).stepper(outputs=[])
    difference = _best(lambda: coupled.advance(count), times) - _best(
        lambda: alone.advance(count), times
    )
    return difference / count * 1e6


def _pair(plain: dict[str, Any]) -> dict[str, Any]:
    cart = plain["lumped"]["cart"]
    carts = {}
    for name in ("one", "two"):
        carts[name] = {
            **cart,
            "inputs": {"far": {"motion": "far"}},
            "springs": {
                "wall": {"between": ["ground", "x"], "stiffness": 4.0},
                "link": {"between": ["x", "far"], "stiffness": 1.0},
            },
            "outputs": {"x": {"motion": "x"}, "wall": {"force": "far"}},
        }
    return {
        "model": plain["model"],
        "simulation": plain["simulation"],
        "lumped": carts,
        "connection": [
            {"from": "one.x", "to": "two.far"},
            {"from": "two.x", "to": "one.far"},
        ],
    }


def columns(numbers: int, times: int) -> float:
    """Milliseconds until a result is there as arrays, and as Arrow's stream."""
    width = 100
    values = [np.arange(numbers // width, dtype=float) for _ in range(width)]
    names = ["time", *(f"c{n}" for n in range(1, width))]
    native = _native.Columns.of(names, ["s"] * width, values)

    def shown() -> None:
        results = Results(native)
        arrays = [results[name] for name in results]
        assert len(arrays) == width
        results.__arrow_c_stream__()

    return _best(shown, times) * 1e3


def importing(times: int) -> float:
    """Seconds that `import oldham` takes beyond NumPy's own."""
    script = (
        "import numpy\n"
        "from time import process_time\n"
        "started = process_time()\n"
        "import oldham\n"
        "print(process_time() - started)"
    )

    def once() -> float:
        told = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        return float(told.stdout)

    return min(once() for _ in range(times))


def main() -> None:
    """Prints a line for each."""
    parser = argparse.ArgumentParser(prog="python -m oldham.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--quick", action="store_true", help="less often, and less sure")
    given = parser.parse_args()
    count, times = (2_000, 3) if given.quick else (100_000, 7)
    numbers = 10**6 if given.quick else 10**7
    figures = [
        _figure("step", step(count, times), "us", 2.0, "a step from Python beyond the engine's own"),
        _figure("subsystem", exchange(count, times), "us", 5.0, "a part in Python, two inputs, four outputs"),
        _figure("columns", columns(numbers, times), "ms", 5.0, f"a result of {numbers:g} numbers as arrays"),
        _figure("import", importing(min(times, 5)), "s", 0.1, "`import oldham` beyond NumPy's own"),
    ]
    if given.json:
        print(json.dumps({"bench": "python", "figures": figures}, indent=2))
        return
    for one in figures:
        print(
            f"{one['name']:10} {one['value']:8.3f} {one['unit']:3} "
            f"(at most {one['required']:g}: {'yes' if one['met'] else 'no'})  {one['note']}"
        )


def _figure(name: str, value: float, unit: str, required: float, note: str) -> dict[str, Any]:
    met = value <= required
    return {"name": name, "value": value, "unit": unit, "required": required, "met": met, "note": note}


if __name__ == "__main__":
    main()
