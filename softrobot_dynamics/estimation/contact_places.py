# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Places at which something may touch a robot: along its bodies, and near known shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.calls import jacobian, placement
from softrobot_dynamics.dynamics.contacts import near_points, NearPoint
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.bounds import is_number

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MaterialPoint = tuple[str, ArrayLike | None]  # a body and a material point (3,) [m], None: its tip

EQUAL_SCORE_RATIO = 0.01  # of what is explained; explanations that differ by less are equally good
_BODY_FRACTIONS = 0.25, 0.5, 0.75  # of the way from a body's joint to its tip
_MIN_DISTANCE = 1e-6  # of the robot's length
_MAX_GAP = 0.02  # of the robot's length; within it the measured posture may touch


def places_near(
    model: CompiledModel, q: Vector, t: float, within: float | None = None
) -> list[NearPoint]:
    """
    Return the points of bodies whose gap to a known shape is at most ``within`` [m] at q (n,).

    By default 2 % of the robot's length; ``t`` [s] is the time of the motions of obstacles. Raises
    ArgumentError.
    """
    if within is None:
        within = _MAX_GAP * model.scales.length
    elif not (is_number(within) and within >= 0.0):
        raise ArgumentError('within', within, 'a length >= 0 [m]')
    return near_points(model, q, float(within), t)


def nearest_alike(scores: Sequence[float], near: Sequence[NearPoint], margin: float) -> int:
    """Return which of near points has the smallest gap, of those within a margin of the best."""
    least = max(scores) - margin
    return min((i for i, x in enumerate(scores) if x >= least), key=lambda i: near[i].gap)


def places_along(model: CompiledModel) -> list[MaterialPoint]:
    """
    Return the tips of all bodies, and points at a quarter, a half and three quarters of them.

    That is from its joint straight to the tip at rest or, where the tip is at the joint as that of
    a rigid body may be, to the joints of the next bodies; where the body has matter with a frame.
    """
    places: list[MaterialPoint] = []
    for body, ends in _ends(model).items():
        for end in ends:
            for share in _BODY_FRACTIONS:
                point = tuple(float(x) for x in share * end)
                try:
                    jacobian(model, q=model.q0, body=body, point=point)
                except ArgumentError:
                    continue  # no matter there, or none that has a frame
                places.append((body, point))
        places.append((body, None))
    return places


def _ends(model: CompiledModel) -> dict[str, list[Vector]]:
    """Return where bodies lead to, from their joints and in the frames of these [m]."""
    placed, found = placement(model, model.q0), {}
    parents = [module.parent for module in model.description.modules]
    joints = [placed.joint(i) for i in range(len(parents))]
    for i, (body, (R, origin)) in enumerate(zip(model.body_names, joints)):
        next_ones = [joints[k][1] for k, parent in enumerate(parents) if parent == i]
        ends = [R.T @ (end - origin) for end in (placed.pose(i)[:3, 3], *next_ones)]
        least = _MIN_DISTANCE * model.scales.length
        far = [end for end in ends if np.linalg.norm(end) > least]
        found[body] = far[:1] if np.linalg.norm(ends[0]) > least else far
    return found
