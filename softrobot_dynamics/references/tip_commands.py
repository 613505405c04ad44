# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orders for a law that leads a tip itself: a point, a pose, a twist, or a path."""

from __future__ import annotations

import math
from typing import NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import GROUP, Targets
from softrobot_dynamics.references.piecewise import hermite, Reference, spline
from softrobot_dynamics.references.rotations import between

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.contract import Trajectory

PATH_SAMPLES = 512  # or of one turn
QUINTIC_PEAK_RATE = 1.875  # of a quintic from rest to rest, as a multiple of its mean rate
BLEND_TIME = 0.1  # [s] from one twist to the next, and to rest
LEVER_RATIO = 1.0 / 6.0  # of the robot's length: the arm by which an angle counts as a length
MAX_LEAD = 0.2  # [rad] by which twists lead a tip that cannot follow; times the lever, as a length


class TipTarget(NamedTuple):
    """A tip comes to rest at a point or a pose, base frame."""

    body: str
    point: Vector  # (3,) [m]
    rotation: Matrix | None  # (3, 3) of the tip's axes; None: whatever comes
    time: float  # [s] on the way, at least
    speed: float  # [m/s] at most


class TipTwist(NamedTuple):
    """A tip moves on by a twist, and comes to rest if none follows in time."""

    body: str
    linear: Vector  # (3,) [m/s], base frame
    angular: Vector  # (3,) [rad/s], base frame
    patience: float  # [s] after which the twist counts as zero


class TipPathReference(NamedTuple):
    """A reference of outputs, and the path of the tip that it leads."""

    outputs: Reference
    body: str
    path: Reference  # of three coordinates [m], base frame


TipOrder: TypeAlias = TipTarget | TipTwist
"""Orders that come by messages."""


def within_lead(place: Vector, tip: Vector, lever: float) -> Vector:
    """Return a place (3,) [m], or that towards it which leads a ``tip`` (3,) as far as it may."""
    displacement, longest = place - tip, MAX_LEAD * lever
    distance = math.hypot(*displacement)
    return tip + longest / distance * displacement if distance > longest else place


def tip_course(order: TipOrder, now: Matrix, rotation: Matrix, lever: float) -> Reference:
    """
    Return the course (6 columns) of a tip that obeys an order: position [m], turn [rad].

    ``now`` (3, 6) has its value, rate and acceleration at time 0, base frame, the turn being
    counted from a ``rotation`` (3, 3). A turn takes as long as a way of ``lever`` [m] a radian.
    All courses have three pieces, and end at rest.
    """
    return (
        _by_twist(order, now) if isinstance(order, TipTwist) else _to(order, now, rotation, lever)
    )


def _to(order: TipTarget, now: Matrix, rotation: Matrix, lever: float) -> Reference:
    """Return how a target is reached: one piece, and rest."""
    turn = np.zeros(3) if order.rotation is None else between(rotation, order.rotation)
    end = np.concatenate([order.point, turn])
    distance = math.hypot(*(end[:3] - now[0, :3]), *(lever * turn))
    duration = max(order.time, QUINTIC_PEAK_RATE * distance / order.speed)
    rest = np.zeros(6)
    times = duration * np.arange(4.0)
    return hermite(
        times,
        np.array([now[0], end, end, end]),
        np.array([now[1], rest, rest, rest]),
        np.array([now[2], rest, rest, rest]),
    )


def _by_twist(order: TipTwist, now: Matrix) -> Reference:
    """Return the course of a twist: turned to, held, and braked to rest if none follows."""
    v = np.concatenate([order.linear, order.angular])
    blend = min(BLEND_TIME, 0.5 * order.patience)
    first = now[0] + 0.5 * blend * (now[1] + v)
    last = first + (order.patience - blend) * v
    rest = np.zeros(6)
    return hermite(
        [0.0, blend, order.patience, order.patience + blend],
        np.array([now[0], first, last, last + 0.5 * blend * v]),
        np.array([now[1], v, v, rest]),
        np.array([now[2], rest, rest, rest]),
    )


def with_tip_path(
    model: CompiledModel, reference: Reference | None, trajectory: Trajectory, body: str
) -> Reference | TipPathReference | None:
    """Return the reference of outputs, with the path of the tip of a ``body`` that it leads."""
    targets = trajectory.targets() if body and reference is not None else None
    if targets is None or reference is None:
        return reference
    own = body_index(model, body)
    led = [i for i, name in enumerate(targets.bodies) if body_index(model, name) == own]
    if not led:
        return reference
    return TipPathReference(reference, body, _path(targets, led[0], reference.period > 0.0))


def tip_path_reference(
    model: CompiledModel, body: str, trajectory: Trajectory
) -> Reference | None:
    """
    Return the reference (3 columns) of the place [m] of a body's tip in the base frame.

    It is that of a :class:`~.contract.Trajectory` for tips, as a circle; None stands for the tip
    where it is, the reference `hold`. Whether the robot can get there is not looked at.
    ArgumentError for one of outputs, or of other tips.
    """
    targets = trajectory.targets()
    if targets is None:
        if trajectory.type_name == 'hold':
            return None
        words = 'hold, or one of tips, such as circle or path: the law leads a tip'
        raise ArgumentError(f'{GROUP}.type', trajectory.type_name, words)
    if [body_index(model, each) for each in targets.bodies] != [body_index(model, body)]:
        words = f'the tip that the law leads, {body}'
        raise ArgumentError(f'{GROUP}.{trajectory.type_name}.body', list(targets.bodies), words)
    ahead = targets.duration * np.array([0.3, 0.7])
    again = targets.points(ahead + targets.duration)
    return _path(targets, 0, bool(np.allclose(again, targets.points(ahead), atol=1e-9)))


def _path(targets: Targets, which: int, periodic: bool) -> Reference:
    """Return the path (3 columns) of one of the tips of :class:`.Targets`."""
    times = np.linspace(0.0, targets.duration, PATH_SAMPLES + 1)
    points = targets.points(times)[:, which].copy()
    if periodic:
        points[-1] = points[0]
    return spline(times, points, periodic=periodic)
