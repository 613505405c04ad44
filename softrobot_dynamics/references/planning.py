# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan references: hold, set-point, circles and paths of tips, as settings describe them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import (
    constant,
    cubic_spline,
    Reference,
    select,
    spline,
)
from softrobot_dynamics.references.laps import hold_lap, nearest_turn
from softrobot_dynamics.references.postures import actuation_coordinates, hold_points, Postures

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

CIRCLE_SAMPLES = 128
TYPES = ('hold', 'setpoint', 'circle', 'path')


class Circle(NamedTuple):
    """
    A tip's path: ``radius`` [m] about ``center`` [m] across ``normal``, once in ``period`` [s].

    All in the base frame. It starts in the direction of the base's x axis as seen from the
    center (y, where the normal is along x) and turns right-handed about the normal.
    """

    body: str
    center: tuple[float, ...]
    normal: tuple[float, ...]
    radius: float
    period: float

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


def tip_circle(
    model: CompiledModel,
    circle: Circle,
    q0: ArrayLike | None = None,
    samples: int = CIRCLE_SAMPLES,
) -> tuple[Reference, Postures]:
    """
    Return (reference of all m coordinates, postures) that move a body's tip on a :class:`Circle`.

    It closes in q, too; whole turns of a joint that may go on turning are the reference's drift.

    Raises ArgumentError, InfeasibleReferenceError, ReferenceJumpError, NotConvergedError (see
    ``postures``, ``laps``).
    """
    circle.check(model)
    phases = np.linspace(0.0, 2.0 * np.pi, samples + 1)
    times = circle.period * phases / (2.0 * np.pi)
    points = circle.points(phases)[:, None]
    points[-1] = points[0]
    reference, postures = _lap(model, [circle.body], times, points, q0)
    return reference, Postures(*(each[:-1] for each in postures))


def tip_path(
    model: CompiledModel,
    bodies: Sequence[str],
    times: Sequence[float] | Vector,
    points: ArrayLike,
    periodic: bool = False,
    q0: ArrayLike | None = None,
) -> tuple[Reference, Postures]:
    """
    Return (reference of all m coordinates, postures) that move tips through given points.

    ``bodies`` (P names), ``times`` (K,) [s] increasing from 0, ``points`` (K, P, 3) [m], base
    frame; splines in between. The last point of a periodic path must be the first. Raises as
    :func:`tip_circle`.
    """
    times = checked('times', times, (len(times),))
    if len(times) < 3 or times[0] != 0.0 or not (np.diff(times) > 0.0).all():
        raise ArgumentError('times', times, 'three or more times from 0 on, increasing [s]')
    points = checked('points', points, (len(times), len(bodies), 3))
    if periodic and not np.array_equal(points[0], points[-1]):
        raise ArgumentError('points', points[-1], 'the first point again, as the path is periodic')
    between = cubic_spline(times, points, periodic)
    fine = np.linspace(0.0, times[-1], max(CIRCLE_SAMPLES, 8 * len(times)) + 1)
    if periodic:
        return _lap(model, bodies, fine, np.concatenate([between(fine[:-1]), points[:1]]), q0)
    postures = hold_points(model, bodies=bodies, times=fine, points=between(fine), q0=q0)
    return spline(fine, postures.y), postures


def _lap(
    model: CompiledModel, bodies: Sequence[str], times: Vector, points: Array, q0: ArrayLike | None
) -> tuple[Reference, Postures]:
    """Return (periodic reference, postures) of a closed path."""
    postures, drift = hold_lap(model, bodies=bodies, times=times, points=points, q0=q0)
    y = postures.y.copy()
    y[-1] = y[0] + drift
    return spline(times, y, periodic=True), postures


def from_settings(
    model: CompiledModel,
    controlled: Any,
    settings: Mapping[str, Any],
    q: Vector,
    examine: Callable[[Vector, Postures], object] | None = None,
) -> Reference:
    """
    Return the reference of the ``controlled`` actuators (indices) that settings describe.

    ``settings`` maps the names of the ``reference.*`` parameters: ``type`` (one of
    :data:`TYPES`), ``setpoint`` (one y per controlled actuator), ``circle.body``, ``.center``,
    ``.normal``, ``.radius``, ``.period``; ``path.bodies``, ``.times``, ``.points`` (row by row in
    one list), ``.periodic``. ``q`` (n,) is the present state, which 'hold' keeps.
    Circles and paths begin at the description's initial posture, joints that may go on turning
    at the whole turn nearest to the present one. ``examine`` is called with the times (K,) and
    Postures of one, and may raise. Raises ArgumentError, InfeasibleReferenceError,
    ReferenceJumpError, NotConvergedError.
    """
    kind = settings['type']
    if kind == 'hold':
        return constant(actuation_coordinates(model, q)[controlled])
    if kind == 'setpoint':
        return constant(checked('reference.setpoint', settings['setpoint'], (len(controlled),)))
    if kind == 'circle':
        circle = Circle(*(settings[f'circle.{name}'] for name in Circle._fields))
        path = tip_circle(model, circle, nearest_turn(model, q))
        return _examined(path, controlled, examine)
    if kind == 'path':
        bodies, times = settings['path.bodies'], settings['path.times']
        points = checked(
            'reference.path.points', settings['path.points'], (3 * len(times) * len(bodies),)
        ).reshape(len(times), len(bodies), 3)
        start = nearest_turn(model, q)
        path = tip_path(model, bodies, times, points, settings['path.periodic'], start)
        return _examined(path, controlled, examine)
    raise ArgumentError('reference.type', kind, 'one of ' + ', '.join(TYPES))


def _examined(
    found: tuple[Reference, Postures],
    controlled: Any,
    examine: Callable[[Vector, Postures], object] | None,
) -> Reference:
    """Return the reference of some of the coordinates, with its postures examined."""
    reference, postures = found
    if examine is not None:
        examine(reference.breaks[: len(postures.q)], postures)
    return select(reference, controlled)
