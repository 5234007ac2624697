"""Exceptions of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence

if TYPE_CHECKING:
    from .results import Results


class OldhamError(Exception):
    """Anything that Oldham refuses or that fails."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a model."""

    place: str
    """Where: `file:line:column`, or the path of the key in a dictionary."""
    message: str
    """What is wrong, as a sentence."""
    label: str = ""
    """What to say at the place itself."""
    help: str | None = None
    """What to do about it."""

    def __str__(self) -> str:
        told = f"{self.place}: {self.message}"
        return f"{told}\n  help: {self.help}" if self.help else told


class ModelError(OldhamError):
    """A model that cannot be used: everything that is wrong with it, at once.

    Its text is what the command `oldham check` says; `problems` has the same in pieces.
    """

    problems: tuple[Problem, ...]
    unlisted: int

    def __init__(
        self,
        problems: Sequence[Mapping[str, Any]],
        unlisted: int = 0,
        places: tuple[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(problems, unlisted, places)
        self.problems = tuple(_problem(told, places) for told in problems)
        self.unlisted = unlisted

    def __str__(self) -> str:
        told = "\n".join(str(problem) for problem in self.problems)
        return f"{told}\nand {self.unlisted} more" if self.unlisted else told


def _problem(told: Mapping[str, Any], places: tuple[str, Sequence[str]] | None) -> Problem:
    place = f"{told['file']}:{told['line']}:{told['column']}"
    if places is not None and told["file"] == places[0]:
        lines = places[1]
        place = lines[min(told["line"], len(lines)) - 1] if lines else place
        place = place or "the model"
    return Problem(place, told["message"], told["label"], told["help"])


class RunError(OldhamError):
    """A run that stopped. An exception of a Python part is its `__cause__`, with its traceback."""

    time: float | None
    """When it stopped, in s."""
    subsystem: str | None
    """The part that failed."""
    results: Results | None
    """What was recorded until then."""

    def __init__(
        self, message: str, time: float | None = None, subsystem: str | None = None
    ) -> None:
        super().__init__(message, time, subsystem)
        self.time = time
        self.subsystem = subsystem
        self.results = None

    def __str__(self) -> str:
        return str(self.args[0])


class StateError(OldhamError):
    """A saved state that cannot be made or used: of another model, machine or program, or damaged."""


class StudyError(OldhamError):
    """A study that gives nothing, and why."""
