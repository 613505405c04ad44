# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Unwrap coordinates that describe the same pose after a whole turn.

Encoders and drivers often report an angle within one turn, in (-pi, pi], and rotation vectors of
r and r (1 - 2 pi / |r|) are the same rotation. Computations need
coordinates that are continuous in time, as the motion is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, pi
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

FULL_TURN = 2.0 * pi  # [rad]
_TURN_TOLERANCE = 1e-6  # [rad] by which limits may exceed a turn and still be those of one
_MAX_ROTATION_VECTOR = 1.5 * pi  # [rad] for which another may be taken; singular at 2 pi


class RotationVectors(NamedTuple):
    """The coordinates of a joint that are a rotation vector, and how long it may become."""

    part: slice
    longest: float  # [rad]; beyond, the short one is taken. inf where another is another force


class PeriodicCoordinates(NamedTuple):
    """Coordinates of a robot that describe the same pose after a whole turn."""

    period: Vector  # (n,) 2 pi of an angle that may go round, 0 of all others
    vectors: tuple[RotationVectors, ...] = ()


def periodic_coordinates(description: RobotDescription) -> PeriodicCoordinates:
    """
    Return the :class:`PeriodicCoordinates` of a RobotDescription.

    These are angles of joints that no other joint follows, and whose position limits, if there
    are any, are wider than a turn.
    """
    period, vectors = np.zeros(len(description.coordinate_names)), []
    driven = set(description.actuator_names)
    led = {getattr(module.joint, 'leader', None) for module in description.modules}
    for module, own, _ in description.coordinate_slices():
        joint, names = module.joint, module.joint.coordinates()
        for k, (name, (low, high)) in enumerate(zip(names, joint.position_limits())):
            if module.joint_name in led:
                continue  # a whole turn may be another pose of what follows it
            if name in joint.turning and high - low > FULL_TURN + _TURN_TOLERANCE:
                period[own.start + k] = FULL_TURN
        if joint.rotation_vector:
            start = own.start + names.index(joint.rotation_vector[0])
            free = driven.isdisjoint(f'{module.joint_name}/{c}' for c in joint.wrapped_coordinates)
            longest = _MAX_ROTATION_VECTOR if joint.wrapped_coordinates and free else np.inf
            vectors.append(RotationVectors(slice(start, start + 3), longest))
    return PeriodicCoordinates(period, tuple(vectors))


def whole_turns(gap: Vector, period: Vector) -> Vector:
    """Return the whole turns [rad] in differences of coordinates (n,), 0 where period (n,) is."""
    turns: Vector = period * np.rint(gap / np.where(period > 0.0, period, np.inf))
    return turns


def nearest_vector(r: Vector, rate: Vector, to: Vector) -> tuple[Vector, Vector]:
    """
    Return the vector (3,) of the rotation r (3,) that is nearest to another, and its rate.

    There are r (1 + 2 pi k / |r|). Along r the rate stays; across it, it grows as r does.
    """
    angle = hypot(*r)
    if angle == 0.0:
        return r, rate
    axis = r / angle
    share = 1.0 + FULL_TURN * round(float(axis @ to - angle) / FULL_TURN) / angle
    return share * r, share * rate + (1.0 - share) * float(axis @ rate) * axis


def distance(turns: PeriodicCoordinates, q: Vector, other: Vector) -> Vector:
    """Return q - other (n,), of the coordinates of the other pose that are nearest to q."""
    gap: Vector = q - other
    gap -= whole_turns(gap, turns.period)
    for part, _ in turns.vectors:
        gap[part] = q[part] - nearest_vector(other[part], other[part], q[part])[0]
    return gap


def unwrapped(values: Matrix, period: Sequence[float]) -> Matrix:
    """
    Return values (T, J) in time without jumps of more than half a period (J,), 0 for none.

    NaN stays what it is, and the next number goes on from the last.
    """
    found = np.array(values, dtype=float)
    for column, own in zip(found.T, period):
        known = np.isfinite(column)
        if own > 0.0 and known.any():
            column[known] = np.unwrap(column[known], period=own)
    return found
