"""Writes ring.ssd and ring.ssv by pyssp_standard, and ring.json: what other programs find for that system.

    python3 -m venv v && v/bin/pip install -r requirements.txt && v/bin/python systems.py

Three masses of crates/fmi/tests/sources/mass2.c, each pushed by the velocity of the one before it. FMPy's own reader of systems
and libcosim's read the package; a loop of FMPy's calls steps its FMUs in the same order.
"""

import json
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import read_ssv
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from pyssp_standard.ssd import SSD, Component, Connection, Connector, DefaultExperiment, ParameterBinding, System
from pyssp_standard.ssv import SSV

HERE = Path(__file__).parent
SOURCES = HERE / "../../../fmi/tests/sources"
NAMES = ["a", "b", "c"]
STEP, STEPS = 0.01, 100
UNITS = {"position": "mm", "stiffness": "N/m", "mass": "kg", "damping": "N.s/m"}
GIVEN = {"a.position": 30, "a.stiffness": 40, "b.mass": 2, "b.damping": 0.2, "c.mass": 0.5, "c.stiffness": 15}
SHOWN = ["a.velocity", "b.position", "c.velocity"]


def packed_fmu(folder):
    library = folder / "mass.so"
    flags = ["-shared", "-fPIC", "-O1", "-ffp-contract=off", "-I", SOURCES]
    subprocess.run(["cc", *flags, "-o", library, HERE / "rest.c", "-lm"], check=True)
    path = folder / "mass.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        # Without units: what pushes is a velocity. FMPy refuses unknown attributes.
        text = (SOURCES / "mass2.xml").read_text()
        text = re.sub(r' (unit|vendorNews)="[^"]*"', "", text)
        text = re.sub(r"<VendorAnnotations>.*</VendorAnnotations>", "", text)
        archive.writestr("modelDescription.xml", text)
        archive.write(library, "binaries/linux64/mass.so")
    return path


def write_system():
    for name in ["ring.ssd", "ring.ssv"]:
        (HERE / name).unlink(missing_ok=True)
    with SSV(HERE / "ring.ssv", "w", name="ring") as values:
        for name, value in GIVEN.items():
            values.add_parameter(name, "Real", value=value, unit=UNITS[name[2:]])
    with SSD(HERE / "ring.ssd", "w") as ssd:
        ssd.name = "ring"
        ssd.version = "1.0"
        ssd.system = System(None, "system")
        for name in NAMES:
            part = Component()
            part.name = name
            part.component_type = "application/x-fmu-sharedlibrary"
            part.source = "resources/mass.fmu"
            part.connectors = [Connector(None, signal, kind) for signal, kind in
                               [("force", "input"), ("position", "output"), ("velocity", "output")]]
            ssd.system.elements.append(part)
        for one, other in zip(NAMES, NAMES[1:] + NAMES[:1]):
            ssd.add_connection(Connection(start_element=one, start_connector="velocity", end_element=other, end_connector="force"))
        ssd.system.parameter_bindings = [ParameterBinding(source="resources/ring.ssv")]
        ssd.default_experiment = DefaultExperiment()
        ssd.default_experiment.start_time = 0.0
        ssd.default_experiment.stop_time = STEP * STEPS


def package(folder, fmu):
    path = folder / "ring.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(HERE / "ring.ssd", "SystemStructure.ssd")
        archive.write(HERE / "ring.ssv", "resources/ring.ssv")
        archive.write(fmu, "resources/mass.fmu")
    return path


def by_calls(fmu):
    """A loop of FMPy's calls: all take their step with what was sent before."""
    description = fmpy.read_model_description(fmu, validate=False)
    references = {variable.name: variable.valueReference for variable in description.modelVariables}
    parts = {}
    for name in NAMES:
        part = FMU2Slave(guid=description.guid, unzipDirectory=fmpy.extract(fmu), modelIdentifier="mass", instanceName=name)
        part.instantiate()
        for key, value in GIVEN.items():
            if key.startswith(name + "."):
                part.setReal([references[key[2:]]], [float(value)])
        part.setupExperiment(startTime=0)
        part.enterInitializationMode()
        part.exitInitializationMode()
        parts[name] = part
    rows = []
    for k in range(STEPS + 1):
        value = lambda signal: parts[signal[0]].getReal([references[signal[2:]]])[0]
        rows.append([value(signal) for signal in SHOWN])
        speeds = {name: value(name + ".velocity") for name in NAMES}
        for one, other in zip(NAMES, NAMES[1:] + NAMES[:1]):
            parts[other].setReal([references["force"]], [speeds[one]])
        for name in NAMES:
            parts[name].doStep(currentCommunicationPoint=k * STEP, communicationStepSize=STEP)
    return rows


def by_fmpy(path, folder):
    values = read_ssv(str(path), "resources/ring.ssv")
    rows = simulate_ssp(str(path), stop_time=STEP * STEPS - STEP / 2, step_size=STEP, parameter_set=values)
    # Its rows stand at the beginning of the steps whose ends they hold.
    return [[float(row[signal]) for signal in SHOWN] for row in rows]


def by_libcosim(path):
    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_ssp_file(str(path), step_size=round(STEP * 1e9))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    rows = []
    indices = {name: execution.slave_index_from_instance_name(name) for name in NAMES}
    reference = {"position": 1, "velocity": 2, "mass": 3, "damping": 4, "stiffness": 5}
    # Its Python package does not hand on the sets of parameters that the package has.
    for signal, value in GIVEN.items():
        execution.real_initial_value(indices[signal[0]], reference[signal[2:]], float(value))
    for _ in range(STEPS):
        execution.step()
        rows.append([observer.last_real_values(indices[signal[0]], [reference[signal[2:]]])[0] for signal in SHOWN])
    return rows


def main():
    folder = Path(tempfile.mkdtemp())
    fmu = packed_fmu(folder)
    write_system()
    path = package(folder, fmu)
    found = {"signals": SHOWN, "step": STEP, "fmpy_calls": by_calls(str(fmu)), "fmpy_ssp": by_fmpy(path, folder)}
    found["libcosim"] = by_libcosim(path)
    (HERE / "ring.json").write_text(json.dumps(found) + "\n")
    for name in ["fmpy_calls", "fmpy_ssp", "libcosim"]:
        print(name, len(found[name]), found[name][-1])


main()
