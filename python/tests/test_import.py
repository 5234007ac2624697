"""FMUs in Oldham beside FMPy: built by pythonfmu and pythonfmu3, and of C sources, alone and coupled."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import fmpy
import fmpy.fmi2
import fmpy.fmi3
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

STEP, STEPS = 0.01, 100
SOURCES = Path(__file__).resolve().parents[2] / "crates" / "fmi" / "tests" / "sources"

# A weight on a spring, semi-implicit Euler.
PYTHON = {
    2: """
from pythonfmu import Fmi2Causality as Causality, Fmi2Slave as Slave, Fmi2Variability as Variability, Real as Number

class Weight2(Slave):
    def __init__(self, **more):
        super().__init__(**more)
        self.force, self.x, self.v, self.k = 0.0, 0.01, 0.0, 40.0
        self.register_variable(Number("force", causality=Causality.input))
        self.register_variable(Number("k", causality=Causality.parameter, variability=Variability.tunable))
        for name in ("x", "v"):
            self.register_variable(Number(name, causality=Causality.output))

    def do_step(self, time, step):
        self.v += step * (self.force - self.k * self.x)
        self.x += step * self.v
        return True
""",
    3: """
from pythonfmu3 import Fmi3Causality as Causality, Fmi3Slave, Fmi3Status, Fmi3StepResult
from pythonfmu3 import Fmi3Variability as Variability, Float64 as Number

class Weight3(Fmi3Slave):
    def __init__(self, **more):
        super().__init__(**more)
        self.time, self.force, self.x, self.v, self.k = 0.0, 0.0, 0.01, 0.0, 40.0
        self.register_variable(Number("time", causality=Causality.independent))
        self.register_variable(Number("force", causality=Causality.input))
        self.register_variable(Number("k", causality=Causality.parameter, variability=Variability.tunable))
        for name in ("x", "v"):
            self.register_variable(Number(name, causality=Causality.output))

    def do_step(self, time, step):
        self.v += step * (self.force - self.k * self.x)
        self.x += step * self.v
        return Fmi3StepResult(status=Fmi3Status.ok)
""",
}


def of_python(version: int) -> str:
    """The FMU of the class."""
    folder = Path(f"python{version}")
    folder.mkdir()
    # FMPy has both in one process, where modules of one name would be the same.
    (folder / f"weight{version}.py").write_text(PYTHON[version])
    builder = Path(sys.executable).with_name({2: "pythonfmu", 3: "pythonfmu3"}[version])
    subprocess.run([builder, "build", "-f", f"weight{version}.py"], cwd=folder, check=True, capture_output=True)
    path = f"weight{version}.fmu"
    (folder / f"Weight{version}.fmu").rename(path)
    return path


def of_c(name: str) -> str:
    """The FMU of a C source of the tests. FMPy refuses attributes that it does not know, and wants all functions."""
    library = Path(f"{name}.so").absolute()
    compiler = os.environ.get("CC", "cc")
    flags = ["-shared", "-fPIC", "-O1", "-ffp-contract=off"]
    source = (SOURCES / f"{name}.c").read_text()
    module = fmpy.fmi3 if "fmi3" in source else fmpy.fmi2
    wanted = set(re.findall(r"""['"](fmi[23]\w+)['"]""", Path(module.__file__).read_text()))
    others = "".join(f"int {one}(void) {{ return 3; }}\n" for one in sorted(wanted) if one not in source)
    Path("others.c").write_text(others)
    subprocess.run([compiler, *flags, "-o", library, SOURCES / f"{name}.c", "others.c", "-lm"], check=True)
    text = (SOURCES / f"{name}.xml").read_text()
    text = re.sub(r' (unit|vendorNews)="[^"]*"', "", text)
    text = re.sub(r"<VendorAnnotations>.*</VendorAnnotations>", "", text)
    found = re.search(r'modelIdentifier="(\w+)"', text)
    assert found is not None
    platform = "x86_64-linux" if 'fmiVersion="3' in text else "linux64"
    path = f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(library, f"binaries/{platform}/{found[1]}.so")
    return path


def oldham(command: Path, text: str, name: str = "model") -> dict[str, Any]:
    """What a run of a model gives, by the names of signals. Classes of Python find the library of Python."""
    head = f'model.name = "{name}"\nsimulation = {{ duration = {STEP * STEPS}, step = {STEP} }}\n'
    Path(f"{name}.toml").write_text(head + text)
    library = Path(sysconfig.get_config_var("LIBDIR")) / str(sysconfig.get_config_var("INSTSONAME"))
    preload = {"LD_PRELOAD": str(library)} if library.suffix != ".a" and library.exists() else {}
    run = [command, "run", f"{name}.toml", "--out", f"{name}.csv", "--no-analysis"]
    told = subprocess.run(run, env={**os.environ, **preload}, capture_output=True, text=True)
    if told.returncode != 0:
        raise RuntimeError(told.stdout + told.stderr)
    with open(f"{name}.csv") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    numbers = np.array([[float(value) for value in row] for row in rows[1:]])
    return {title.split(" ")[0]: numbers[:, k] for k, title in enumerate(rows[0])}


def by_fmpy(path: str, outputs: list[str], **start: Any) -> Any:
    """The same run of one FMU in FMPy."""
    return fmpy.simulate_fmu(
        path,
        fmi_type="CoSimulation",
        start_time=0.0,
        stop_time=STEP * STEPS,
        step_size=STEP,
        output_interval=STEP,
        output=outputs,
        start_values=start,
        validate=False,
    )


class Part:
    """An instance of an FMU, by FMPy's calls."""

    def __init__(self, path: str, name: str, start: dict[str, float]) -> None:
        told = fmpy.read_model_description(path, validate=False)
        self.references = {variable.name: variable.valueReference for variable in told.modelVariables}
        self.is_three = told.fmiVersion.startswith("3")
        kind = FMU3Slave if self.is_three else FMU2Slave
        self.it = kind(
            guid=told.guid,
            unzipDirectory=fmpy.extract(path),
            modelIdentifier=told.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self.it.instantiate()
        for variable, value in start.items():
            self.set(variable, value)
        if self.is_three:
            self.it.enterInitializationMode(startTime=0.0)
        else:
            self.it.setupExperiment(startTime=0.0)
            self.it.enterInitializationMode()

    def set(self, variable: str, value: float) -> None:
        setter = self.it.setFloat64 if self.is_three else self.it.setReal
        setter([self.references[variable]], [value])

    def get(self, variable: str) -> float:
        getter = self.it.getFloat64 if self.is_three else self.it.getReal
        return float(getter([self.references[variable]])[0])

    def step(self, k: int) -> None:
        begin = k * STEP
        self.it.doStep(currentCommunicationPoint=begin, communicationStepSize=(k + 1) * STEP - begin)


def loop(parts: list[Part], speed: list[str], gains: list[float]) -> Any:
    """Each is pushed by the other's velocity: all take their step with what was sent before."""
    rows = []
    for k in range(STEPS + 1):
        speeds = [part.get(name) for part, name in zip(parts, speed, strict=True)]
        rows.append(speeds)
        for to, gain in enumerate(gains):
            parts[to].set("force", gain * speeds[1 - to])
        for part in parts:
            if k == 0:
                part.it.exitInitializationMode()
            part.step(k)
    return np.array(rows)


def connected(speed: list[str], gains: list[float]) -> str:
    """The same as connections."""
    return "".join(
        f'[[connection]]\nfrom = "{sender}.{signal}"\nto = "{receiver}.force"\ngain = {gain}\n'
        for sender, signal, receiver, gain in [("b", speed[1], "a", gains[0]), ("a", speed[0], "b", gains[1])]
    )


@pytest.mark.parametrize("version", [2, 3])
def test_a_class_of_python(command: Path, version: int) -> None:
    path = of_python(version)
    text = f'[fmu.it]\nfile = "{path}"\nparameters.k = 30\n[excitation]\n"it.force" = "1"\n'
    found = oldham(command, text)
    expected = by_fmpy(path, ["x", "v"], force=1.0, k=30.0)
    assert len(expected) == STEPS + 1
    for name in ("x", "v"):
        assert np.max(np.abs(found[f"it.{name}"] - expected[name])) < 1e-12


def test_c_sources(command: Path) -> None:
    path = of_c("mass2")
    text = f'[fmu.it]\nfile = "{path}"\nparameters = {{ mass = 2, stiffness = 40 }}\n[excitation]\n"it.force" = "1"\n'
    found = oldham(command, text)
    expected = by_fmpy(path, ["position", "velocity"], force=1.0, mass=2.0, stiffness=40.0)
    for name in ("position", "velocity"):
        assert np.max(np.abs(found[f"it.{name}"] - expected[name])) < 1e-12
    path = of_c("gains3")
    text = f'[fmu.it]\nfile = "{path}"\nparameters = {{ gain = 2.5, on = true }}\n[excitation]\n"it.x" = ["1", "2", "4"]\n'
    found = oldham(command, text, "gains")
    expected = by_fmpy(path, ["y", "count"], gain=2.5, on=True, x=[1.0, 2.0, 4.0])
    for k in range(3):
        assert np.array_equal(found[f"it.y.{k + 1}"], expected["y"][:, k])
    assert np.array_equal(found["it.count"], expected["count"])


@pytest.mark.parametrize("predictor", ["zero-order", "first-order"])
@pytest.mark.parametrize("kind", ["c", "python"])
def test_two_coupled_as_a_loop_of_calls(command: Path, kind: str, predictor: str) -> None:
    """C sources of FMI 2; and classes of Python, one of FMI 2 and one of FMI 3."""
    gains = [-0.7, 1.5]
    if kind == "c":
        paths = [of_c("mass2")] * 2
        speed = ["velocity", "velocity"]
        start = [{"stiffness": 40.0, "velocity": 0.3}, {"damping": 0.2}]
    else:
        paths = [of_python(2), of_python(3)]
        speed = ["v", "v"]
        start = [{"k": 40.0}, {"k": 15.0}]
    text = ""
    for name, path, given in zip("ab", paths, start, strict=True):
        settings = ", ".join(f"{key} = {value}" for key, value in given.items())
        text += f'[fmu.{name}]\nfile = "{path}"\nparameters = {{ {settings} }}\n'
    text += connected(speed, gains) + f'[schedule]\npredictor = "{predictor}"\n'
    found = oldham(command, text)
    parts = [Part(path, name, given) for path, name, given in zip(paths, "ab", start, strict=True)]
    rows = loop(parts, speed, gains)
    for k, name in enumerate("ab"):
        values = found[f"{name}.{speed[k]}"]
        if predictor == "zero-order":
            assert np.array_equal(values, rows[:, k])
        else:
            assert np.max(np.abs(values - rows[:, k])) < 1e-9
