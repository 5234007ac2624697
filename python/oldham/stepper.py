"""Stepping by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from .errors import OldhamError

if TYPE_CHECKING:
    from .model import Model

Values = Union[float, Sequence[float], NDArray[np.float64]]


class State:
    """A saved state of a stepper: restored bit for bit, also in another process of the same machine."""

    def __init__(self, native: _native.State) -> None:
        self._native = native

    @property
    def time(self) -> float:
        """Its time in s."""
        return self._native.time

    def to_bytes(self) -> bytes:
        """The state as bytes."""
        return self._native.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes, time: float = float("nan")) -> State:
        """The state that gave these bytes."""
        return cls(_native.State.from_bytes(data, time))

    def __reduce__(self) -> tuple[Any, ...]:
        return State.from_bytes, (self.to_bytes(), self.time)

    def __repr__(self) -> str:
        return f"<State at t = {self.time:g} s>"


class Stepper:
    """A simulation that goes on a step at a time.

    `inputs` are external inputs of the model (all of them unless they are named), `outputs` are columns to read
    (all but energies). Values hold over whole macro steps. A stepper is used by one thread at a time.

        with model.stepper(outputs=["cart.x.x"]) as stepper:
            y = stepper.step([0.5], 10)
            here = stepper.save()
            ...
            stepper.restore(here)
    """

    def __init__(
        self,
        model: Model,
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
    ) -> None:
        self._model = model
        self.inputs: list[str] = list(model.external_inputs if inputs is None else inputs)
        if outputs is None:
            external = tuple(model.external_inputs)
            below = tuple(f"{name}." for name in external)
            outputs = [
                name
                for name, _, is_read in model._native.columns()
                if is_read and name not in external and not name.startswith(below or (" ",))
            ]
        self.outputs: list[str] = list(outputs)
        self._native = _native.Stepper(model._native, self.inputs, self.outputs)
        # The native methods, without a layer between.
        self.step = self._native.step
        self.read = self._native.read
        self.advance = self._native.advance

    def set(self, values: Mapping[str, Values] | None = None, **named: Values) -> None:
        """Sets inputs by name; they hold from the next macro step on."""
        for name, value in {**(values or {}), **named}.items():
            if name not in self.inputs:
                known = ", ".join(self.inputs) or "none"
                raise OldhamError(f"there is no input `{name}`; there are {known}")
            self._native.set_one(self.inputs.index(name), value)

    def __getitem__(self, name: str) -> float:
        if name not in self.outputs:
            raise KeyError(f"`{name}` is not among the outputs of this stepper")
        return float(self._native.read()[self.outputs.index(name)])

    @property
    def time(self) -> float:
        """The time reached in s."""
        return self._native.clock()[0]

    @property
    def steps_done(self) -> int:
        """Macro steps since the start."""
        return self._native.clock()[1]

    def save(self) -> State:
        """The complete state."""
        return State(self._native.save())

    def restore(self, state: State) -> None:
        """Goes back, or on, to a saved state of the same model."""
        if not isinstance(state, State):
            raise TypeError(f"a State is restored, not {type(state).__name__}")
        self._native.restore(state._native)

    def branch(self) -> Stepper:
        """Another stepper in the same state, which goes its own way."""
        other = Stepper(self._model, self.inputs, self.outputs)
        other.restore(self.save())
        return other

    def close(self) -> None:
        """Ends it and frees its memory."""
        self._native.close()

    def __enter__(self) -> Stepper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<Stepper of {self._model.name!r} at t = {self.time:g} s>"
        except OldhamError as error:
            return f"<Stepper of {self._model.name!r}: {error}>"
