# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lead a tip along a circle."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, cast, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import OutputMotion, register, Targets, Trajectory
from softrobot_dynamics.references.inverse_statics import PathPostures
from softrobot_dynamics.references.periodic_paths import nearest_turn
from softrobot_dynamics.references.piecewise import Indices
from softrobot_dynamics.references.tips import lap, LAP_SAMPLES
from softrobot_dynamics.schema.fields import number, text, vector
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


@register('circle')
@dataclass(frozen=True)
class Circle(Trajectory):
    """
    A tip's path: ``radius`` [m] about ``center`` [m] across ``normal``, once in ``period`` [s].

    All in the base frame. It starts in the direction of the base's x axis as seen from the
    center (y, where the normal is along x) and turns right-handed about the normal.
    """

    body: str = parameter(text(default='tip'), 'Body whose tip follows the circle')
    center: tuple[float, ...] = parameter(
        vector('m', 3, default=(0.0, 0.0, 0.57)), 'Centre, base frame'
    )
    normal: tuple[float, ...] = parameter(
        vector('', 3, default=(0.0, 0.0, 1.0)), 'Normal of its plane, base frame'
    )
    radius: float = parameter(number('m', at_least=0.0, at_most=100.0, default=0.1), 'Radius')
    period: float = parameter(
        number('s', at_least=0.01, at_most=1e6, default=4.0), 'Time of one turn'
    )

    def points(self, phases: Vector) -> Matrix:
        """Points (K, 3) [m] at phases (K,) [rad]."""
        normal = np.array(self.normal, dtype=float)
        normal = normal / np.linalg.norm(normal)
        across = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.99 else np.array([0.0, 1.0, 0.0])
        first = across - (across @ normal) * normal
        first /= np.linalg.norm(first)
        second = np.cross(normal, first)
        return np.array(self.center, dtype=float) + self.radius * (
            np.outer(np.cos(phases), first) + np.outer(np.sin(phases), second)
        )

    def check(self, model: CompiledModel) -> None:
        """Raise ArgumentError for a value that gives no circle."""
        body_index(model, self.body)
        checked('center', self.center, (3,))
        if not np.linalg.norm(checked('normal', self.normal, (3,))) > 0.0:
            raise ArgumentError('normal', self.normal, 'a vector that is not zero')
        for name in ('radius', 'period'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ArgumentError(name, value, 'a number > 0')

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion:
        """Begin at the initial posture, at the whole turn of joints that is nearest to q."""
        return tip_circle(model, self, nearest_turn(model, q)).of(controlled)

    def targets(self) -> Targets:
        """Return where the tip shall be."""

        def points(times: ArrayLike) -> Any:
            return self.points(2.0 * np.pi * np.asarray(times) / self.period)[:, None]

        return Targets((self.body,), points, self.period)


def tip_circle(
    model: CompiledModel, circle: Circle, q0: ArrayLike | None = None, samples: int = LAP_SAMPLES
) -> OutputMotion:
    """
    Return the motion of all m outputs, with postures, of a body's tip on a :class:`Circle`.

    It closes in q, too; whole turns of a joint that may go on turning are the reference's drift.

    Raises ArgumentError, InfeasibleReferenceError, ReferenceJumpError, NotConvergedError (see
    ``postures``, ``periodic_paths``).
    """
    circle.check(model)
    phases = np.linspace(0.0, 2.0 * np.pi, samples + 1)
    times = circle.period * phases / (2.0 * np.pi)
    points = circle.points(phases)[:, None]
    points[-1] = points[0]
    found = lap(model, [circle.body], times, points, q0)
    postures = cast(PathPostures, found.postures)
    return found._replace(postures=PathPostures(*(each[:-1] for each in postures)))
