"""Models: read, checked, run and studied."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from . import _native, _toml, kinds as _kinds
from .errors import ModelError, OldhamError
from .findings import Findings, Rows
from .progress import bar
from .results import Results, read
from .stepper import Stepper
from .studies import Linear, Range, StabilityCurve, StabilityMap, _given_range
from .sweeps import Sweep, _texts

Settings = Mapping[str, Any]
"""Keys such as `"schedule.output_update"`, or parameters, with their values; None takes a key away."""
PathLike = Union[str, "os.PathLike[str]"]
Progress = Union[bool, Callable[[float, float, float], None]]
"""True for a bar, or a function of the share that is done, the time and the real-time factor."""


class Model:
    """A model that was read and checked.

    `path` is a model file; `settings` go over what it says; `kinds` are classes made with
    `oldham.subsystem` or `oldham.predictor`. What is wrong with it is told at once as `ModelError`.
    """

    def __init__(
        self,
        path: PathLike,
        settings: Settings | None = None,
        *,
        kinds: Sequence[type] = (),
    ) -> None:
        self._read(os.fspath(path), None, None, dict(settings or {}), tuple(kinds))

    def _read(
        self,
        path: str,
        text: str | None,
        places: Sequence[str] | None,
        settings: dict[str, Any],
        kinds: tuple[type, ...],
    ) -> None:
        self._path, self._text, self._places = path, text, places
        self._settings, self._kinds = settings, kinds
        # Nothing takes a key away.
        texts = [
            (key, "" if value is None else _toml.value(value, key))
            for key, value in settings.items()
        ]
        try:
            self._native = _native.Model(path, text, texts, _kinds.given(kinds))
        except ModelError as error:
            if places is None:
                raise
            # The text of a dictionary was never seen: its keys tell the places.
            told = ModelError(error.args[0], error.unlisted, (path, places))
            raise told from error.__cause__

    @classmethod
    def from_text(
        cls,
        text: str,
        name: PathLike = "model.toml",
        settings: Settings | None = None,
        *,
        kinds: Sequence[type] = (),
    ) -> Model:
        """A model given as TOML; data files that it names are looked for in the folder of `name`. Only files can
        include others."""
        return cls._made(os.fspath(name), text, None, dict(settings or {}), tuple(kinds))

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        name: PathLike = "model",
        settings: Settings | None = None,
        *,
        kinds: Sequence[type] = (),
    ) -> Model:
        """A model given as dictionaries, with the keys of model files. Problems are told by the paths of
        their keys; data files that it names are looked for in the folder of `name`. Only files can include others."""
        text, places = _toml.write(data)
        return cls._made(os.fspath(name), text, places, dict(settings or {}), tuple(kinds))

    @classmethod
    def _made(
        cls,
        path: str,
        text: str | None,
        places: Sequence[str] | None,
        settings: dict[str, Any],
        kinds: tuple[type, ...],
    ) -> Model:
        model = cls.__new__(cls)
        model._read(path, text, places, settings, kinds)
        return model

    def with_settings(self, settings: Settings | None = None, **parameters: Any) -> Model:
        """The same model with further settings and parameters."""
        changed = {**self._settings, **(settings or {}), **parameters}
        return self._made(self._path, self._text, self._places, changed, self._kinds)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._path, self._text, self._places, self._settings, self._kinds)
        return Model._made, parts

    # What it says.

    def _told(self, key: str) -> Any:
        return self._native.told[key]

    @property
    def name(self) -> str:
        """Its title."""
        return str(self._told("name"))

    @property
    def description(self) -> str | None:
        """What it shows."""
        described: str | None = self._told("description")
        return described

    @property
    def start(self) -> float:
        """Initial time in s."""
        return float(self._told("start"))

    @property
    def duration(self) -> float:
        """Simulated time in s."""
        return float(self._told("duration"))

    @property
    def step(self) -> float:
        """Macro step in s."""
        return float(self._told("step"))

    @property
    def steps(self) -> int:
        """Number of macro steps."""
        return int(self._told("steps"))

    @property
    def settings(self) -> dict[str, Any]:
        """What goes over the file."""
        return dict(self._settings)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters with their values."""
        return dict(sorted(self._told("parameters").items()))

    @property
    def subsystems(self) -> list[str]:
        """Names of the subsystems."""
        return list(self._told("subsystems"))

    @property
    def external_inputs(self) -> list[str]:
        """Inputs that are set from outside while a run goes on."""
        return [name for name, _ in self._told("external_inputs")]

    @property
    def columns(self) -> dict[str, str]:
        """What can be recorded, with units."""
        return {name: unit for name, unit, _ in self._native.columns()}

    @property
    def notes(self) -> list[str]:
        """Remarks that a user should read."""
        return list(self._told("notes"))

    @property
    def text(self) -> str:
        """The TOML that it was read from, without what it includes."""
        return str(self._told("text"))

    def __repr__(self) -> str:
        return (
            f"<Model {self.name!r}: {', '.join(self.subsystems)}; "
            f"{self.duration:g} s in steps of {self.step:g} s>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{value:g}</td></tr>"
            for name, value in self.parameters.items()
        )
        described = f"<p>{escape(self.description)}</p>" if self.description else ""
        return (
            f"<h4>{escape(self.name)}</h4>{described}"
            f"<p>{', '.join(map(escape, self.subsystems))}: {self.duration:g} s in steps of {self.step:g} s</p>"
            f"<table><tr><th>parameter</th><th>value</th></tr>{rows}</table>"
        )

    # Runs.

    def run(
        self,
        settings: Settings | None = None,
        *,
        every: int | None = None,
        threads: int | None = None,
        monolithic: bool = False,
        progress: Progress = False,
    ) -> Results:
        """Runs to the end and gives what was recorded, a row every so many macro steps.

        A run that stops raises `RunError`, Ctrl-C raises `KeyboardInterrupt`; both have the results so far as
        `results`. Models with Python parts run on one thread.
        """
        if settings:
            return self.with_settings(settings).run(
                every=every, threads=threads, monolithic=monolithic, progress=progress
            )
        with bar(self.name, progress) as tell:
            columns, told, error = self._native.run(every, threads, monolithic, tell)
        results = Results(columns, {"title": self.name})._with_summary(told)._of(self)
        if error is not None:
            _attach(error, results)
            raise error
        return results

    def run_to(
        self,
        out: PathLike,
        *,
        force: bool = False,
        threads: int | None = None,
        monolithic: bool = False,
        checkpoint_every: float | None = None,
        resume: PathLike | None = None,
        start: PathLike | None = None,
        progress: Progress = False,
    ) -> Results:
        """Runs with results in a `.parquet` or `.csv` file, which hold what there is even if the run is killed.

        `checkpoint_every` saves the complete state every so many simulated seconds in `out` + `.checkpoint`;
        `resume` continues from such a file, bit for bit; `start` begins with a state that `trim` has found.
        """
        wanted = {
            "out": os.fspath(out),
            "force": force,
            "threads": threads,
            "monolithic": monolithic,
            "checkpoint_every": checkpoint_every,
            "resume": _path(resume),
            "start": _path(start),
        }
        with bar(self.name, progress) as tell:
            told, error = self._native.run_to_file(wanted, tell)
        path = Path(told["results"])
        if error is not None:
            if path.exists():
                _attach(error, read(path)._with_summary(told)._of(self))
            raise error
        return read(path)._with_summary(told)._of(self)

    def stepper(
        self,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
    ) -> Stepper:
        """A simulation that goes on a step at a time: see `Stepper`."""
        return Stepper(self, inputs, outputs)

    def sweep(
        self,
        vary: Mapping[str, Any],
        measures: Sequence[str] = (),
        *,
        folder: PathLike | None = None,
        monolithic: bool = False,
        threads: int | None = None,
        force: bool = False,
        progress: bool = False,
    ) -> Sweep:
        """A run for every combination of values, on all cores.

        `vary` has for each key a list of values, a range `(low, high, points)`, or a text as `oldham sweep --vary`
        takes it, such as `"normal(10, 0.5)"`. `measures` are figures of merit such as `"rms(left.x1.a)"`. Results
        lie in `folder`, where an interrupted sweep goes on; without one they last as long as the `Sweep`.
        """
        if not vary:
            raise OldhamError("nothing is varied; give a key and its values")
        return Sweep._run(
            self, _texts(vary), list(measures), folder, monolithic, threads, force, progress
        )

    def export_fmu(
        self,
        out: PathLike,
        *,
        fmi: int = 3,
        part: str | None = None,
        outputs: Sequence[str] = (),
        parameters: Sequence[str] = (),
        runtime: PathLike | None = None,
        force: bool = False,
    ) -> Findings:
        """Writes the model with all that it reads as an FMU for co-simulation, for FMI 3.0 or 2.0.

        Inputs are its external inputs; of one `part` of it, also what the others send to it. `outputs` and `parameters` choose what else it shows, all of them unless
        given. The library in the FMU is that of the package unless `runtime` names another. Tells the names of all
        three, and the communication step.
        """
        if fmi not in (2, 3):
            raise ValueError(f"FMI {fmi} cannot be written; there are 2 and 3")
        wanted = {
            "out": os.fspath(out),
            "fmi": fmi,
            "part": part,
            "outputs": _names(outputs, "outputs"),
            "parameters": _names(parameters, "parameters"),
            "runtime": _path(runtime),
            "force": force,
        }
        return Findings(self._native.export(wanted))

    # Studies.

    def _study(self, study: str, **wanted: Any) -> Any:
        return self._native.study(study, **wanted)

    def check(
        self, *, seconds: float = 10.0, along_run: bool = True, remedies: bool = False
    ) -> Findings:
        """Is the coupling stable? The verdict of `oldham check --json`, within the time that is granted."""
        found = self._study("check", seconds=seconds, along_run=along_run, remedies=remedies)
        return Findings(found)

    def advice(self, *, seconds: float = 10.0) -> Findings:
        """The verdict, and settings that would help an unstable model."""
        return self.check(seconds=seconds, remedies=True)

    def coupling_modes(self, *, monolithic: bool = False) -> Findings:
        """All modes of the recurrence from macro step to macro step."""
        return Findings(self._study("coupling_modes", monolithic=monolithic))

    def stability_curve(self, x: Range, *, schemes: Sequence[str] = ()) -> StabilityCurve:
        """The spectral radius along one parameter, such as `("kc", 10, 1000)`."""
        found = self._study("stability_curve", x=_given_range(x), schemes=list(schemes))
        return StabilityCurve(found)

    def stability_map(self, x: Range, y: Range, *, schemes: Sequence[str] = ()) -> StabilityMap:
        """The spectral radius over two parameters. `schemes` are settings to compare with, such as
        `"schedule.output_update=true"`."""
        given = {"x": _given_range(x), "y": _given_range(y), "schemes": list(schemes)}
        return StabilityMap(self._study("stability_map", **given))

    def stability_borders(self, x: Range, *, schemes: Sequence[str] = ()) -> dict[str, list[float]]:
        """Where stability changes along a parameter, for each scheme."""
        return dict(self._study("stability_borders", x=_given_range(x), schemes=list(schemes)))

    def poles(
        self, *, order: int = 0, latency: float = 0.0, pade: int | None = None
    ) -> Findings:
        """What the exchange does to the poles: monolithic, with held signals, and as it is run."""
        if order not in (0, 1, 2):
            raise ValueError("the order of a hold is 0, 1 or 2")
        return Findings(self._study("poles", order=order, latency=latency, pade=pade))

    def compensate(self, approach: str | None = None) -> Rows:
        """Compensators for all interfaces: what was tried, and the gains."""
        return Rows(self._study("compensate", approach=approach))

    def modes(
        self, count: int = 10, *, near: float | None = None, at_rest: bool = False
    ) -> Rows:
        """Natural vibrations of mechanisms, about the start or about static equilibrium."""
        return Rows(self._study("modes", count=count, near=near, at_rest=at_rest))

    def statics(self, *, time: float | None = None, steps: int = 4) -> Rows:
        """Static equilibrium of mechanisms: nodes, reactions and loads."""
        return Rows(self._study("statics", time=time, steps=steps))

    def compare(
        self,
        vary: Mapping[str, Any] | None = None,
        *,
        reference: PathLike | None = None,
        signal: str | None = None,
    ) -> Findings:
        """Several schemes beside a reference: errors of all signals and energies."""
        given = {"vary": _texts(vary or {}), "reference": _path(reference), "signal": signal}
        return Findings(self._study("compare", **given))

    def linearise(self, *, time: float | None = None) -> Linear:
        """The model as one linear system about its start, or about the state at a time."""
        return Linear(self.name, self._study("linearise", time=time))

    def trim(
        self,
        *,
        hold: Mapping[str, float] | None = None,
        free: Sequence[str] = (),
        period: float | None = None,
        finds_period: bool = False,
        settle: float | None = None,
        seconds: float | None = None,
        out: PathLike | None = None,
    ) -> Findings:
        """The steady or periodic motion of the model; its state goes to `out`, for `run_to(start=...)`."""
        found = self._study(
            "trim",
            hold=list((hold or {}).items()),
            free=list(free),
            period=period,
            finds_period=finds_period,
            settle=settle,
            seconds=seconds,
            out=_path(out),
        )
        return Findings(found)


def _names(given: Sequence[str], what: str) -> list[str]:
    if isinstance(given, str):
        raise TypeError(f"give {what} as a list of names, not as a text")
    return list(given)


def _attach(error: BaseException, results: Results) -> None:
    """Gives an exception the results so far, as `results`."""
    error.results = results  # type: ignore[attr-defined]


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


class Builder:
    """A model that is put together table by table, with the keys of model files.

        builder = oldham.Builder("Oscillator", duration=1.0, step=0.01)
        builder.add("lumped.one", masses={"x": {"mass": 1.0, "velocity": 1.0}})
        builder.connect("one.x", "two.far")
        model = builder.model()
    """

    def __init__(self, name: str, duration: float, step: float, **parameters: float) -> None:
        self.data: dict[str, Any] = {
            "model": {"name": name},
            "simulation": {"duration": duration, "step": step},
        }
        if parameters:
            self.data["parameters"] = dict(parameters)

    def add(self, path: str, **keys: Any) -> Builder:
        """Adds keys to the table at a path such as `"lumped.left"`."""
        table = self.data
        for word in path.split("."):
            table = table.setdefault(word, {})
        table.update(keys)
        return self

    def connect(self, output: str, to: str, **keys: Any) -> Builder:
        """Connects an output to an input, with a gain or offset if there is one."""
        self.data.setdefault("connection", []).append({"from": output, "to": to, **keys})
        return self

    def model(self, settings: Settings | None = None, *, kinds: Sequence[type] = ()) -> Model:
        """The checked model."""
        return Model.from_dict(self.data, settings=settings, kinds=kinds)
