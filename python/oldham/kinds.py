"""Subsystems, controllers and predictors as Python classes."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, Callable, Mapping, NamedTuple, Sequence, TypeVar

from .errors import OldhamError
from .ports import Port

C = TypeVar("C", bound=type)
_DECLARATIONS = ("inputs", "outputs", "direct", "conjugate")
_TYPES = {float: "number", int: "integer", str: "string", bool: "boolean"}


class _Given(NamedTuple):
    """A kind as the native part takes it."""

    is_predictor: bool
    name: str
    keys: dict[str, Any]
    make: Callable[..., Any]


class _Declared(NamedTuple):
    name: str
    quantity: str
    unit: str
    width: int


class _Part(NamedTuple):
    inputs: list[_Declared]
    outputs: list[_Declared]
    direct: list[tuple[str, str]]
    conjugate: list[tuple[str, str]]
    start: Callable[[], Any]
    advance: Callable[..., Any]
    send: Callable[..., Any]


def subsystem(name: str) -> Callable[[C], C]:
    """Makes a class a kind of subsystem: sections `[name.NAME]` of models that are read with `kinds=[Class]`.

    The class becomes a dataclass; its fields are the keys of the section, with types and defaults. It declares
    `inputs` and `outputs` (`name: unit` or `name: oldham.ports...`) and has up to three methods:

    - `start(self)` gives the state at the start: numbers (coordinates of its motion, which analyses look at),
      `bytes` (opaque), or None;
    - `advance(self, state, t, dt, u)` gives the state at `t + dt`, or changes the array in place; `u` has the
      inputs at the middle of the step, one after the other;
    - `send(self, state, t, u)` gives the outputs at `t`, one after the other. It leaves everything as it is.

    All state is in `state`, so that a run can go back, be saved and be analysed; an object that remembers
    anything else gives results that depend on how it was called. Further declarations: `direct`, the pairs
    (input, output) where an output follows an input at once (all pairs, unless it is said; `[]` for none);
    `conjugate`, pairs of a motion and the force that belongs to it, whose energy is balanced.
    """
    return lambda cls: _mark(cls, name, is_predictor=False)


def predictor(name: str) -> Callable[[C], C]:
    """Makes a class a predictor: `predictor = "name"`, or a table with this `kind`.

    It has three methods: `start(self, width)` gives the state at the start; `receive(self, state, t, u)` takes a
    sample of all inputs and gives the new state; `predict(self, state, t)` gives the inputs at another time.
    """
    return lambda cls: _mark(cls, name, is_predictor=True)


def _mark(cls: C, name: str, is_predictor: bool) -> C:
    needed = ["start", "receive", "predict"] if is_predictor else ["send"]
    for method in needed:
        if not callable(getattr(cls, method, None)):
            raise OldhamError(f"`{cls.__name__}` needs a method `{method}`")
    if "__dataclass_fields__" not in cls.__dict__:
        cls = typing.cast(C, dataclasses.dataclass(cls))
    cls.__oldham_kind__ = (name, is_predictor)  # type: ignore[attr-defined]
    return cls


def given(kinds: Sequence[type]) -> list[_Given]:
    """The kinds of some classes, for the native part."""
    return [_given(cls) for cls in kinds]


def _given(cls: type) -> _Given:
    marked = getattr(cls, "__oldham_kind__", None)
    if marked is None:
        raise OldhamError(
            f"`{getattr(cls, '__name__', cls)}` is not a kind; write @oldham.subsystem(\"name\") above the class"
        )
    name, is_predictor = marked
    make = cls if is_predictor else _Maker(cls)
    return _Given(is_predictor, name, schema(cls), make)


def schema(cls: type) -> dict[str, Any]:
    """The JSON Schema of the keys that a class takes."""
    hints = typing.get_type_hints(cls)
    properties: dict[str, Any] = {}
    required = []
    for field in dataclasses.fields(cls):
        if not field.init or field.name in _DECLARATIONS:
            continue
        key = dict(_key(hints[field.name], f"{cls.__name__}.{field.name}"))
        key.update(field.metadata)
        properties[field.name] = key
        has_default = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if not has_default:
            required.append(field.name)
        elif isinstance(field.default, (bool, int, float, str)):
            key["default"] = field.default
    doc = (cls.__doc__ or "").strip()
    # What a dataclass writes by itself is no description.
    doc = "" if doc.startswith(f"{cls.__name__}(") else doc.split("\n\n")[0]
    return {
        "type": "object",
        "description": doc,
        "properties": properties,
        "required": required,
    }


def _key(hint: Any, place: str) -> Mapping[str, Any]:
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, Sequence, typing.Sequence) and len(arguments) == 1:
        return {"type": "array", "items": _key(arguments[0], place)}
    if origin is tuple and arguments:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": _key(arguments[0], place)}
        if len(set(arguments)) == 1:
            count = len(arguments)
            items = _key(arguments[0], place)
            return {"type": "array", "items": items, "minItems": count, "maxItems": count}
    if origin is typing.Literal:
        return {"type": "string", "enum": list(arguments)}
    without_none = [one for one in arguments if one is not type(None)]
    if len(without_none) == 1 and len(without_none) < len(arguments):
        return _key(without_none[0], place)
    raise OldhamError(
        f"`{place}` has the type {hint}, which no key can have; there are float, int, str, bool, "
        "Literal of texts, and lists and tuples of one of them"
    )


class _Maker:
    """Makes the parts of a class."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __call__(self, **keys: Any) -> _Part:
        made = self.cls(**keys)
        inputs = _declared(made, "inputs")
        outputs = _declared(made, "outputs")
        direct = getattr(made, "direct", None)
        if direct is None:
            direct = [(one.name, other.name) for one in inputs for other in outputs]
        _check_pairs(made, "direct", direct, inputs, outputs)
        conjugate = list(getattr(made, "conjugate", ()))
        _check_pairs(made, "conjugate", conjugate, inputs, outputs)
        start = getattr(made, "start", None)
        advance = getattr(made, "advance", None)
        if start is not None and advance is None:
            raise OldhamError(f"`{self.cls.__name__}` has a state and needs a method `advance`")
        return _Part(
            inputs,
            outputs,
            list(direct),
            conjugate,
            start or _nothing,
            advance or _nothing,
            made.send,
        )


def _nothing(*_: Any) -> None:
    return None


def _declared(made: object, what: str) -> list[_Declared]:
    ports = getattr(made, what, None)
    if not isinstance(ports, Mapping):
        raise OldhamError(
            f"`{type(made).__name__}` must declare `{what}`, such as {what} = {{\"force\": \"N\"}}"
        )
    declared = []
    for name, port in ports.items():
        port = Port("scalar", port) if isinstance(port, str) else port
        if not isinstance(port, Port) or not isinstance(name, str):
            raise OldhamError(
                f"`{name}` among the {what} of `{type(made).__name__}` must be a unit or one of oldham.ports"
            )
        declared.append(_Declared(name, port.quantity, port.unit, port.width))
    return declared


def _check_pairs(
    made: object,
    what: str,
    pairs: Sequence[tuple[str, str]],
    inputs: list[_Declared],
    outputs: list[_Declared],
) -> None:
    known = ({port.name for port in inputs}, {port.name for port in outputs})
    for pair in pairs:
        if len(pair) != 2 or pair[0] not in known[0] or pair[1] not in known[1]:
            raise OldhamError(
                f"`{what}` of `{type(made).__name__}` has pairs of an input and an output; {pair!r} is not one"
            )
