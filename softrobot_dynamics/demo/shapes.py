# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The surfaces of a robot's bodies in a posture, by their own formulas."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.dynamics.calls import forward_kinematics, placement

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SIDES = 36  # of a tube
RINGS = 16  # of a soft body
_RIGID_RADIUS = 0.026  # of a rigid link, as a share of the robot's length


def surfaces(model: CompiledModel, q: Vector) -> list[Array]:
    """
    Return closed surfaces of all bodies at q (n,), base frame: arrays (rings, SIDES + 1, 3) [m].

    A body with sections is a tube of its own radius, by its formula `position`; a rigid one is a
    tube from the tip before it to its joint and on to its own tip, with a round end. The points
    of a ring run right-handed about the direction from ring to ring.
    """
    placed, modules = placement(model, q), model.description.modules
    tips = np.array([placed.pose(i) for i in range(len(modules))])
    radius, result = _RIGID_RADIUS * reach(tips), []
    for i, module in enumerate(modules):
        if module.body.section_path:
            points = _tube(module.body)
            surface = placed.points(i, points.reshape(-1, 3)).positions
            result.append(surface.reshape(points.shape))
        else:
            before = np.zeros(3) if module.parent < 0 else tips[module.parent][:3, 3]
            result += _pipes([before, placed.joint(i)[1], tips[i, :3, 3]], radius)
    return result


def reach_of(model: CompiledModel) -> float:
    """Return the length of the robot [m], in its initial posture."""
    return reach(forward_kinematics(model, q=model.q0))


def reach(tips: Array) -> float:
    """Return the length of the robot [m], along its tips (N, 4, 4) in their order."""
    points = np.vstack([np.zeros(3), tips[:, :3, 3]])
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _tube(body: Any) -> Any:
    """Return material points of the outer surface of a body with sections, and its end discs."""
    s = np.linspace(0.0, body.length, RINGS)
    radii = np.atleast_1d(body.radius)
    radius = radii[0] + (radii[-1] - radii[0]) * s / body.length
    hole = [getattr(body, 'inner_radius', 0.0)]  # there is no material in it
    s, radius = (np.concatenate(row)[:, None] for row in
                 (([0.0], s, [body.length]), (hole, radius, hole)))  # fmt: skip
    x1, x2 = (radius * c for c in _circle())
    return np.stack(np.broadcast_arrays(x1, x2, s), axis=-1)


def _pipes(points: Any, radius: float) -> list[Array]:
    """Return a pipe with a round end for each piece of the line through points (3,) [m]."""
    pieces = [(start, end - start) for start, end in zip(points, points[1:])]
    return [
        _pipe(start, way / np.linalg.norm(way), np.linalg.norm(way), radius)
        for start, way in pieces
        if np.linalg.norm(way) > 1e-6
    ]


def _pipe(start: Vector, direction: Vector, length: Any, radius: Any) -> Array:
    angles = np.linspace(0.0, np.pi / 2, 8)
    along = np.concatenate([[0.0, 0.0], length + radius * np.sin(angles)])
    across = radius * np.concatenate([[0.0, 1.0], np.cos(angles)])
    helper = np.eye(3)[np.argmin(np.abs(direction))]
    first = np.cross(direction, helper)
    first /= np.linalg.norm(first)
    c, s = _circle()
    ring = np.outer(c, first) + np.outer(s, np.cross(direction, first))
    return start + along[:, None, None] * direction + across[:, None, None] * ring


def _circle() -> tuple[Vector, Vector]:
    angles = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    return np.cos(angles), np.sin(angles)
