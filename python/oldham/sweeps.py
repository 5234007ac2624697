"""Many runs of one model."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

from .errors import OldhamError
from .findings import Rows
from .progress import bar
from .results import Results, read

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from .model import Model


def _texts(vary: Mapping[str, Any]) -> list[str]:
    """Values as `--vary` takes them."""
    return [f"{key}={_values(key, given)}" for key, given in vary.items()]


def _values(key: str, given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, tuple):
        if len(given) not in (2, 3, 4):
            raise OldhamError(f"a range of `{key}` is (low, high, points) or (low, high, points, \"log\")")
        return ":".join(str(part) for part in given)
    if isinstance(given, (bool, int, float)) or not hasattr(given, "__iter__"):
        raise OldhamError(f"give values of `{key}` as a list, or as a range (low, high, points)")
    values = [str(value).lower() if isinstance(value, bool) else str(value) for value in given]
    if any("," in value for value in values):
        raise OldhamError(f"a value of `{key}` has a comma in it, which a sweep cannot take")
    return ",".join(values)


class Sweep(Sequence[Results]):
    """All runs of a sweep: `frame()` has a row for each, `sweep[0]` its results."""

    def __init__(
        self, found: Mapping[str, Any], folder: Path, kept: tempfile.TemporaryDirectory[str] | None
    ) -> None:
        self.keys: list[str] = found["keys"]
        self.measures: list[str] = found["merits"]
        self.folder = folder
        self._runs: list[dict[str, Any]] = found["runs"]
        self._kept = kept

    @classmethod
    def _run(
        cls,
        model: Model,
        vary: list[str],
        measures: list[str],
        folder: Union[str, "os.PathLike[str]", None],
        monolithic: bool,
        threads: int | None,
        force: bool,
        progress: bool,
    ) -> Sweep:
        kept = tempfile.TemporaryDirectory(prefix="oldham-sweep-") if folder is None else None
        place = Path(kept.name) / "sweep" if kept is not None else Path(os.fspath(folder or "."))
        with bar(f"{model.name}: sweep", progress) as tell:
            found = model._native.study(
                "sweep",
                tell,
                vary=vary,
                folder=str(place),
                measures=measures,
                monolithic=monolithic,
                threads=threads,
                force=force,
            )
        return cls(found, place, kept)

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        run = self._runs[place]
        if run["results"] is None:
            raise OldhamError(f"run {run['run']} has no results: {run['message']}")
        return read(self.folder / run["results"])

    @property
    def unfinished(self) -> list[dict[str, Any]]:
        """Runs that did not finish, and why."""
        return [run for run in self._runs if run["status"] != "finished"]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each run: values of the keys, status, figures of merit."""
        return [self._row(run) for run in self._runs]

    def _row(self, run: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {key: _number(value) for key, value in run["settings"]}
        row["status"] = run["status"]
        row["time"] = run["time"]
        row["energy"] = run["energy"]
        row["spurious"] = run["spurious"]
        # A run that failed may have no figures.
        merits = run["merits"] or [None] * len(self.measures)
        row.update(zip(self.measures, merits))
        row["message"] = run["message"]
        return row

    def frame(self) -> pandas.DataFrame:
        """The rows as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def plot(self, measure: str | None = None, key: str | None = None) -> Figure:
        """A figure of merit over a varied key."""
        from .plots import sweep

        if not self.measures and measure is None:
            raise OldhamError("the sweep has no measures to plot; give some to `Model.sweep`")
        return sweep(self, measure or self.measures[0], key or self.keys[0])

    def __repr__(self) -> str:
        bad = len(self.unfinished)
        rest = f", {bad} did not finish" if bad else ""
        return f"<Sweep over {', '.join(self.keys)}: {len(self)} runs{rest}>"

    def _repr_html_(self) -> str:
        return Rows(self.rows())._repr_html_()


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
