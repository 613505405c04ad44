# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Convert SI units, and those of actuators, to the units that a demo shows."""

from collections.abc import Sequence
from typing import TypeVar

Q = TypeVar('Q')

_DISPLAY_UNITS = {'m': (1e3, 'mm'), 'm^3': (1e6, 'cm³'), 'Pa': (1e-3, 'kPa'), '': (1.0, '-')}


def shown(unit: str) -> tuple[float, str]:
    """Return (factor, unit) in which values of a unit are shown."""
    return _DISPLAY_UNITS.get(unit, (1.0, unit))


def in_words(value: float, unit: str, digits: int = 3) -> str:
    """Return a value of a unit in words, some digits of it."""
    factor, unit = shown(unit)
    return f'{float(f"{factor * value:.{digits}g}"):.6g} {unit}'


def by_quantity(quantities: Sequence[Q], chosen: Sequence[int]) -> list[tuple[Q, list[int]]]:
    """Return [(Quantity, indices)] of the chosen indices, those of one quantity together."""
    groups: dict[Q, list[int]] = {}
    for i in chosen:
        groups.setdefault(quantities[i], []).append(i)
    return list(groups.items())
