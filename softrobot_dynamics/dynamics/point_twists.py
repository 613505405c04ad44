# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of the frame at a material point by its body's own coordinates."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.finite_differences import directional_derivatives, FRAME_STEP
from softrobot_dynamics.recursion.material_points import place_points
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.schema.poses import IDENTITY_POSE

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class PointTwists(NamedTuple):
    """Of a body with k coordinates; twists are those at its joint frame S_J, in its axes."""

    frame: Matrix  # (4, 4) at the point, in S_J
    twists: Matrix  # (k, 6) of the coordinates, angular first
    derivatives: Array  # (k, k, 6) their derivatives, the first index being that of q
    second: Matrix  # (k, 6) their second derivatives by time along qd


def point_twists(
    model: CompiledModel, robot: Robot, body: int, point: Vector, q: Vector, qd: Vector
) -> PointTwists:
    """
    Return the :class:`PointTwists` of a body, by index, at a point x (3,) [m], its q and qd (k,).

    Twists are exact; their derivatives are finite differences, good to 1e-12 of the largest entry,
    second derivatives to 1e-10.
    """
    n, count = model.n, len(q)
    cloud = cloud_of(model, robot, body, np.reshape(point, (1, 3)))
    cloud = cloud._replace(pose=IDENTITY_POSE)
    frame, J, rest = np.empty((1, 16)), np.empty((1, 6 * n)), np.zeros(n)
    place, velocity = cached(place_points), np.empty((1, 3))

    def twists(x: Vector) -> Vector:
        """Return the twists (6 k,) of all coordinates at the body's x (k,), angular first."""
        place(cloud._replace(q=x), rest, False, frame, J, velocity)
        angular, linear = J.reshape(2, 3, n)[:, :, cloud.first : cloud.first + count]
        origin = frame.reshape(4, 4)[:3, 3]
        return np.hstack([angular.T, linear.T + np.cross(origin, angular.T)]).ravel()

    here = twists(q).reshape(count, 6)
    angular, linear = np.abs(here).reshape(count, 2, 3).max(axis=2).T
    reach = float(np.linalg.norm(frame.reshape(4, 4)[:3, 3])) or 1.0
    moved = np.maximum(angular, linear / reach)  # by a unit of each coordinate
    unit = FRAME_STEP / np.where(moved > 0.0, moved, 1.0)
    derivatives = [directional_derivatives(twists, q, way)[0] for way in np.diag(unit)]
    speed = np.abs(qd / unit).sum() or 1.0
    second = directional_derivatives(twists, q, qd / speed)[1] * speed**2
    twists(q)  # back: the frame is that at q
    return PointTwists(
        frame=frame.reshape(4, 4),
        twists=here,
        derivatives=np.reshape(derivatives, (count, count, 6)) / unit[:, None, None],
        second=second.reshape(count, 6),
    )
