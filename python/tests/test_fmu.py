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


# A pair of masses, a beam in two parts, a crane with hydraulics, a car in two parts; and so many steps of each.
MODELS = [("two-mass-damped", 200), ("cut-beam", 10), ("crane", 10), ("formula-student", 20)]


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
@pytest.mark.parametrize(("name", "steps"), MODELS)
def test_fmpy_has_the_bits_of_a_native_run(
    examples: Path, command: Path, name: str, steps: int, version: str
) -> None:
    path = examples / f"{name}.toml"
    told = export(command, path, "it.fmu", "--fmi", version)
    assert validate_fmu("it.fmu") == []
    model = oldham.Model(path)
    duration = {"simulation.duration": steps * model.step}
    native = model.run(duration, every=1)
    # All that a result has: of a beam it leaves nodes out.
    outputs = [one for one in told["outputs"] if one in native]
    assert len(outputs) >= 7
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


def test_an_fmu_comes_back_with_the_same_bits(examples: Path, tmp_path: Path) -> None:
    model = oldham.Model(examples / "two-mass-damped.toml", {"simulation.duration": 1.0})
    model.export_fmu("pair.fmu", outputs=["left.x1", "left.fc"])
    native = model.run(every=1)
    text = f"""
        model.name = "Back again"
        simulation = {{ duration = 1.0, step = {model.step} }}
        [fmu.it]
        file = "pair.fmu"
    """
    back = oldham.Model.from_text(text, tmp_path / "back.toml").run(every=1)
    # A motion comes back whole.
    names = {"left.x1.motion.x": "left.x1.x", "left.x1.motion.a": "left.x1.a", "left.fc": "left.fc"}
    for name, own in names.items():
        assert np.array_equal(back[f"it.{name}"], native[own]), name


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


@pytest.mark.parametrize(("name", "steps"), MODELS)
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
        if one.causality == CosimVariableCausality.OUTPUT.value and one.name.decode() in native
    ]
    assert len(outputs) >= 7
    for row in range(1, steps + 1):
        assert execution.step()
        found = observer.last_real_values(place, [reference for _, reference in outputs])
        for (output, _), value in zip(outputs, found):
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


class Opened:
    """An unpacked FMU in FMPy, and its instances: the same words for both versions."""

    def __init__(self, path: str, fmi: int) -> None:
        self.fmi = fmi
        self.description = fmpy.read_model_description(path)
        self.folder = fmpy.extract(path)
        self.references = {one.name: one.valueReference for one in self.description.modelVariables}

    def instance(self, name: str = "it") -> Any:
        """A new one that is initialised."""
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        fmu: Any = (FMU2Slave if self.fmi == 2 else FMU3Slave)(
            guid=self.description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self.begin(fmu)
        return fmu

    def begin(self, fmu: Any) -> None:
        fmu.instantiate()
        if self.fmi == 2:
            fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()

    def free(self, fmu: Any) -> None:
        """Of the instance, not of the library, which others may still use."""
        (fmu.fmi2FreeInstance if self.fmi == 2 else fmu.fmi3FreeInstance)(fmu.component)

    def get(self, fmu: Any, names: list[str]) -> list[float]:
        asked = fmu.getReal if self.fmi == 2 else fmu.getFloat64
        return list(asked([self.references[name] for name in names]))

    def set(self, fmu: Any, name: str, value: float) -> None:
        (fmu.setReal if self.fmi == 2 else fmu.setFloat64)([self.references[name]], [value])


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", [name for name, _ in MODELS])
def test_states_of_an_fmu_in_fmpy(examples: Path, name: str, fmi: int) -> None:
    """Save, restore, serialise and two instances in one process."""
    model = oldham.Model(examples / f"{name}.toml")
    outputs = model.export_fmu("it.fmu", fmi=fmi)["outputs"]
    opened, h = Opened("it.fmu", fmi), model.step

    def advanced(fmu: Any, steps: range) -> list[float]:
        for n in steps:
            fmu.doStep(n * h, h)
        return opened.get(fmu, outputs)

    one, other = opened.instance("one"), opened.instance("other")
    saved = advanced(one, range(5))
    state = one.getFMUState()
    data = one.serializeFMUState(state)
    expected = advanced(one, range(5, 12))
    assert expected != saved
    one.setFMUState(state)
    assert opened.get(one, outputs) == saved
    deserialised = other.deserializeFMUState(data)
    other.setFMUState(deserialised)
    assert opened.get(other, outputs) == saved
    for fmu in (one, other):
        assert advanced(fmu, range(5, 12)) == expected
    # As bytes in bytes out, and freed states do not take others with them.
    assert other.serializeFMUState(deserialised) == data
    one.freeFMUState(state)
    other.setFMUState(deserialised)
    assert opened.get(other, outputs) == saved
    other.freeFMUState(deserialised)
    for fmu in (one, other):
        fmu.terminate()
        opened.free(fmu)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", ["cart", "driven-cart"])
def test_held_inputs_have_the_bits_of_a_stepper(examples: Path, name: str, fmi: int) -> None:
    """A force that changes every few steps, in communication steps of one macro step and of several."""
    if name == "cart":
        model, push = oldham.Model.from_dict(external()), "push"
    else:
        model, push = oldham.Model(examples / "driven-cart.toml"), "driver.push"
    told = model.export_fmu("it.fmu", fmi=fmi)
    outputs, h = told["outputs"], model.step
    assert push in told["inputs"]
    opened = Opened("it.fmu", fmi)
    stepper = model.stepper(outputs=outputs)
    single, several = opened.instance("single"), opened.instance("several")
    for n, force in enumerate(3.0 * np.sin(1.0 + 0.7 * np.arange(20))):
        stepper.set(**{push: force})
        stepper.advance(3)
        for fmu in (single, several):
            opened.set(fmu, push, force)
        for k in range(3):
            single.doStep((3 * n + k) * h, h)
        several.doStep(3 * n * h, 3 * h)
        native = list(stepper.read())
        assert opened.get(single, outputs) == native == opened.get(several, outputs)
    assert max(map(abs, native)) > 0.0
    for fmu in (single, several):
        opened.free(fmu)


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_input_that_is_not_finite_is_refused(fmi: int) -> None:
    oldham.Model.from_dict(external()).export_fmu("cart.fmu", fmi=fmi)
    opened = Opened("cart.fmu", fmi)
    fmu = opened.instance()
    opened.set(fmu, "push", 2.0)
    for value in (float("nan"), float("inf")):
        with pytest.raises(Exception, match="SetReal|SetFloat64"):
            opened.set(fmu, "push", value)
    # What was set before is there, and the run goes on: a mass of 2 kg under 2 N.
    assert opened.get(fmu, ["push"]) == [2.0]
    fmu.doStep(0.0, 0.1)
    assert opened.get(fmu, ["cart.x.v"]) == pytest.approx([0.1], abs=1e-15)
    opened.free(fmu)


@pytest.mark.parametrize("fmi", [2, 3])
def test_outputs_have_derivatives_in_fmpy(fmi: int) -> None:
    """A mass of 2 kg under 3 N, after a tenth of a second."""
    data = external()
    data["excitation"]["cart.push"]["initial"] = 3.0
    oldham.Model.from_dict(data).export_fmu("cart.fmu", fmi=fmi)
    opened = Opened("cart.fmu", fmi)
    place, fmu = opened.references["cart.x.x"], opened.instance()
    fmu.doStep(0.0, 0.1)
    asked = fmu.getRealOutputDerivatives if fmi == 2 else fmu.getOutputDerivatives
    found = [float(asked([place], [order])[0]) for order in (1, 2)]
    assert found == pytest.approx([0.15, 1.5], abs=1e-14)
    with pytest.raises(Exception, match="OutputDerivatives|failed"):
        asked([place], [3])
    opened.free(fmu)


def test_inputs_follow_their_derivatives() -> None:
    """A mass of 2 kg under a force that is cubic within a communication step of ten macro steps: by hand."""
    from ctypes import c_double, c_int, c_uint

    oldham.Model.from_dict(external()).export_fmu("cart.fmu", fmi=2)
    opened = Opened("cart.fmu", 2)
    assert opened.description.coSimulation.canInterpolateInputs
    place, fmu = opened.references["push"], opened.instance()

    def derive(order: int, value: float) -> int:
        status: int = fmu.fmi2SetRealInputDerivatives(
            fmu.component, (c_uint * 1)(place), 1, (c_int * 1)(order), (c_double * 1)(value)
        )
        return status

    f, slopes, h = 3.0, (2.0, -5.0, 40.0), 0.1
    opened.set(fmu, "push", f)
    for order, slope in enumerate(slopes, start=1):
        assert derive(order, slope) == 0
    # In the middle of it goes on from bytes.
    other = opened.instance("other")
    state = other.deserializeFMUState(fmu.serializeFMUState(fmu.getFMUState()))
    other.setFMUState(state)
    p, q, r = slopes
    v = (f * h + p * h**2 / 2 + q * h**3 / 6 + r * h**4 / 24) / 2
    x = (f * h**2 / 2 + p * h**3 / 6 + q * h**4 / 24 + r * h**5 / 120) / 2
    for one in (fmu, other):
        one.doStep(0.0, h)
        assert opened.get(one, ["cart.x.v", "cart.x.x"]) == pytest.approx([v, x], rel=1e-13)
    # They count for one step: then the force is held.
    fmu.doStep(h, h)
    assert opened.get(fmu, ["cart.x.v"]) == pytest.approx([v + h * f / 2], rel=1e-13)
    for order, value in ((0, 1.0), (4, 1.0), (1, float("nan"))):
        with pytest.raises(Exception, match="SetRealInputDerivatives"):
            derive(order, value)
    for one in (fmu, other):
        opened.free(one)


def test_inputs_are_set_within_a_communication_step() -> None:
    """Intermediate update: a force of its own for each of ten macro steps, against the stepper."""
    model = oldham.Model.from_dict(external())
    model.export_fmu("cart.fmu", fmi=3)
    opened, stepper = Opened("cart.fmu", 3), model.stepper(outputs=["cart.x.x", "cart.x.v"])
    assert opened.description.coSimulation.providesIntermediateUpdate
    from fmpy.fmi3 import FMU3Slave

    fmu = FMU3Slave(
        guid=opened.description.guid,
        unzipDirectory=opened.folder,
        modelIdentifier=opened.description.coSimulation.modelIdentifier,
        instanceName="it",
    )
    seen: list[tuple[float, bool, bool, bool]] = []

    def force(t: float) -> float:
        return 1.0 + 5.0 * t * t

    def update(_: Any, t: float, can_set: bool, can_get: bool, done: bool, early: bool, *out: Any) -> None:
        # What it reads there is of that instant: of the inputs and of the outputs.
        assert opened.get(fmu, ["time"]) == [t]
        opened.set(fmu, "push", force(t))
        seen.append((t, can_set, can_get, early))

    fmu.instantiate(intermediateUpdate=update, requiredIntermediateVariables=[opened.references["push"]])
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.1)
    times = [stepper.time]
    for _ in range(10):
        found = stepper.step([force(stepper.time)])
        times.append(stepper.time)
    assert seen == [(t, True, True, False) for t in times[:-1]]
    assert opened.get(fmu, ["cart.x.x", "cart.x.v"]) == list(found)
    # A step that is refused calls nobody.
    with pytest.raises(Exception, match="DoStep"):
        fmu.doStep(0.1, 0.015)
    assert len(seen) == 10
    opened.free(fmu)


# Parts of models, the model without the others, and what feeds their inputs.
PARTS: dict[tuple[str, str], tuple[dict[str, Any], dict[str, str]]] = {
    ("two-mass-damped", "right"): ({"lumped.left": None}, {"right.push": "left.fc"}),
    ("gantry-crane", "crane"): ({"control.computer": None}, {"crane.drive": "computer.force"}),
    ("gantry-crane", "computer"): (
        {"multibody.crane": None},
        {f"computer.{one}": f"crane.{one}" for one in ("place", "speed", "swing", "swing_rate")},
    ),
}


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(("name", "part"), PARTS)
def test_a_part_has_the_bits_of_a_model_of_its_own(
    examples: Path, name: str, part: str, fmi: int
) -> None:
    path = examples / f"{name}.toml"
    without, fed = PARTS[name, part]
    whole = oldham.Model(path)
    sent = whole.run({"simulation.duration": 20 * whole.step}, every=1)
    outside = {to: {"external": to, "initial": float(sent[of][0])} for to, of in fed.items()}
    alone = oldham.Model(path, {**without, "connection": [], "excitation": outside})
    told = whole.export_fmu("part.fmu", fmi=fmi, part=part)
    assert validate_fmu("part.fmu") == []
    inputs, outputs = told["inputs"], told["outputs"]
    assert inputs == alone.export_fmu("own.fmu", fmi=fmi)["inputs"] == list(fed)
    assert outputs and all(one.startswith(f"{part}.") for one in outputs)
    opened, stepper = Opened("part.fmu", fmi), alone.stepper(outputs=outputs)
    fmu, h = opened.instance(), whole.step
    for n in range(20):
        row = [float(sent[of][n]) for of in fed.values()]
        for one, value in zip(inputs, row, strict=True):
            opened.set(fmu, one, value)
        fmu.doStep(n * h, h)
        assert opened.get(fmu, outputs) == list(stepper.step(row)), n
    opened.free(fmu)


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(
    ("part", "feeding"), [("left", "right.x2"), ("right", "left.fc")]
)
def test_a_part_does_not_notice_that_it_is_alone(
    examples: Path, part: str, feeding: str, fmi: int
) -> None:
    """It gets what the other sends in the coupled run, where values are held, and has the bits that it has there."""
    whole, steps = oldham.Model(examples / "two-mass-damped.toml"), 50
    sent = whole.run({"simulation.duration": steps * whole.step}, every=1)
    told = whole.export_fmu("part.fmu", fmi=fmi, part=part)
    assert validate_fmu("part.fmu") == []
    feeds = [one for one in sent if one == feeding or one.startswith(f"{feeding}.")]
    opened, h = Opened("part.fmu", fmi), whole.step
    fmu, outputs = opened.instance(), [one for one in told["outputs"] if one in sent]
    assert outputs
    for n in range(steps):
        assert opened.get(fmu, outputs) == [sent[one][n] for one in outputs], n
        for one, feed in zip(told["inputs"], feeds, strict=True):
            opened.set(fmu, one, float(sent[feed][n]))
        fmu.doStep(n * h, h)
    opened.free(fmu)


def test_a_motion_of_an_fmu_is_connected_whole(examples: Path) -> None:
    """Half of a pair whose motion is a terminal: the whole pair has the bits of the native one."""
    path = examples / "two-mass-damped.toml"
    oldham.Model(path).export_fmu("right.fmu", part="right")
    text = f"""
        include = "{path}"
        [fmu.right]
        file = "right.fmu"
    """
    Path("coupled.toml").write_text(text)
    links = [
        {"from": "right.right.x2.motion", "to": "left.far"},
        {"from": "left.fc", "to": "right.right.push"},
    ]
    common = {"simulation.duration": 1.0}
    native = oldham.Model(path, common).run(every=1)
    coupled = oldham.Model("coupled.toml", {"lumped.right": None, "connection": links, **common})
    foreign = coupled.run(every=1)
    for name in ("left.x1.x", "left.x1.v", "left.fc"):
        assert np.array_equal(native[name], foreign[name]), name


def test_what_is_no_part_of_its_own_is_refused(examples: Path) -> None:
    for name, part, reason in (
        ("two-mass-damped", "lft", "there is no part `lft`; did you mean `left`?"),
        ("cut-beam", "beam", "`beam` cannot stand by itself: it is cut"),
        ("four-mass-compensated", "first", "cannot stand by itself: a compensator"),
    ):
        with pytest.raises(oldham.OldhamError, match=reason.replace("?", r"\?")):
            oldham.Model(examples / f"{name}.toml").export_fmu("part.fmu", part=part)
    assert not Path("part.fmu").exists()


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_thousand_instances_leave_no_memory_behind(fmi: int) -> None:
    oldham.Model.from_dict(oscillator()).export_fmu("one.fmu", fmi=fmi)
    opened = Opened("one.fmu", fmi)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    fmu, used = opened.instance(), []
    opened.free(fmu)
    for count in range(1000):
        opened.begin(fmu)
        fmu.doStep(0.0, 0.01)
        opened.free(fmu)
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


# Without the interface model the exchange of this machine is held: it gains energy, and enlarges what rounding leaves.
HELD = {"multibody.table.predictor": "zero-order", "schedule": {}, "simulation.duration": 0.02}


def test_a_motion_in_space_is_connected_whole(examples: Path) -> None:
    """A machine that receives the motion of a node and sends a wrench, both of them terminals."""
    path = examples / "carried-machine.toml"
    oldham.Model(path, HELD).export_fmu("machine.fmu", part="machine")
    text = f"""
        include = "{path}"
        [fmu.machine]
        file = "machine.fmu"
    """
    Path("coupled.toml").write_text(text)
    links = [
        {"from": "table.carry.motion", "to": "machine.machine.foot.motion"},
        {"from": "machine.machine.foot.load.wrench", "to": "table.carry"},
    ]
    native = oldham.Model(path, HELD).run(every=1)
    changes = {"multibody.machine": None, "connection": links, **HELD}
    found = oldham.Model("coupled.toml", changes).run(every=1)
    names = [one for one in native if one.startswith("table.")]
    assert max(float(np.ptp(native[one])) for one in names) > 0.0
    for name in names:
        largest = float(np.max(np.abs(native[name])))
        np.testing.assert_allclose(found[name], native[name], rtol=0.0, atol=1e-6 * largest, err_msg=name)
