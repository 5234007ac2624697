"""Models of the tests, as dictionaries."""

from __future__ import annotations

from typing import Any


def oscillator(**settings: Any) -> dict[str, Any]:
    """x'' = -k x with x(0) = 0, x'(0) = 1, exact."""
    return {
        "model": {"name": "Oscillator"},
        "parameters": {"k": 100.0},
        "simulation": {"duration": 1.0, "step": 0.01, **settings},
        "lumped": {
            "one": {
                "integrator": "exact",
                "masses": {"x": {"mass": 1.0, "velocity": 1.0}},
                "springs": {"wall": {"between": ["ground", "x"], "stiffness": "k"}},
                "outputs": {"x": {"motion": "x"}},
            }
        },
    }


def pushed(kind: str = "push", keys: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    """A mass on a spring, pushed by a part of another kind that receives its motion."""
    return {
        "model": {"name": "Pushed"},
        "simulation": {"duration": 1.0, "step": 0.01, **settings},
        "lumped": {
            "one": {
                "integrator": "exact",
                "masses": {"x": {"mass": 1.0, "position": 1.0}},
                "springs": {"wall": {"between": ["ground", "x"], "stiffness": 25.0}},
                "inputs": {"push": {"force": "x"}},
                "outputs": {"x": {"motion": "x"}},
            }
        },
        kind: {"it": keys or {}},
        "connection": [
            {"from": "one.x", "to": "it.x"},
            {"from": "it.force", "to": "one.push"},
        ],
    }


def external(**settings: Any) -> dict[str, Any]:
    """A free mass that is pushed from outside."""
    return {
        "model": {"name": "Cart"},
        "simulation": {"duration": 1.0, "step": 0.01, **settings},
        "lumped": {
            "cart": {
                "integrator": "exact",
                "masses": {"x": {"mass": 2.0}},
                "inputs": {"push": {"force": "x"}},
                "outputs": {"x": {"motion": "x"}},
            }
        },
        "excitation": {"cart.push": {"external": "push", "initial": 0.0}},
    }
