# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Units of other systems, with their factors to SI units."""

import math

KINDS = {
    'N': {'N': 1.0, 'mN': 1e-3, 'kN': 1e3},
    'N m': {'N m': 1.0, 'mN m': 1e-3},
    'Pa': {
        'Pa': 1.0, 'kPa': 1e3, 'MPa': 1e6, 'mbar': 1e2, 'bar': 1e5, 'psi': 6894.757293168,
    },
    'm': {'m': 1.0, 'cm': 1e-2, 'mm': 1e-3},
    'rad': {'rad': 1.0, 'deg': math.pi / 180.0},
    'm/s': {'m/s': 1.0, 'mm/s': 1e-3},
    'rad/s': {'rad/s': 1.0, 'deg/s': math.pi / 180.0},
}  # fmt: skip
"""{SI unit: {unit of the same quantity: its size in the SI unit}}."""

UNITS = {'': 1.0, **{unit: size for sizes in KINDS.values() for unit, size in sizes.items()}}
"""The sizes of all units; '' is the SI unit, whichever it is."""


def units_of(unit: str) -> dict[str, float]:
    """Return {unit: size in `unit`} of the units that can stand for an SI unit."""
    return KINDS.get(unit, {unit: 1.0})
