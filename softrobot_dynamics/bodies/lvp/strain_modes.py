# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Modes of the strains of a body on a backbone; its frames as power series of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Complaints, Value, Values
from softrobot_dynamics.bodies.lvp.backbone import MAX_SHAPE_DEGREE
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.schema.fields import items, number
from softrobot_dynamics.schema.parsing import custom, mapping_of, parse, Problems

STRAINS = ('kappa_x', 'kappa_y', 'kappa_z', 'gamma_x', 'gamma_y', 'stretch', 'source')


def _polynomials() -> Any:
    return items(items(number('-')), default=())


@dataclass(frozen=True)
class StrainModes:
    """
    For each strain a list of modes, each a polynomial in s/L: [a0, a1, ...], lowest power first.

    Every mode is a coordinate. Bends ``kappa_x``, ``kappa_y`` and twist ``kappa_z`` [1/m], shears
    ``gamma_x``, ``gamma_y`` [-], ``stretch`` (lambda - 1 [-]) and, on hollow bodies, ``source``
    (r'^2 - r^2 [m^2]).
    """

    stretch: tuple[tuple[float, ...], ...] = _polynomials()
    kappa_x: tuple[tuple[float, ...], ...] = _polynomials()
    kappa_y: tuple[tuple[float, ...], ...] = _polynomials()
    kappa_z: tuple[tuple[float, ...], ...] = _polynomials()
    gamma_x: tuple[tuple[float, ...], ...] = _polynomials()
    gamma_y: tuple[tuple[float, ...], ...] = _polynomials()
    source: tuple[tuple[float, ...], ...] = _polynomials()

    def each(self) -> list[tuple[str, tuple[float, ...]]]:
        """Return (strain, polynomial) of all modes, in the order of the coordinates."""
        return [(f.name, p) for f in fields(self) for p in getattr(self, f.name)]

    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: that of the strain, numbered if it has several modes."""
        counts = [(f.name, len(getattr(self, f.name))) for f in fields(self)]
        return tuple(
            f'{name}{i}' if count > 1 else name for name, count in counts for i in range(count)
        )

    def finer(self) -> StrainModes:
        """Return these modes, and for each strain that has some the next higher power of s/L."""
        powers = {name: max(map(len, getattr(self, name))) for name, _ in self.each()}
        more = {
            name: (*getattr(self, name), (*[0.0] * power, 1.0))
            for name, power in powers.items()
            if power <= MAX_SHAPE_DEGREE
        }
        return replace(self, **more)

    def validate(self) -> Complaints:
        """Yield strains with modes that depend on each other or are too high, or none at all."""
        for name in {name for name, _ in self.each()}:
            modes = getattr(self, name)
            length = max(map(len, modes))
            table = np.array([[*p, *[0.0] * (length - len(p))] for p in modes])
            if np.linalg.matrix_rank(table) < len(modes):
                yield name, modes, 'polynomials none of which is a sum of the others, nor zero'
            if length > MAX_SHAPE_DEGREE + 1:
                yield name, modes, f'polynomials of degree {MAX_SHAPE_DEGREE} at most'
        if not self.each():
            yield '', self, 'at least one mode'


SETS = {
    'table_4': lambda L: StrainModes(
        stretch=((0.0, 1.0, -1.0),),
        kappa_x=((1.0 / L,), (0.0, 1.0)),
        kappa_y=((1.0 / L,), (0.0, 1.0)),
        kappa_z=((0.0, 1.0),),
        gamma_x=((0.0, 1.0),),
        gamma_y=((0.0, 1.0),),
    ),
    'table_5': lambda L: StrainModes(stretch=((0.0, 0.0, 1.0),), source=((0.0, 0.0, 1.0),)),
}
"""The modes of [P, Tables 4 and 5], for a length L [m]."""

EXPECTED_MODES = f'{", ".join(SETS)}, or {mapping_of(StrainModes)}'


def strain_modes(*, default: object) -> Any:
    """Return the field of :class:`StrainModes`, or of the name of one of :data:`SETS`."""
    return custom(_read_modes, expected=EXPECTED_MODES, default=default)


def _read_modes(value: object, path: str, problems: Problems) -> Any:
    if isinstance(value, str) and value in SETS:
        return value
    if isinstance(value, dict):
        return parse(StrainModes, value, path, problems)
    problems.append(Problem(path, value, EXPECTED_MODES))


def power_series(
    powers: Sequence[Sequence[tuple[int, Value]]], length: float, terms: int
) -> list[Any]:
    """
    Coefficients, in powers of s / L, of the rotation (9 entries) and origin (3) of a backbone.

    ``powers`` holds, for each power of s / L, pairs (index of a strain, its coefficient), in the
    order kappa_x, kappa_y, kappa_z, gamma_x, gamma_y, gamma_z; ``terms`` is their number.
    """
    rotation, origin = [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]
    scaled = [_sums(strains, length) for strains in powers]
    for k in range(1, terms):
        next_rotation, next_origin = [0.0] * 9, [0.0] * 3
        for R, strains in zip(reversed(rotation), scaled):
            for z, value in strains:
                for row in range(3):
                    _add_strain(next_rotation, next_origin, R[3 * row :], row, z, value)
        rotation.append([entry / k for entry in next_rotation])
        origin.append([entry / k for entry in next_origin])
    return [*zip(*rotation), *zip(*origin)]


def _sums(strains: Sequence[tuple[int, Value]], length: float) -> list[tuple[int, Value]]:
    """Return (index of a strain, sum of its coefficients times a length)."""
    sums: dict[int, Value] = {}
    for z, value in strains:
        sums[z] = sums[z] + value * length if z in sums else value * length
    return list(sums.items())


def _add_strain(
    rotation: list[Value], origin: list[Value], R: Values, row: int, z: int, value: Value
) -> None:
    """Add R hat(kappa) and R gamma, one row of each, for one strain."""
    if z < 3:
        a, b = (z + 1) % 3, (z + 2) % 3
        rotation[3 * row + a] = rotation[3 * row + a] + R[b] * value
        rotation[3 * row + b] = rotation[3 * row + b] - R[a] * value
    elif z < 6:
        origin[row] = origin[row] + R[z - 3] * value
