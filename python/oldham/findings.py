"""What studies tell, as plain data that notebooks show as tables."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Mapping, Sequence

_ROWS = 20
"""Rows that are shown of a table."""
_WIDTH = 8
"""Numbers of a list that are shown."""


class Findings(dict[str, Any]):
    """A dictionary with what a study has found; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        return _of_mapping(self)


class Rows(list[dict[str, Any]]):
    """A list of dictionaries, one for each thing found; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        return _of_rows(self)


def _of_mapping(found: Mapping[str, Any]) -> str:
    told = [(key, value) for key, value in found.items() if value is not None]
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{_cell(value)}</td></tr>" for key, value in told)
    return f"<table>{rows}</table>"


def _of_rows(found: Sequence[Mapping[str, Any]]) -> str:
    keys = list(dict.fromkeys(key for row in found for key in row))
    head = "".join(f"<th>{escape(key)}</th>" for key in keys)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(row.get(key))}</td>" for key in keys) + "</tr>"
        for row in found[:_ROWS]
    )
    more = len(found) - _ROWS
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table><tr>{head}</tr>{body}</table>{rest}"


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return _of_mapping(value) if value else ""
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(one, Mapping) for one in value):
            return _of_rows(value)
        return _listed(value)
    return _plain(value)


def _listed(values: Sequence[Any]) -> str:
    shown: Iterable[str] = (_cell(value) for value in values[:_WIDTH])
    more = len(values) - _WIDTH
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        # Radii near one differ late.
        return f"{value:.10g}"
    return escape(str(value))
