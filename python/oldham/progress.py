"""A bar that shows how far a run is, in a terminal or a notebook."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Union

_WIDTH = 30


@contextmanager
def bar(name: str, wanted: Union[bool, Callable[..., None]]) -> Iterator[Callable[..., None] | None]:
    """What a run tells its progress to."""
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield None
        return
    show, end = _notebook(name) or _terminal(name)
    try:
        yield show
    finally:
        end()


def _text(name: str, share: float, rest: tuple[float, ...]) -> str:
    done = round(_WIDTH * min(max(share, 0.0), 1.0))
    speed = f" {rest[-1]:.3g} x real time" if len(rest) > 1 else ""
    return f"{name} [{'#' * done}{'.' * (_WIDTH - done)}] {100 * share:3.0f} %{speed}"


def _terminal(name: str) -> tuple[Callable[..., None], Callable[[], None]]:
    def show(share: float, *rest: float) -> None:
        sys.stderr.write("\r" + _text(name, share, rest))
        sys.stderr.flush()

    return show, lambda: print(file=sys.stderr)


def _notebook(name: str) -> tuple[Callable[..., None], Callable[[], None]] | None:
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not getattr(shell, "kernel", None):
        return None
    from html import escape

    from IPython.display import HTML, display

    handle = display(HTML(escape(name)), display_id=True)

    def show(share: float, *rest: float) -> None:
        told = escape(_text(name, share, rest))
        handle.update(HTML(f"<progress value='{share:.3f}'></progress> {told}"))

    return show, lambda: None
