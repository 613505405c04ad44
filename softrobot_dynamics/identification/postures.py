# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Postures that were held and measured: commands, ways in which tendons slid, markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked, one_of
from softrobot_dynamics.dynamics.tendon_friction import checked_ways, SLIDING_SIGNS
from softrobot_dynamics.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


ROWWISE = 'rows'
_SLIDING_CELLS = {**SLIDING_SIGNS, '': 0.0, '1': 1.0, '+1': 1.0, '-1': -1.0, '0': 0.0}


def read_ways(sliding: ArrayLike | str | None, commands: Matrix, least: ArrayLike = 0.0) -> Matrix:
    """
    Return the ways (P, m) in which tendons slid last, each 1 (in), -1 (out) or 0 (not known).

    ``sliding`` are these numbers; one word for all of them, as 'in'; 'rows', by the order of the
    ``commands`` (P, m), see :func:`ways_by_rows`; or None: not known. Raises ArgumentError.
    """
    if sliding is None:
        return np.zeros(commands.shape)
    if isinstance(sliding, str):
        if one_of('sliding', sliding, (*SLIDING_SIGNS, ROWWISE)) == ROWWISE:
            return ways_by_rows(commands, least)
        return np.full(commands.shape, SLIDING_SIGNS[sliding])
    ways: Matrix = checked_ways('sliding', checked('sliding', sliding, commands.shape))
    return ways


def ways_by_rows(commands: Matrix, least: ArrayLike = 0.0) -> Matrix:
    """
    Return the ways (P, m) in which tendons slid last that were commanded so one after the other.

    A command above the one before draws in, one below pays out; one that stays leaves the way as
    it was. Before the first row nothing was commanded. A way turns when a command has come back by
    more than ``least`` (m,), in its unit, from as far as it had gone, so that noise turns nothing.
    """
    way, farthest = np.zeros((2, commands.shape[1]))
    ways: list[Vector] = []
    for u in commands:
        way = np.where(u - farthest > least, 1.0, np.where(farthest - u > least, -1.0, way))
        farthest = np.where(way * (u - farthest) > 0.0, u, farthest)
        ways.append(way)
    return np.array(ways)


def ways_of(cells: Sequence[str], column: str) -> Vector:
    """Return the ways (P,) that cells of a table tell: in, out, none, 1, -1, 0; ArgumentError."""
    for i, cell in enumerate(cells):
        if cell not in _SLIDING_CELLS:
            raise ArgumentError(f'{column}, row {i + 1}', cell, 'in, out or none; 1, -1 or 0')
    return np.array([_SLIDING_CELLS[cell] for cell in cells])


class Marker(NamedTuple):
    """
    A material point of a body that is measured, [m] in its joint frame, and how well.

    A ``deviation`` > 0 says that its place is known to a standard deviation [m] along each axis of
    the material frame there: where it is beside the point is then fitted, too.
    """

    name: str
    body: str
    point: tuple[float, float, float]
    noise: float = 1.0  # [m], of each coordinate; only ratios count if nothing was known before
    deviation: float = 0.0  # [m]


@dataclass(frozen=True)
class Postures:
    """
    P postures under known commands, with K markers; made by :func:`postures`.

    Attributes: ``names`` (P,), the same for those that belong together; ``commands`` (P, m) in
    actuator units; ``markers`` (K,); ``positions`` (P, K, 3) [m], base frame, NaN where a marker
    was not seen; ``sliding`` (P, m), which way tendons slid last: 1, in, -1, out, 0, not known.
    """

    names: tuple[str, ...]
    commands: Matrix
    markers: tuple[Marker, ...]
    positions: Array
    sliding: Matrix

    kind, coordinates = 'postures', ()

    def __len__(self) -> int:
        return len(self.commands)

    def only(self, rows: Sequence[int]) -> Postures:
        """Return some of them."""
        rows = list(rows)
        names = tuple(self.names[row] for row in rows)
        given = self.commands[rows], self.markers, self.positions[rows], self.sliding[rows]
        return Postures(names, *given)

    def named(self, name: str) -> list[int]:
        """Return the rows of a name."""
        return [row for row, each in enumerate(self.names) if each == name]

    @property
    def measured(self) -> Matrix:
        """All that was measured, (P, 3 K)."""
        return self.positions.reshape(len(self), -1)

    @property
    def loose(self) -> Integers:
        """Return which markers (L,) are not exactly where the points are."""
        return np.flatnonzero([marker.deviation > 0.0 for marker in self.markers])

    @property
    def deviations(self) -> Vector:
        """Return the standard deviations (3 L,) [m] to which the places of these are known."""
        return np.repeat([float(self.markers[k].deviation) for k in self.loose], 3)

    @property
    def noises(self) -> Vector:
        """Return the standard deviations of `measured`, (3 K,) [m]."""
        return np.repeat([float(marker.noise) for marker in self.markers], 3)

    @property
    def weights(self) -> Vector:
        """Return the weights of residuals of `measured`, (3 K,)."""
        return weights_of(self.noises)


def weights_of(noises: Vector) -> Vector:
    """Return the weights of residuals of such noise, 1 on the average."""
    weights = 1.0 / noises
    return weights / weights.mean()


def postures(
    description: RobotDescription,
    commands: ArrayLike,
    markers: Sequence[Marker],
    positions: ArrayLike,
    names: Sequence[str] = (),
    sliding: ArrayLike | str | None = None,
) -> Postures:
    """
    Return :class:`Postures` of commands (P, m) and positions (P, K, 3) [m], base frame.

    ``sliding`` is which way tendons slid last, as :func:`read_ways` takes it.

    Raises ArgumentError, and UnknownNameError for a marker on a body that the robot has not.
    """
    u, measured = np.array(commands, dtype=float), np.array(positions, dtype=float)
    m, K = len(description.actuator_names), len(markers)
    if u.ndim != 2 or not len(u) or u.shape[1] != m or not np.isfinite(u).all():
        raise ArgumentError('commands', commands, f'finite numbers (P, {m}), P > 0')
    if not K or measured.shape != (len(u), K, 3) or np.isinf(measured).any():
        expected = f'({len(u)}, {max(K, 1)}, 3) [m], NaN where a marker was not seen'
        raise ArgumentError('positions', f'shape {measured.shape}', expected)
    if not np.isfinite(measured).any():
        raise ArgumentError('positions', 'nothing but NaN', 'at least one marker that was seen')
    for marker in markers:
        check_marker(description, marker)
    names = tuple(names) or tuple(str(row + 1) for row in range(len(u)))
    return Postures(names, u, tuple(markers), measured, read_ways(sliding, u))


def check_marker(description: RobotDescription, marker: Marker) -> None:
    """Raise UnknownNameError or ArgumentError for a marker that cannot be."""
    if marker.body not in description.body_names:
        raise UnknownNameError('body', marker.body, description.body_names)
    if len(marker.point) != 3 or not np.isfinite(marker.point).all():
        raise ArgumentError(f'marker {marker.name}', marker.point, 'a finite point (3,) [m]')
    if not 0.0 < marker.noise < np.inf:
        raise ArgumentError(f'noise of marker {marker.name}', marker.noise, 'a length > 0 [m]')
    if not 0.0 <= marker.deviation < np.inf:
        name = f'deviation of marker {marker.name}'
        raise ArgumentError(name, marker.deviation, 'a length >= 0 [m]')
