"""Exported FMUs in another tool (FMPy), and back in Oldham."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import oldham
import pytest
from fmpy.validation import validate_fmu
from models import external, oscillator


@pytest.fixture(scope="session", autouse=True)
def _small_runtime(command: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The library without what debuggers need, which would be packed again and again."""
    built = command.parent / "deps" / "liboldham_fmu.so"
    _RUNTIME.append(tmp_path_factory.mktemp("runtime") / "liboldham_fmu.so")
    subprocess.run(["strip", "-o", _RUNTIME[0], built], check=True)


_RUNTIME: list[Path] = []


def export(command: Path, model: Path, out: str, *more: str) -> dict[str, Any]:
    """Exports a model by the command."""
    runtime = [] if "--runtime" in more else ["--runtime", str(_RUNTIME[0])]
    told = subprocess.run(
        [command, "fmu", "export", model, "-o", out, "--json", *runtime, *more],
        capture_output=True,
        text=True,
    )
    if told.returncode != 0:
        raise RuntimeError(f"{told.returncode}: {told.stdout}{told.stderr}")
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def simulated(path: str, step: float, steps: int, outputs: list[str], **more: Any) -> Any:
    """A run in FMPy."""
    return fmpy.simulate_fmu(
        path,
        fmi_type="CoSimulation",
        start_time=0.0,
        stop_time=steps * step,
        step_size=step,
        output_interval=step,
        output=outputs,
        **more,
    )


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize(
    ("name", "steps"), [("two-mass-damped", 200), ("cut-beam", 10), ("crane", 10), ("four-corners", 50)]
)
def test_fmpy_has_the_bits_of_a_native_run(
    examples: Path, command: Path, name: str, steps: int, version: str
) -> None:
    path = examples / f"{name}.toml"
    told = export(command, path, "it.fmu", "--fmi", version)
    assert validate_fmu("it.fmu") == []
    model = oldham.Model(path)
    duration = {"simulation.duration": steps * model.step}
    native = model.run(duration, every=1)
    outputs = [one for one in told["outputs"] if not one.startswith(f"{name}.nodes.")][:12]
    found = simulated("it.fmu", model.step, steps, outputs)
    assert len(found) == steps + 1
    for output in outputs:
        assert np.array_equal(found[output], native[output][: steps + 1]), output


@pytest.mark.parametrize("version", ["2", "3"])
def test_inputs_and_parameters(command: Path, tmp_path: Path, version: str) -> None:
    """A mass of 4 kg under a force that is held: by hand."""
    data = external()
    data["parameters"] = {"m": 2.0}
    data["lumped"]["cart"]["masses"]["x"]["mass"] = "m"
    path = tmp_path / "cart.toml"
    path.write_text(oldham.Model.from_dict(data).text)
    told = export(command, path, "cart.fmu", "--fmi", version, "--outputs", "cart.x")
    assert (told["inputs"], told["parameters"]) == (["push"], ["m"])
    assert told["outputs"] == ["cart.x.x", "cart.x.v", "cart.x.a"]
    found = simulated("cart.fmu", 0.01, 50, told["outputs"], start_values={"m": 4.0, "push": 2.0})
    t = np.arange(51) * 0.01
    assert np.abs(found["cart.x.v"] - 0.5 * t).max() < 1e-14
    with pytest.raises(Exception, match="doStep|DoStep|failed"):
        simulated("cart.fmu", 0.015, 10, ["cart.x.x"])


def test_an_fmu_comes_back_with_the_same_bits(
    examples: Path, command: Path, tmp_path: Path
) -> None:
    path = examples / "two-mass-damped.toml"
    export(command, path, "pair.fmu", "--outputs", "left.x1,left.fc")
    model = oldham.Model(path, {"simulation.duration": 1.0})
    native = model.run(every=1)
    text = f"""
        model.name = "Back again"
        simulation = {{ duration = 1.0, step = {model.step} }}
        [fmu.it]
        file = "pair.fmu"
    """
    back = oldham.Model.from_text(text, tmp_path / "back.toml").run(every=1)
    for name in ("left.x1.x", "left.x1.v", "left.fc"):
        assert np.array_equal(back[f"it.{name}"], native[name]), name


def test_states_of_an_fmu_in_fmpy(examples: Path, command: Path) -> None:
    """Save, restore, serialise and two instances in one process."""
    from fmpy.fmi3 import FMU3Slave

    export(command, examples / "two-mass-damped.toml", "pair.fmu")
    description = fmpy.read_model_description("pair.fmu")
    folder = fmpy.extract("pair.fmu")
    reference = next(v.valueReference for v in description.modelVariables if v.name == "left.x1.x")

    def instance(name: str) -> FMU3Slave:
        fmu = FMU3Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        fmu.instantiate()
        fmu.enterInitializationMode(startTime=0.0)
        fmu.exitInitializationMode()
        return fmu

    one, other = instance("one"), instance("other")
    h = 4e-3
    for n in range(10):
        one.doStep(n * h, h)
    state = one.getFMUState()
    data = one.serializeFMUState(state)
    for n in range(10, 20):
        one.doStep(n * h, h)
    (expected,) = one.getFloat64([reference])
    one.setFMUState(state)
    other.setFMUState(other.deserializeFMUState(data))
    for fmu in (one, other):
        for n in range(10, 20):
            fmu.doStep(n * h, h)
        assert fmu.getFloat64([reference])[0] == expected
    one.freeFMUState(state)
    for fmu in (one, other):
        fmu.terminate()
        fmu.freeInstance()


def test_a_thousand_instances_leave_no_memory_behind(command: Path, tmp_path: Path) -> None:
    from fmpy.fmi3 import FMU3Slave

    path = tmp_path / "one.toml"
    path.write_text(oldham.Model.from_dict(oscillator()).text)
    export(command, path, "one.fmu")
    description = fmpy.read_model_description("one.fmu")
    folder = fmpy.extract("one.fmu")
    fmu = FMU3Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="it",
    )

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    used = []
    for count in range(1000):
        fmu.instantiate()
        fmu.enterInitializationMode(startTime=0.0)
        fmu.exitInitializationMode()
        fmu.doStep(0.0, 0.01)
        fmu.fmi3FreeInstance(fmu.component)
        if count in (199, 999):
            used.append(resident())
    # Less than a kilobyte each, where an instance has some hundred.
    assert used[1] - used[0] < 800 * 1024


def test_what_cannot_be_exported_is_named(examples: Path, command: Path, tmp_path: Path) -> None:
    path = examples / "two-mass-damped.toml"
    export(command, path, "pair.fmu")
    with pytest.raises(RuntimeError, match="pair.fmu already exists"):
        export(command, path, "pair.fmu")
    export(command, path, "pair.fmu", "--force")
    (tmp_path / "foreign.toml").write_text(
        'model.name = "Foreign"\nsimulation = { duration = 1.0, step = 4e-3 }\n[fmu.it]\nfile = "pair.fmu"\n'
    )
    with pytest.raises(RuntimeError, match="`it` is of the kind `fmu`"):
        export(command, tmp_path / "foreign.toml", "foreign.fmu")
    for option, told in (
        (["--outputs", "left.x9"], "no output `left.x9`"),
        (["--parameters", "kd"], "no parameter `kd`"),
        (["--runtime", "missing.so"], "cargo build --release"),
    ):
        with pytest.raises(RuntimeError, match=told):
            export(command, path, "other.fmu", *option)
    assert not Path("other.fmu").exists()
