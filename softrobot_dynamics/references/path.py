# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lead tips through points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.references.contract import OutputMotion, register, Targets, Trajectory
from softrobot_dynamics.references.periodic_paths import nearest_turn
from softrobot_dynamics.references.tips import path_targets, tip_path
from softrobot_dynamics.schema.fields import flag, items, text, vector
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.piecewise import Indices


@register('path')
@dataclass(frozen=True)
class Path(Trajectory):
    """Tips of P bodies pass K points each, at given times, along splines."""

    bodies: tuple[str, ...] = parameter(
        items(text(), default=()), 'Bodies whose tips follow paths'
    )
    times: tuple[float, ...] = parameter(vector('s', default=()), 'Times of the points, from 0 on')
    points: tuple[float, ...] = parameter(
        vector('m', default=()),
        'x, y, z of every body at the first time, then at the second, ..., base frame',
    )
    periodic: bool = parameter(flag(default=False), 'Repeat the path: its last point is its first')

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """Begin at the initial posture, at the whole turn of joints that is nearest to q."""
        rows, start = self._rows(), nearest_turn(model, q)
        path = tip_path(model, self.bodies, self.times, rows, self.periodic, start)
        return path.of(controlled)

    def targets(self) -> Targets:
        """Return where the tips shall be."""
        return path_targets(self.bodies, self.times, self._rows(), self.periodic)

    def _rows(self) -> Array:
        """Return the points (K, P, 3) [m]; ArgumentError if there are more or fewer."""
        shape = len(self.times), len(self.bodies), 3
        flat = checked('reference.path.points', self.points, (int(np.prod(shape)),))
        return flat.reshape(shape)
