# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Follow what stands in a file: outputs, or points of tips, over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Complaints, Vector
from softrobot_dynamics.errors import ArgumentError, closest, DescriptionError, Problem
from softrobot_dynamics.references.contract import OutputMotion, register, Targets, Trajectory
from softrobot_dynamics.references.periodic_paths import nearest_turn
from softrobot_dynamics.references.piecewise import Indices, spline
from softrobot_dynamics.references.table import read_table, TimeTable
from softrobot_dynamics.references.tips import LAP_SAMPLES, path_targets, tip_path
from softrobot_dynamics.schema.fields import file, flag
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MOST_SAMPLES = 1024  # postures along the path of tips, unless there are more points


@register('file')
@dataclass(frozen=True)
class File(Trajectory):
    """
    A CSV file with a column ``t`` [s], and columns of outputs by the names of the actuators.

    Or of points of tips: ``BODY.x``, ``BODY.y``, ``BODY.z`` [m], base frame. Cubic splines in
    between, at rest at both ends. The file is read when it is planned.
    """

    path: str = parameter(
        file(expected='a CSV file', default=''),
        'CSV file with a column t and one for each controlled actuator or tip',
    )
    periodic: bool = parameter(
        flag(default=False), 'Repeat the file: its last line is its first, at a later time'
    )

    def validate(self) -> Complaints:
        """Yield what is missing."""
        if not self.path:
            yield 'path', self.path, 'the path of a CSV file'

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """
        Return the motion; q (n,) is where the search for postures of tips begins.

        Raises DescriptionError with the lines and columns that are wrong, and what ``tips`` does.
        """
        table = self._read()
        if _is_about_tips(table):
            bodies, points = _tips(table)
            count = max(LAP_SAMPLES, min(8 * len(points), MOST_SAMPLES), len(points))
            start = nearest_turn(model, q)
            path = tip_path(model, bodies, table.times, points, self.periodic, start, count)
            return path.of(controlled)
        columns = _places(table, [model.actuator_names[i] for i in controlled])
        return OutputMotion(spline(table.times, table.values[:, columns], self.periodic))

    def targets(self) -> Targets | None:
        """Return where the tips shall be, if the file is about tips."""
        table = self._read()
        if not _is_about_tips(table):
            return None
        bodies, points = _tips(table)
        return path_targets(bodies, table.times, points, self.periodic)

    def _read(self) -> TimeTable:
        table = read_table('reference.file.path', self.path)
        if self.periodic and not np.array_equal(table.values[0], table.values[-1]):
            words = 'one whose last line is its first but for the time, as it is periodic'
            raise ArgumentError('reference.file.path', self.path, words)
        return table


def _is_about_tips(table: TimeTable) -> bool:
    return any('.' in name for name in table.names)


def _tips(table: TimeTable) -> tuple[list[str], Array]:
    """Return the names of bodies (P), and the points (K, P, 3) [m] of their tips."""
    bodies = list(dict.fromkeys(name.partition('.')[0] for name in table.names))
    names = [f'{body}.{axis}' for body in bodies for axis in 'xyz']
    return bodies, table.values[:, _places(table, names)].reshape(-1, len(bodies), 3)


def _places(table: TimeTable, names: Sequence[str]) -> list[int]:
    """Return where the columns of given names are; DescriptionError for others, and if missing."""
    problems = [
        Problem(table.at(1, name), name, f't or one of {", ".join(names)}{closest(name, names)}')
        for name in table.names
        if name not in names
    ]
    missing = [name for name in names if name not in table.names]
    if missing:
        problems.append(Problem(table.at(1), list(table.names), f'also {", ".join(missing)}'))
    if problems:
        raise DescriptionError(tuple(problems), table.path)
    return [table.names.index(name) for name in names]
