"""Oldham: co-simulation of multibody systems, and whether the coupling can be trusted.

    >>> import oldham
    >>> model = oldham.Model("fontana.toml")
    >>> results = model.run()
    >>> results.plot("girder.*")

`Model` reads and checks a model; `Model.run` gives `Results`; `Model.stepper` goes on a step at a time;
`subsystem` makes a Python class a part. The guide has a page on all of it.
"""

# The native part first: it refuses interpreters in which it cannot be.
from . import _native
from . import ports
from ._native import __version__
from .errors import ModelError, OldhamError, Problem, RunError, StateError, StudyError
from .findings import Findings, Rows
from .kinds import predictor, subsystem
from .model import Builder, Model
from .results import Results, read
from .stepper import State, Stepper
from .studies import Linear, StabilityCurve, StabilityMap
from .sweeps import Sweep
from .view import View

__all__ = [
    "Builder",
    "Findings",
    "Linear",
    "Model",
    "ModelError",
    "OldhamError",
    "Problem",
    "Results",
    "Rows",
    "RunError",
    "StabilityCurve",
    "StabilityMap",
    "State",
    "StateError",
    "Stepper",
    "StudyError",
    "Sweep",
    "View",
    "__version__",
    "ports",
    "predictor",
    "read",
    "subsystem",
]
