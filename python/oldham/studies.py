"""What studies of a model give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .errors import OldhamError
from .findings import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Range = Union[
    str, Tuple[str, float, float], Tuple[str, float, float, int], Tuple[str, float, float, int, str]
]
"""A parameter, its ends, the number of points, and `"log"` or `"linear"`; the parameter alone: around its value."""
Array = NDArray[np.float64]

_POINTS = 25


def _given_range(given: Range) -> tuple[str, tuple[float, float] | None, int, bool | None]:
    if isinstance(given, str):
        return given, None, _POINTS, None
    key, low, high, *rest = given
    points = rest[0] if rest else _POINTS
    spacing = rest[1] if len(rest) > 1 else None
    if spacing not in (None, "log", "linear"):
        raise OldhamError(f"`{spacing}` is not a spacing; there are log and linear")
    if not isinstance(points, int) or points < 2:
        raise OldhamError(f"`{key}` needs at least two points, not {points}")
    return key, (float(low), float(high)), points, None if spacing is None else spacing == "log"


def _numbers(values: Sequence[Any]) -> Array:
    # None stands for what could not be analysed.
    return np.array(values, dtype=float)


def _matrix(found: Mapping[str, Any]) -> Array:
    return np.array(found["rows"], dtype=float).reshape(found["shape"])


class StabilityCurve:
    """The spectral radius along one parameter: below one the coupling is stable."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.model: str = found["model"]
        self.x_key: str = found["x"]["key"]
        self.x: Array = _numbers(found["x"]["values"])
        self.radius: dict[str, Array] = {
            one["scheme"]: _numbers(one["radius"]) for one in found["curves"]
        }
        """By scheme, the file's own first; NaN where it could not be analysed."""

    def plot(self) -> Figure:
        """The radii over the parameter."""
        from .plots import curve

        return curve(self)

    def __repr__(self) -> str:
        stable = {name: int(np.sum(radius <= 1.0 + 1e-9)) for name, radius in self.radius.items()}
        counts = ", ".join(f"{name}: {count} of {len(self.x)} stable" for name, count in stable.items())
        return f"<StabilityCurve of {self.model!r} over {self.x_key}; {counts}>"

    def _repr_png_(self) -> bytes | None:
        return _picture(self)


class StabilityMap:
    """The spectral radius over two parameters."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.model: str = found["model"]
        self.x_key: str = found["x"]["key"]
        self.y_key: str = found["y"]["key"]
        self.x: Array = _numbers(found["x"]["values"])
        self.y: Array = _numbers(found["y"]["values"])
        shape = (len(self.y), len(self.x))
        names = [one["scheme"] for one in found["maps"]]
        self.radius: dict[str, Array] = {
            name: _numbers(one["radius"]).reshape(shape) for name, one in zip(names, found["maps"])
        }
        """By scheme, the file's own first: a row for each value of y; NaN where it could not be analysed."""
        self.borders: dict[str, tuple[Array, Array]] = {
            name: (_numbers(x), _numbers(y)) for name, (x, y) in zip(names, found["borders"])
        }
        """The border of stability, as a line of points; NaN between its pieces."""
        self.here: tuple[float, float] | None = tuple(found["here"]) if found["here"] else None
        """The model's own point."""

    @property
    def own(self) -> Array:
        """The radius of the file's own scheme."""
        return next(iter(self.radius.values()))

    def plot(self) -> Figure:
        """Where it is unstable, with the borders."""
        from .plots import map

        return map(self)

    def __repr__(self) -> str:
        stable = int(np.sum(self.own <= 1.0 + 1e-9))
        return (
            f"<StabilityMap of {self.model!r} over {self.x_key} and {self.y_key}: "
            f"{stable} of {self.own.size} points stable>"
        )

    def _repr_png_(self) -> bytes | None:
        return _picture(self)


class Linear:
    """A model as one linear system: `x' = A x + B u`, `y = C x + D u`.

    A motion that goes in has three inputs (displacement, velocity, acceleration), which belong together:
    `derivatives` tells how often each is differentiated.
    """

    def __init__(self, name: str, found: Mapping[str, Any]) -> None:
        self.name = name
        self.a: Array = _matrix(found["a"])
        self.b: Array = _matrix(found["b"])
        self.c: Array = _matrix(found["c"])
        self.d: Array = _matrix(found["d"])
        self.states: list[str] = found["states"]
        self.inputs: list[str] = [name for name, _, _ in found["inputs"]]
        self.outputs: list[str] = [name for name, _, _ in found["outputs"]]
        self.units: dict[str, str] = {
            name: unit for name, unit, _ in (*found["inputs"], *found["outputs"])
        }
        self.derivatives: dict[str, int] = {name: order for name, _, order in found["inputs"]}
        self.sample: float | None = found["sample"]
        """The time from sample to sample in s; None in continuous time."""
        self.time: float = found["time"]
        self.poles: NDArray[np.complex128] = np.array([complex(*pole) for pole in found["poles"]])
        """In the s-plane; of each complex pair the upper one."""

    def control(self) -> Any:
        """The same as `control.StateSpace` of python-control, with names."""
        import control

        return control.StateSpace(
            self.a,
            self.b,
            self.c,
            self.d,
            self.sample or 0,
            name=self.name,
            states=[_plain(name) for name in self.states],
            inputs=[_plain(name) for name in self.inputs],
            outputs=[_plain(name) for name in self.outputs],
        )

    def scipy(self) -> Any:
        """The same as `scipy.signal.StateSpace`."""
        from scipy import signal

        if self.sample is None:
            return signal.StateSpace(self.a, self.b, self.c, self.d)
        return signal.StateSpace(self.a, self.b, self.c, self.d, dt=self.sample)

    def response(
        self, source: str, target: str, frequency: Array | None = None
    ) -> tuple[Array, NDArray[np.complex128]]:
        """Frequencies in Hz and the answers of an output to an input. The derivatives of a motion go with it."""
        if source not in self.inputs or target not in self.outputs:
            raise OldhamError(
                f"there is no such pair; inputs are {', '.join(self.inputs) or 'none'}, "
                f"outputs {', '.join(self.outputs[:10])}"
            )
        if frequency is None:
            sizes = np.abs(self.poles[np.abs(self.poles) > 0]) / (2 * np.pi)
            low, high = (sizes.min(), sizes.max()) if len(sizes) else (0.1, 10.0)
            frequency = np.geomspace(low / 10, high * 10, 400)
        place = self.inputs.index(source)
        row = self.outputs.index(target)
        stem = source.rsplit(".", 1)[0]
        family = [
            (n, order)
            for n, (name, order) in enumerate(self.derivatives.items())
            if n == place or (order > 0 and name.rsplit(".", 1)[0] == stem)
        ]
        answers = []
        for f in frequency:
            s = 2j * np.pi * f
            z = s if self.sample is None else np.exp(s * self.sample)
            u = np.zeros(len(self.inputs), dtype=complex)
            for n, order in family:
                u[n] = s ** (order - self.derivatives[source])
            x = np.linalg.solve(z * np.eye(len(self.a)) - self.a, self.b @ u)
            answers.append(self.c[row] @ x + self.d[row] @ u)
        return frequency, np.array(answers)

    def plot(self, source: str, target: str) -> Figure:
        """A frequency response."""
        from .plots import bode

        return bode(self, source, target)

    def __repr__(self) -> str:
        return (
            f"<Linear {self.name!r} about t = {self.time:g} s: {len(self.states)} states, "
            f"{len(self.inputs)} inputs, {len(self.outputs)} outputs>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = []
        for pole in self.poles[np.argsort(np.abs(self.poles))]:
            size = abs(pole)
            damping = -pole.real / size if size else 0.0
            rows.append({"pole in 1/s": f"{pole:.6g}", "in Hz": size / (2 * np.pi), "damping ratio": damping})
        return f"<p>{escape(repr(self)[1:-1])}</p>{Rows(rows)._repr_html_()}"


def _picture(study: StabilityCurve | StabilityMap) -> bytes | None:
    """What a notebook shows, where matplotlib is there."""
    from .plots import png

    try:
        return png(study.plot())
    except ImportError:
        return None


def _plain(name: str) -> str:
    # python-control reads dots in names of signals as `system.signal`.
    return name.replace(".", "_")
