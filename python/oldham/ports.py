"""What ports of Python parts carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Union


@dataclass(frozen=True)
class Port:
    """A quantity with its unit; ports that are connected must carry the same."""

    quantity: str
    unit: str = ""
    width: int = 1


def scalar(unit: str) -> Port:
    """One number in an SI unit, such as `"N"`; a text alone means the same."""
    return Port("scalar", unit)


def array(unit: str, count: int) -> Port:
    """Several numbers of one unit."""
    return Port("array", unit, count)


translation = Port("translation", width=3)
"""Motion along a line: displacement, velocity, acceleration."""
rotation = Port("rotation", width=3)
"""Motion about an axis: angle, rate, acceleration."""
motion = Port("motion", width=19)
"""Motion of a node in space: position, quaternion, velocity, angular velocity and their rates."""
wrench = Port("wrench", width=6)
"""Force and moment at a node, in absolute axes."""
whole = Port("whole")
"""A whole number, held between samples."""
flag = Port("flag")
"""True or false, held between samples."""

Ports = Mapping[str, Union[Port, str]]
"""Ports by name: what they carry, or the unit of a single number."""
