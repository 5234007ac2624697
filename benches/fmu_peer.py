"""Two FMUs of benches/fmu (a chain of three masses, three masses that hang on it) under several masters: how far each is off, and
how long a macro step takes; Oldham beside a loop of FMPy's calls, libcosim and Ecos.

Both FMUs take SUBSTEPS steps of their own within a macro step, so that what is left is the error of the exchange. In FMPy and libcosim their
inputs are held meanwhile; Oldham makes the steps itself (`micro_steps`), with inputs as its masters predict them. The reference is the
system of six masses under the same integrator with nothing between.

Usage: fmu_peer.py [path of the oldham binary]
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

HERE = Path(__file__).resolve().parent
STEP, DURATION, SUBSTEPS = 2e-3, 10.0, 20
TIMED, REPEATS = 20_000, 3
LINKS = [("chain", "position", "grip"), ("chain", "velocity", "grip"), ("grip", "force", "chain")]
VARIABLES = {
    "chain": [("force", "input", "N", ""), ("position", "output", "m", ""), ("velocity", "output", "m/s", "")],
    "grip": [("position", "input", "m", ""), ("velocity", "input", "m/s", ""), ("force", "output", "N", "1 2")],
}


def fmu(folder, name, substeps):
    """One of the FMUs, which takes so many steps of its own in each that it is asked for."""
    library = folder / f"{name}.so"
    flags = ["-O2", "-shared", "-fPIC", f"-DSUBSTEPS={substeps}"] + (["-DGRIP"] if name == "grip" else [])
    # FMPy wants all functions of the standard.
    missing = [f"int fmi2{one}(void) {{ return 3; }}" for one in (
        "GetTypesPlatform", "GetVersion", "SetDebugLogging", "Reset", "GetBoolean", "GetString", "SetString",
        "GetDirectionalDerivative", "SetRealInputDerivatives", "GetRealOutputDerivatives", "CancelStep", "GetStatus",
        "GetRealStatus", "GetIntegerStatus", "GetBooleanStatus", "GetStringStatus")]
    source = (HERE / "fmu" / "chain.c").read_text()
    missing = [line for line in missing if line.split("(")[0].split()[1] + "(" not in source]
    versions = 'const char *fmi2GetTypesPlatform(void) { return "default"; }\nconst char *fmi2GetVersion(void) { return "2.0"; }\n'
    missing = [line for line in missing if "GetTypesPlatform" not in line and "GetVersion" not in line]
    (folder / "rest.c").write_text(versions + "\n".join(missing) + "\n")
    subprocess.run(["cc", *flags, "-o", library, HERE / "fmu" / "chain.c", folder / "rest.c"], check=True)
    text = f"""<fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{{{name}}}">
<CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" canSerializeFMUstate="true"/>
<UnitDefinitions><Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit><Unit name="m"><BaseUnit m="1"/></Unit><Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit></UnitDefinitions>
<ModelVariables>"""
    outputs = ""
    for place, (variable, kind, unit, at_once) in enumerate(VARIABLES[name]):
        start = ' start="0"' if kind == "input" else ""
        text += f'<ScalarVariable name="{variable}" valueReference="{place}" causality="{kind}" variability="continuous"><Real unit="{unit}"{start}/></ScalarVariable>'
        if kind == "output":
            outputs += f'<Unknown index="{place + 1}" dependencies="{at_once}"/>'
    text += f"</ModelVariables><ModelStructure><Outputs>{outputs}</Outputs></ModelStructure></fmiModelDescription>"
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(library, f"binaries/linux64/{name}.so")
    return path


def whole():
    """Six masses in one system: the displacement of the one at the interface at every macro step."""
    h = STEP / SUBSTEPS
    x, v = np.zeros(6), np.zeros(6)
    x[0] = x[3] = 0.01
    # Wall - 0 - 1 - 2 = 5 - 4 - 3 - wall; links 400 N/m and 0.4 N.s/m, the one at the interface 900 and 0.9.
    links = [(None, 0, 400, 0.4), (0, 1, 400, 0.4), (1, 2, 400, 0.4), (2, 5, 900, 0.9), (None, 3, 400, 0.4), (3, 4, 400, 0.4), (4, 5, 400, 0.4)]
    stiffness, damping = np.zeros((6, 6)), np.zeros((6, 6))
    for a, b, k, c in links:
        for matrix, value in ((stiffness, k), (damping, c)):
            matrix[b, b] += value
            if a is not None:
                matrix[a, a] += value
                matrix[a, b] -= value
                matrix[b, a] -= value
    rows = [x[2]]
    for _ in range(round(DURATION / STEP)):
        for _ in range(SUBSTEPS):
            v -= h * (stiffness @ x + damping @ v)
            x += h * v
        rows.append(x[2])
    return np.array(rows)


def text_of(settings):
    """The model for Oldham."""
    text = f'model.name = "Two FMUs"\nsimulation = {{ duration = {DURATION}, step = {STEP} }}\n'
    for name in VARIABLES:
        text += f'[fmu.{name}]\nfile = "{name}.fmu"\nprocess = "shared"\nmicro_steps = {SUBSTEPS}\n{settings.get(name, "")}\n'
        if "ports" in settings:
            text += f'ports.end = {{ x = "position", v = "velocity", force = "{settings["ports"][name]}" }}\n'
    if "ports" in settings:
        links = [("chain.end.motion", "grip.end.motion"), ("grip.end.force", "chain.end.force")]
    else:
        links = [(f"{one}.{signal}", f"{other}.{signal}") for one, signal, other in LINKS]
    text += "".join(f'[[connection]]\nfrom = "{one}"\nto = "{other}"\n' for one, other in links)
    return text + settings.get("more", "")


def by_oldham(oldham, folder, settings):
    """What a run gives, or why it is refused."""
    (folder / "model.toml").write_text(text_of(settings))
    out = folder / "model.csv"
    command = [oldham, "run", folder / "model.toml", "--no-analysis", "--force", "--out", out]
    told = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if told.returncode == 2:
        problem = " ".join(told.stderr.replace("|", " ").split()).split(",-[")[0]
        return problem.removeprefix("x ").strip()
    with open(out) as file:
        lines = [line.strip().split(",") for line in file if not line.startswith("#")]
    titles = [title.split(" ")[0] for title in lines[0]]
    place = next(k for k, title in enumerate(titles) if title in ("chain.position", "chain.end.motion.x"))
    return np.array([float(line[place]) for line in lines[1:]])


class Loop:
    """A loop of FMPy's calls: all take their step with what was sent before."""

    def __init__(self, folder):
        self.parts, self.references = {}, {}
        for name in VARIABLES:
            path = str(folder / f"{name}.fmu")
            told = fmpy.read_model_description(path, validate=False)
            part = FMU2Slave(guid=told.guid, unzipDirectory=fmpy.extract(path), modelIdentifier=name, instanceName=name)
            part.instantiate()
            part.setupExperiment(startTime=0.0)
            part.enterInitializationMode()
            part.exitInitializationMode()
            self.parts[name] = part
            self.references[name] = {variable.name: variable.valueReference for variable in told.modelVariables}
        self.exchange()

    def exchange(self):
        refer = self.references
        sent = [self.parts[one].getReal([refer[one][signal]]) for one, signal, _ in LINKS]
        for (_, signal, other), value in zip(LINKS, sent):
            self.parts[other].setReal([refer[other][signal]], value)

    def run(self, steps, record=True):
        chain, place = self.parts["chain"], self.references["chain"]["position"]
        rows = [chain.getReal([place])[0]] if record else []
        for k in range(steps):
            for part in self.parts.values():
                part.doStep(currentCommunicationPoint=k * STEP, communicationStepSize=STEP)
            self.exchange()
            if record:
                rows.append(chain.getReal([place])[0])
        return np.array(rows)


def libcosim(folder):
    """The same two FMUs in libcosim: the execution, and where they are."""
    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_step_size(round(STEP * 1e9))
    # It does not keep them itself.
    kept = {name: CosimLocalSlave(str(folder / f"{name}.fmu"), name) for name in VARIABLES}
    parts = {name: execution.add_local_slave(slave) for name, slave in kept.items()}
    index = lambda name, variable: [one[0] for one in VARIABLES[name]].index(variable)

    for one, signal, other in LINKS:
        execution.connect_real_variables(parts[one], index(one, signal), parts[other], index(other, signal))
    return execution, parts["chain"], kept


def by_libcosim(folder):
    execution, chain, _kept = libcosim(folder)
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    rows = [0.0]
    for _ in range(round(DURATION / STEP)):
        execution.step()
        rows.append(observer.last_real_values(chain, [1])[0])
    return np.array(rows)


def off(rows, reference):
    """The largest difference, and what has become of the motion in the last tenth: both relative to the reference's largest."""
    if len(rows) < len(reference) or not np.all(np.isfinite(rows)):
        return math.inf, math.inf
    size = np.max(np.abs(reference))
    last = len(reference) // 10
    return np.max(np.abs(rows - reference)) / size, np.max(np.abs(rows[-last:])) / size


def best(run):
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) / TIMED * 1e6)
    return min(times)


def table(oldham, folder):
    small = folder / "small"
    small.mkdir()
    for name in VARIABLES:
        fmu(folder, name, SUBSTEPS)
        fmu(small, name, 1)
    reference = whole()
    bundles = {"ports": {"chain": "force", "grip": "force"}}
    masters = {
        "Oldham, hold": {"more": '[schedule]\npredictor = "zero-order"\n'},
        "Oldham, first order": {"more": '[schedule]\npredictor = "first-order"\n'},
        "Oldham, tight": {"more": '[schedule]\ncoupling = "implicit"\n'},
        "Oldham, learning (dmd)": {"more": '[schedule]\npredictor = "dmd"\n'},
        "Oldham, compensation": {**bundles, "more": '[compensator.c]\nforce = "grip.end.force"\ncorrect = "grip.end.correction"\n'},
        "Oldham, interface model": {**bundles, "grip": 'predictor = "interface-model"'},
    }
    shown = {}
    for name, settings in masters.items():
        shown[name] = by_oldham(oldham, small, settings)
    shown["libcosim"] = by_libcosim(folder)
    shown["FMPy, loop of calls"] = Loop(folder).run(round(DURATION / STEP))
    print(f"two FMUs of six states, {STEP * 1e3:g} ms, {DURATION:g} s: relative to the largest displacement")
    print(f"{'':28}{'off at most':>14}{'motion at the end':>20}")
    for name, rows in shown.items():
        if isinstance(rows, str):
            print(f"{name:28}refused: {rows}")
        else:
            most, end = off(rows, reference)
            print(f"{name:28}{most:14.2e}{end:20.2e}")
    print(f"{'the whole':28}{'':14}{off(reference, reference)[1]:20.2e}")


def times(oldham, folder):
    for name in VARIABLES:
        fmu(folder, name, 1)
    told = subprocess.run([oldham, "bench", "fmu", "--json"], capture_output=True, text=True)
    print("\nmicroseconds of a macro step of both FMUs")
    if told.returncode == 0:
        for figure in json.loads(told.stdout)["figures"]:
            if figure.get("unit") == "us":
                print(f"{'Oldham, ' + figure['name']:28}{figure['value']:10.3f}")
    loop = Loop(folder)
    print(f"{'FMPy, loop of calls':28}{best(lambda: loop.run(TIMED, record=False)):10.3f}")
    execution, _, _kept = libcosim(folder)
    print(f"{'libcosim':28}{best(lambda: execution.step(TIMED)):10.3f}")
    try:
        print(f"{'Ecos':28}{ecos(folder):10.3f}")
    except (ImportError, OSError) as error:
        print(f"{'Ecos':28} not measured: {error}")


def ecos(folder):
    from ecospy import EcosSimulationStructure, EcosSimulation  # noqa: F401

    structure = EcosSimulationStructure()
    for name in VARIABLES:
        structure.add_model(name, str(folder / f"{name}.fmu"))
    for one, signal, other in LINKS:
        structure.make_real_connection(f"{one}::{signal}", f"{other}::{signal}")
    simulation = EcosSimulation(structure=structure, step_size=STEP)
    simulation.init()
    return best(lambda: simulation.step(TIMED))


def main():
    oldham = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE.parent / "target" / "release" / "oldham"
    folder = Path(tempfile.mkdtemp())
    table(oldham, folder)
    times(oldham, folder)


main()
