"""Dictionaries as model files: written as TOML and read by the one reader there is."""

from __future__ import annotations

import json
import math
import re
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def write(data: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The text of a model, and for each of its lines the path of the key that it is about."""
    lines: list[str] = []
    places: list[str] = []
    _table((), data, lines, places)
    return "\n".join(lines) + "\n", places


def value(given: Any, place: str = "the value") -> str:
    """A value as TOML."""
    if hasattr(given, "tolist"):
        # Arrays and numbers of NumPy.
        given = given.tolist()
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, Integral):
        return str(int(given))
    if isinstance(given, Real):
        return _number(float(given))
    if isinstance(given, str):
        return _text(given)
    if isinstance(given, PathLike):
        return _text(str(fspath(given)))
    if isinstance(given, Mapping):
        inside = (
            f"{_key(key, place)} = {value(item, f'{place}.{key}')}" for key, item in given.items()
        )
        return "{ " + ", ".join(inside) + " }" if given else "{}"
    if isinstance(given, (list, tuple)):
        return "[" + ", ".join(value(item, f"{place}[{n}]") for n, item in enumerate(given)) + "]"
    if given is None:
        raise TypeError(f"{place} is None; leave the key out")
    raise TypeError(f"{place} is of type {type(given).__name__}, which a model cannot hold")


def _table(
    path: tuple[str, ...], data: Mapping[str, Any], lines: list[str], places: list[str]
) -> None:
    tables = {}
    for key, item in data.items():
        here = ".".join((*path, str(key)))
        if isinstance(item, Mapping):
            _key(key, here)
            tables[key] = item
        else:
            lines.append(f"{_key(key, here)} = {value(item, here)}")
            places.append(here)
    for key, item in tables.items():
        inner = (*path, key)
        has_values = any(not isinstance(inside, Mapping) for inside in item.values())
        if has_values or not item:
            lines.append("[" + ".".join(_key(word, ".".join(inner)) for word in inner) + "]")
            places.append(".".join(inner))
        _table(inner, item, lines, places)


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} of {place} is not a text")
    return key if _BARE.match(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return repr(number)
