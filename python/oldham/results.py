"""What a run has recorded."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import OldhamError

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from .model import Model
    from .view import View

_TIME = "time"
_SHOWN = 8


class Results(Mapping[str, "NDArray[np.float64]"]):
    """Columns over time, by name: `results["left.x1.v"]`.

    Arrays are read-only views of the memory into which the engine has written; nothing is copied. They keep
    the results alive. pyarrow, polars and pandas take the same memory by `__arrow_c_stream__`.
    """

    def __init__(
        self, columns: _native.Columns, metadata: Mapping[str, Any] | None = None
    ) -> None:
        self._columns = columns
        self._places = {name: place for place, name in enumerate(columns.names)}
        self.metadata: dict[str, Any] = dict(metadata or {})
        """What a result file says of itself."""
        self.status: str = "finished"
        """`finished`, `interrupted` or `failed`."""
        self.summary: dict[str, Any] = {}
        """What the run did: times, energies, counts of its parts."""
        self._model: Model | None = None
        self._path: str | None = None

    def _of(self, model: Model) -> Results:
        self._model = model
        return self

    def _with_summary(self, told: Mapping[str, Any]) -> Results:
        self.status = told["status"]
        self.summary = told["summary"]
        return self

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        try:
            return self._columns.array(self._places[name])
        except KeyError:
            raise KeyError(self._missing(name)) from None

    def _missing(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, list(self._places), n=3)
        help = f"; there are {', '.join(near)}" if near else ""
        return f"there is no column `{name}`{help}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.names)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the rows in s."""
        return self[_TIME]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """The SI unit of each column."""
        return dict(zip(self._columns.names, self._columns.units))

    @property
    def title(self) -> str:
        """Title of the model."""
        return str(self.metadata.get("title", ""))

    @property
    def notes(self) -> list[str]:
        """What the run has to say."""
        return list(self.summary.get("notes", []))

    def matching(self, *patterns: str) -> list[str]:
        """Names that are one of these, lie below one (`left.x1`), or match one with `*`."""
        names = [name for name in self if name != _TIME]
        if not patterns:
            shown = [name for name in names if not name.startswith(("energy.", "exchange."))]
            return (shown or names)[:_SHOWN]
        found = []
        for pattern in patterns:
            own = [
                name
                for name in names
                if name == pattern or name.startswith(f"{pattern}.") or fnmatchcase(name, pattern)
            ]
            if not own:
                raise KeyError(self._missing(pattern))
            found += [name for name in own if name not in found]
        return found

    def frame(self, *patterns: str) -> pandas.DataFrame:
        """The columns as a DataFrame over time; units are in its `attrs`."""
        import pandas

        names = self.matching(*patterns) if patterns else [name for name in self if name != _TIME]
        index = pandas.Index(self.time, name=_TIME)
        frame = pandas.DataFrame({name: self[name] for name in names}, index=index, copy=False)
        frame.attrs["units"] = {name: self.units[name] for name in names}
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def plot(self, *patterns: str, title: str | None = None) -> Figure:
        """Curves over time, a panel for each unit."""
        from .plots import results

        return results(self, self.matching(*patterns), title or self.title)

    def view(self, model: Model | None = None, *, frames: int = 2000, height: int = 480) -> View:
        """The motion in three dimensions, as in `oldham view`: a notebook shows it, `save` writes the page.

        Results know their model, but for those of Python parts that were read or unpickled: give it there. At most
        so many `frames` are shown, at equal distances.
        """
        from .view import View

        if frames < 2:
            raise OldhamError(f"a film needs at least two frames, not {frames}")
        model = model or self._model
        if model is not None:
            told = model._native.page(self._columns, frames)
        elif self._path is not None:
            told = _native.page_of_file(self._path, frames)
        else:
            raise OldhamError("these results do not say which model they are of; give it as `view(model)`")
        return View(told["page"], told["rows"], told["notes"], self.title, height)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if self.rows else "nothing"
        return f"<Results {self.title!r}: {len(self) - 1} columns, {self.rows} rows, {span}, {self.status}>"

    def _repr_html_(self) -> str:
        from html import escape

        row = "<tr><td>{}</td><td>{}</td><td>{:.6g}</td><td>{:.6g}</td><td>{:.6g}</td></tr>"
        names = [name for name in self if name != _TIME]
        rows = "".join(
            row.format(escape(name), escape(self.units[name]), *_extent(self[name]))
            for name in names[: 3 * _SHOWN]
        )
        more = len(names) - 3 * _SHOWN
        rest = f"<p>and {more} more</p>" if more > 0 else ""
        head = "<tr><th>column</th><th>unit</th><th>least</th><th>largest</th><th>last</th></tr>"
        return f"<p>{escape(repr(self)[1:-1])}</p><table>{head}{rows}</table>{rest}"

    def __reduce__(self) -> tuple[Any, ...]:
        names, units = list(self), list(self.units.values())
        told: dict[str, Any] = {"status": self.status, "summary": self.summary, "path": self._path}
        if self._model is not None and not self._model._kinds:
            told["model"] = self._model
        return _restored, (names, units, [np.array(self[name]) for name in names], self.metadata, told)


def _extent(values: NDArray[np.float64]) -> tuple[float, float, float]:
    if not len(values):
        return (float("nan"),) * 3
    return float(values.min()), float(values.max()), float(values[-1])


def _restored(
    names: Sequence[str],
    units: Sequence[str],
    values: Sequence[NDArray[np.float64]],
    metadata: Mapping[str, Any],
    told: Mapping[str, Any],
) -> Results:
    results = Results(_native.Columns.of(names, units, values), metadata)._with_summary(told)
    results._model, results._path = told.get("model"), told["path"]
    return results


def read(path: Union[str, "os.PathLike[str]"]) -> Results:
    """Reads a result file: `.parquet`, `.csv`, or what an interrupted run has left (`.partial`)."""
    results = Results(*_native.read(os.fspath(path)))
    results._path = os.path.abspath(path)
    return results
