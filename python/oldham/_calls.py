"""Python code that the engine calls: objects of kinds, and solvers with their states."""

from __future__ import annotations

import ctypes
import itertools
import json
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from ._library import _Call, _Callbacks, _Forget, _Make, _Start, _lib

_numbers = itertools.count(1)
_known: dict[int, Any] = {}


def _register(thing: Any) -> int:
    number = next(_numbers)
    _known[number] = thing
    return number


def _one_line(error: BaseException) -> bytes:
    text = str(error)
    name = type(error).__name__
    return (f"{name}: {text}" if text else name).encode()


def _reply(reply: int, data: bytes) -> None:
    _lib.oldham_reply(reply, data, len(data))


class _Kind:
    """A class that makes objects, and where its exceptions go."""

    def __init__(self, make: Callable[..., Any], troubles: list[BaseException]) -> None:
        self.make = make
        self.troubles = troubles


class _Made:
    """An object with its settings."""

    def __init__(self, thing: Any, troubles: list[BaseException]) -> None:
        self.thing = thing
        self.troubles = troubles


class _Solver:
    """An object with a state: arrays that the engine sees, too."""

    def __init__(self, made: _Made, widths: tuple[int, int], state: Any) -> None:
        self.troubles = made.troubles
        self.thing = made.thing
        self.received = np.zeros(widths[0])
        self.given = np.zeros(widths[1])
        self.seen = self.received.view()
        self.seen.flags.writeable = False
        self.is_opaque = isinstance(state, bytes)
        self.opaque: bytes | None = state if self.is_opaque else None
        self.has_state = state is not None
        self.state = _coordinates(state) if not self.is_opaque else np.zeros(0)

    def description(self) -> dict[str, Any]:
        arrays = (self.received, self.state, self.given)
        return {
            "arrays": [array.__array_interface__["data"][0] for array in arrays],
            "lengths": [len(array) for array in arrays],
            "bytes": None if self.opaque is None else list(self.opaque),
        }


def _coordinates(state: Any) -> NDArray[np.float64]:
    if state is None:
        return np.zeros(0)
    try:
        numbers = np.array(state, dtype=float)
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1:
        raise TypeError(
            "the state must be None, numbers or an array of one dimension (its coordinates), or bytes"
        )
    return numbers


def _fill(out: NDArray[np.float64], given: Any, what: str) -> None:
    """Puts what Python code gave into an array, if it has as many numbers."""
    if isinstance(given, (float, int)):
        count = 1
    elif isinstance(given, (tuple, list)):
        count = len(given)
    elif isinstance(given, np.ndarray) and given.ndim <= 1:
        count = given.size
    elif isinstance(given, np.number):
        count = 1
    else:
        raise TypeError(f"{what} must give numbers, not {type(given).__name__}")
    if count != len(out):
        counted = "1 number" if count == 1 else f"{count} numbers"
        expected = "one is" if len(out) == 1 else f"{len(out)} are"
        raise ValueError(f"{what} gave {counted}, and {expected} expected")
    out[:] = given


def _make(kind: int, text: int, length: int, reply: int) -> int:
    found = _known[kind]
    try:
        thing = found.make(**json.loads(ctypes.string_at(text, length)))
        return _register(_Made(thing, found.troubles))
    except BaseException as error:
        found.troubles.append(error)
        _reply(reply, _one_line(error))
        return 0


def _start(number: int, width: int, reply: int) -> int:
    made = _known[number]
    try:
        thing = made.thing
        if hasattr(thing, "predict"):
            solver = _Solver(made, (width, width), thing.start(width))
            description = solver.description()
        else:
            received, given = (
                sum(port.width for port in ports) for ports in (thing.inputs, thing.outputs)
            )
            solver = _Solver(made, (received, given), thing.start())
            description = {
                **solver.description(),
                "inputs": [port._asdict() for port in thing.inputs],
                "outputs": [port._asdict() for port in thing.outputs],
                "direct": [list(pair) for pair in thing.direct],
                "conjugate": [list(pair) for pair in thing.conjugate],
            }
        _reply(reply, json.dumps(description).encode())
        return _register(solver)
    except BaseException as error:
        made.troubles.append(error)
        _reply(reply, _one_line(error))
        return 0


_ADVANCE, _SEND, _RECEIVE, _PREDICT = range(4)


def _call(
    number: int, method: int, t: float, dt: float, data: int | None, length: int, reply: int
) -> int:
    solver = _known[number]
    try:
        thing = solver.thing
        state: Any = solver.state
        if solver.is_opaque:
            state = ctypes.string_at(data, length) if data and length else b""
        elif not solver.has_state:
            state = None
        if method == _SEND:
            _fill(solver.given, thing.send(state, t, solver.seen), "`send`")
            return 0
        if method == _PREDICT:
            _fill(solver.given, thing.predict(state, t), "`predict`")
            return 0
        if method == _ADVANCE:
            new = thing.advance(state, t, dt, solver.seen)
        else:
            new = thing.receive(state, t, solver.seen)
        if solver.is_opaque:
            if new is None:
                return 0
            if not isinstance(new, bytes):
                raise TypeError(
                    f"`start` gave bytes as state; the new one must be bytes, too, not {type(new).__name__}"
                )
            _reply(reply, new)
            return 2
        if new is not None and new is not state:
            if not solver.has_state:
                raise TypeError(
                    "there is a new state, but `start` gave none: give the state at the start there"
                )
            _fill(solver.state, new, "the state")
        return 0
    except BaseException as error:
        solver.troubles.append(error)
        _reply(reply, _one_line(error))
        return 1


def _forget(number: int) -> None:
    _known.pop(number, None)


_callbacks = _Callbacks(_Make(_make), _Start(_start), _Call(_call), _Forget(_forget))
