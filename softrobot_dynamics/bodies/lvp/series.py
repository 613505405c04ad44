# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Frames along a backbone as power series in s, in any arithmetic: short to write, exact, slow."""

from collections.abc import Sequence
from typing import Any

from softrobot_dynamics.annotations import Value, Values


def power_series(
    powers: Sequence[Sequence[tuple[int, Value]]], length: float, terms: int
) -> list[Any]:
    """
    Coefficients, in powers of s / L, of the rotation (9 entries) and origin (3) of a backbone.

    ``powers`` holds, for each power of s / L, pairs (index of a strain, its coefficient), in the
    order kappa_x, kappa_y, kappa_z, gamma_x, gamma_y, gamma_z; ``terms`` is their number.
    """
    rotation, origin = [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]
    for k in range(1, terms):
        next_rotation, next_origin = [0.0] * 9, [0.0] * 3
        for R, strains in zip(reversed(rotation), powers):
            for z, value in strains:
                value = value * length / k
                for row in range(3):
                    _add_strain(next_rotation, next_origin, R[3 * row :], row, z, value)
        rotation.append(next_rotation)
        origin.append(next_origin)
    return [*zip(*rotation), *zip(*origin)]


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
