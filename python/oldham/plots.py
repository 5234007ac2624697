"""Pictures with matplotlib, one call each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .results import Results
    from .studies import Linear, StabilityCurve, StabilityMap
    from .sweeps import Sweep


def _figure(rows: int = 1, height: float = 2.6) -> tuple[Figure, list[Axes]]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        rows, 1, sharex=True, squeeze=False, figsize=(8.0, 0.8 + height * rows), layout="constrained"
    )
    return figure, [row[0] for row in axes]


def png(figure: Figure) -> bytes:
    """A picture as a notebook takes it; the figure is closed, so that it is not shown a second time."""
    import io

    import matplotlib.pyplot as plt

    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=100)
    plt.close(figure)
    return data.getvalue()


def results(shown: Results, names: Sequence[str], title: str) -> Figure:
    """Curves over time, a panel for each unit."""
    units: dict[str, list[str]] = {}
    for name in names:
        units.setdefault(shown.units[name], []).append(name)
    figure, panels = _figure(len(units))
    for axes, (unit, group) in zip(panels, units.items()):
        for name in group:
            axes.plot(shown.time, shown[name], label=name, linewidth=1.2)
        axes.set_ylabel(group[0] + _in(unit) if len(group) == 1 else _in(unit).strip())
        if len(group) > 1:
            axes.legend(loc="best", fontsize="small")
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel("time in s")
    figure.suptitle(title)
    return figure


def _in(unit: str) -> str:
    return "" if unit == "1" else f" in {unit}"


def curve(study: StabilityCurve) -> Figure:
    """The spectral radius over a parameter."""
    figure, (axes,) = _figure(height=4.0)
    for scheme, radius in study.radius.items():
        axes.plot(study.x, np.minimum(radius, 2.0), label=scheme)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--", label="stable below")
    axes.set_xlabel(study.x_key)
    axes.set_ylabel("spectral radius (up to 2)")
    _scale(axes, study.x, None)
    axes.legend(fontsize="small")
    figure.suptitle(study.model)
    return figure


def map(study: StabilityMap) -> Figure:
    """Where the first scheme is unstable, the borders of all, and the model's own point."""
    figure, (axes,) = _figure(height=4.6)
    unstable = np.where(study.own > 1.0 + 1e-9, 1.0, np.nan)
    axes.pcolormesh(study.x, study.y, unstable, cmap="Oranges", vmin=0, vmax=2, shading="nearest")
    axes.plot([], [], "s", color="#fdae6b", label="unstable")
    for scheme, (x, y) in study.borders.items():
        axes.plot(x, y, label=f"border, {scheme}")
    if study.here is not None:
        axes.plot(*study.here, "k+", markersize=9, label="as in the file")
    axes.set_xlabel(study.x_key)
    axes.set_ylabel(study.y_key)
    _scale(axes, study.x, study.y)
    axes.set_xlim(study.x[0], study.x[-1])
    axes.set_ylim(study.y[0], study.y[-1])
    axes.legend(fontsize="small", loc="best")
    figure.suptitle(study.model)
    return figure


def _scale(axes: Axes, x: np.ndarray, y: np.ndarray | None) -> None:
    if _by_factors(x):
        axes.set_xscale("log")
    if y is not None and _by_factors(y):
        axes.set_yscale("log")


def _by_factors(values: np.ndarray) -> bool:
    """Whether the points are spaced by factors."""
    if len(values) < 3 or values.min() <= 0:
        return False
    ratio, step = values[1:] / values[:-1], np.diff(values)
    return bool(np.ptp(ratio) / ratio.mean() < np.ptp(step) / step.mean())


def bode(system: Linear, source: str, target: str) -> Figure:
    """Magnitude and phase of a frequency response."""
    frequency, answer = system.response(source, target)
    figure, (above, below) = _figure(2)
    above.loglog(frequency, np.abs(answer))
    below.semilogx(frequency, np.degrees(np.unwrap(np.angle(answer))))
    above.set_ylabel("magnitude")
    below.set_ylabel("phase in degrees")
    below.set_xlabel("frequency in Hz")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.suptitle(f"{system.name}: {target} over {source}")
    return figure


def sweep(done: Sweep, measure: str, key: str) -> Figure:
    """A figure of merit over a varied key."""
    frame = done.frame()
    figure, (axes,) = _figure(height=4.0)
    others = [other for other in done.keys if other != key]
    groups = frame.groupby(others) if others else [("", frame)]
    for value, group in groups:
        value = value if isinstance(value, tuple) else (value,)
        label = ", ".join(f"{other} = {one:g}" for other, one in zip(others, value))
        axes.plot(group[key], group[measure], marker=".", label=label)
    axes.set_xlabel(key)
    axes.set_ylabel(measure)
    axes.grid(alpha=0.3)
    if others:
        axes.legend(fontsize="small")
    return figure
