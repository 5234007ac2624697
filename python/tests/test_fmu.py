"""Exported FMUs in another tool (FMPy), and back in Oldham."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import oldham
import pytest
from fmpy.validation import validate_fmu
from models import external, oscillator, pushed


def export(command: Path, model: Path, out: str, *more: str) -> dict[str, Any]:
    """Exports a model by the command."""
    library = Path(os.environ["OLDHAM_LIBRARY"]).with_name("liboldham_fmu.so")
    runtime = [] if "--runtime" in more else ["--runtime", str(library)]
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


@pytest.mark.parametrize("version", ["2", "3"])
def test_the_command_validates_what_it_writes(examples: Path, command: Path, version: str) -> None:
    export(command, examples / "two-mass-damped.toml", "it.fmu", "--fmi", version)
    told = subprocess.run([command, "fmu", "validate", "it.fmu"], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout
    # Its own step, not any other, which it would refuse.
    assert "10 steps of 0.004 s" in told.stdout
    # From where it begins.
    model = oldham.Model(examples / "two-mass-damped.toml", {"simulation.start": 1.0})
    model.export_fmu("late.fmu", fmi=int(version))
    subprocess.run([command, "fmu", "validate", "late.fmu"], check=True, stdout=-3)
    run = [command, "fmu", "run", "late.fmu", "--duration", "0.4", "--out", "late.parquet"]
    subprocess.run(run, check=True, stdout=-3)
    late = oldham.read("late.parquet")
    assert (late.time[0], late.time[-1]) == pytest.approx((1.0, 1.4))


def restore_the_logger_of_fmpy() -> None:
    """FMPy has one logger for all FMUs of version 2: the last one, which is gone with its simulation."""
    from ctypes import byref

    from fmpy import fmi2
    from fmpy.logging import addLoggerProxy

    fmi2.defaultCallbacks.logger = fmi2.fmi2CallbackLoggerTYPE(fmi2.printLogMessage)
    addLoggerProxy(byref(fmi2.defaultCallbacks))


def test_messages_reach_importers_that_do_not_fill_formats_in(tmp_path: Path) -> None:
    """FMI 2 has messages that are formats; many tools take them for plain text."""
    told: list[str] = []

    def logger(environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        told.append(message.decode())

    oldham.Model.from_dict(external()).export_fmu("cart.fmu", fmi=2)
    try:
        with pytest.raises(Exception, match="doStep|DoStep|failed"):
            simulated("cart.fmu", 0.015, 10, ["cart.x.x"], logger=logger)
    finally:
        restore_the_logger_of_fmpy()
    assert any("take whole multiples of it" in message for message in told), told


def _right_half() -> dict[str, Any]:
    """The right mass of the damped pair, pushed from outside."""
    return {
        "model": {"name": "Right mass"},
        "simulation": {"duration": 1.0, "step": 4e-3},
        "lumped": {
            "right": {
                "integrator": "semi-implicit-euler",
                "masses": {"x2": {"mass": 1.0, "velocity": -100.0}},
                "springs": {
                    "wall": {"between": ["x2", "ground"], "stiffness": 1000.0, "damping": 0.1}
                },
                "inputs": {"push": {"force": "x2"}},
                "outputs": {"x2": {"motion": "x2"}},
            }
        },
        "excitation": {"right.push": {"external": "push", "initial": 0.0}},
    }


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_black_box_has_the_bits_and_the_verdict_of_its_model(
    examples: Path, command: Path, fmi: int
) -> None:
    """Half of a pair as an FMU: the radius is measured, and computed from matrices where the half is native."""
    text = f"""
        include = "{examples / 'two-mass-damped.toml'}"
        [fmu.right]
        file = "right.fmu"
        process = "shared"
        ports.mass = {{ x = "right.x2.x", v = "right.x2.v", a = "right.x2.a" }}
    """
    Path("coupled.toml").write_text(text)
    links = [
        {"from": "right.mass.motion", "to": "left.far"},
        {"from": "left.fc", "to": "right.push"},
    ]
    changes = {"lumped.right": None, "connection": links}
    for step, decision in ((4e-3, "unstable"), (1e-3, "stable")):
        half = {"simulation.step": step}
        right = oldham.Model.from_dict(_right_half(), settings=half)
        right.export_fmu("right.fmu", fmi=fmi, force=True)
        common = {"simulation.step": step, "simulation.duration": 1.0}
        whole = oldham.Model(examples / "two-mass-damped.toml", common)
        coupled = oldham.Model("coupled.toml", {**changes, **common})
        native, foreign = whole.run(every=1), coupled.run(every=1)
        for name in ("left.x1.x", "left.x1.v", "left.fc"):
            assert np.array_equal(native[name], foreign[name]), name
        computed, measured = (one.check(along_run=False) for one in (whole, coupled))
        assert measured["method"] == "measured" != computed["method"]
        assert measured["decision"] == computed["decision"] == decision
        difference = abs(measured["spectral_radius"] - computed["spectral_radius"])
        assert difference <= measured["error"] + computed["error"]


@pytest.mark.parametrize(
    ("name", "steps"), [("two-mass-damped", 200), ("cut-beam", 10), ("crane", 10), ("four-corners", 50)]
)
def test_libcosim_has_the_bits_of_a_native_run(
    examples: Path, command: Path, name: str, steps: int
) -> None:
    from libcosimpy.CosimEnums import CosimVariableCausality
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    log_output_level(CosimLogLevel.ERROR)
    path = examples / f"{name}.toml"
    model = oldham.Model(path)
    export(command, path, "it.fmu", "--fmi", "2")
    native = model.run({"simulation.duration": steps * model.step}, every=1)
    # Its steps are whole nanoseconds.
    execution = CosimExecution.from_step_size(round(model.step * 1e9))
    place = execution.add_local_slave(CosimLocalSlave("it.fmu", "it"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    outputs = [
        (one.name.decode(), one.reference)
        for one in execution.slave_variables(place)
        if one.causality == CosimVariableCausality.OUTPUT.value
    ]
    shown = [one for one in outputs if not one[0].startswith(f"{name}.nodes.")][:12]
    assert len(shown) >= 3
    for row in range(1, steps + 1):
        assert execution.step()
        found = observer.last_real_values(place, [reference for _, reference in shown])
        for (output, _), value in zip(shown, found):
            assert value == native[output][row], (output, row)


def test_the_package_writes_what_the_command_writes(examples: Path, command: Path) -> None:
    import zipfile

    path = examples / "two-mass-damped.toml"
    for fmi in (2, 3):
        told = export(command, path, "command.fmu", "--fmi", str(fmi), "--set", "kc=50", "--force")
        model = oldham.Model(path, {"kc": 50})
        found = model.export_fmu("package.fmu", fmi=fmi, force=True)
        assert {key: found[key] for key in ("step", "inputs", "outputs", "parameters")} == {
            key: told[key] for key in ("step", "inputs", "outputs", "parameters")
        }
        both = [zipfile.ZipFile(name) for name in ("command.fmu", "package.fmu")]
        assert both[0].namelist() == both[1].namelist()
        for entry in both[0].namelist():
            if not entry.endswith(".so"):
                assert both[0].read(entry) == both[1].read(entry), entry


def test_wrong_exports_are_refused_with_a_reason(examples: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml")
    told = model.export_fmu("pair.fmu", outputs=["left.x1"], parameters=["kc"])
    assert told["outputs"] == ["left.x1.x", "left.x1.v", "left.x1.a"]
    assert (told["inputs"], told["parameters"], told["step"]) == ([], ["kc"], 4e-3)
    for path, reason in (("missing.so", "cannot be read"), (__file__, "not the library of this version")):
        with pytest.raises(oldham.OldhamError, match=reason):
            model.export_fmu("other.fmu", runtime=path)
    with pytest.raises(oldham.OldhamError, match="pair.fmu already exists; .*force=True"):
        model.export_fmu("pair.fmu")
    with pytest.raises(oldham.OldhamError, match="no output `left.x9`.*did you mean"):
        model.export_fmu("other.fmu", outputs=["left.x9"])
    with pytest.raises(oldham.OldhamError, match="no parameter `kd`"):
        model.export_fmu("other.fmu", parameters=["kd"])
    with pytest.raises(ValueError, match="there are 2 and 3"):
        model.export_fmu("other.fmu", fmi=1)
    with pytest.raises(TypeError, match="as a list"):
        model.export_fmu("other.fmu", outputs="left.x1")

    @oldham.subsystem("damper")
    class Damper:
        inputs = {"x": oldham.ports.translation}
        outputs = {"force": "N"}

        def send(self, state: None, t: float, u: Any) -> float:
            return -float(u[1])

    with pytest.raises(oldham.OldhamError, match="`it` is of the kind `damper`"):
        oldham.Model.from_dict(pushed("damper"), kinds=[Damper]).export_fmu("other.fmu")
    assert not Path("other.fmu").exists()


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


@pytest.mark.parametrize("fmi", [2, 3])
def test_outputs_have_derivatives_in_fmpy(fmi: int) -> None:
    """A mass of 2 kg under 3 N, after a tenth of a second."""
    from fmpy.fmi2 import FMU2Slave
    from fmpy.fmi3 import FMU3Slave

    data = external()
    data["excitation"]["cart.push"]["initial"] = 3.0
    oldham.Model.from_dict(data).export_fmu("cart.fmu", fmi=fmi)
    description = fmpy.read_model_description("cart.fmu")
    place = next(v.valueReference for v in description.modelVariables if v.name == "cart.x.x")
    fmu: Any = (FMU2Slave if fmi == 2 else FMU3Slave)(
        guid=description.guid,
        unzipDirectory=fmpy.extract("cart.fmu"),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="it",
    )
    fmu.instantiate()
    if fmi == 2:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.1)
    asked = fmu.getRealOutputDerivatives if fmi == 2 else fmu.getOutputDerivatives
    found = [float(asked([place], [order])[0]) for order in (1, 2)]
    assert found == pytest.approx([0.15, 1.5], abs=1e-14)
    with pytest.raises(Exception, match="OutputDerivatives|failed"):
        asked([place], [3])
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
