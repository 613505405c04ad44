# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Ranges of sliders for coordinates and commands, where a description does not say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.calls import placement

if TYPE_CHECKING:
    from softrobot_dynamics.bodies.contract import Body
    from softrobot_dynamics.model.model import CompiledModel

# [rad], share of the robot's length, of a joint without limits
_ROTATION_RANGE, _SLIDE_RANGE = np.pi, 0.5
# share of its length by which a body's surface moves, if it turns
_BENDING_RANGE, _STRETCH_RANGE = 0.8, 0.25
_MIN_STRETCH = 0.4  # of what a body's matter is at rest
_MAX_HALVINGS = 40
_MIN_SURFACE_MOTION = 1e-12  # of its length, by a unit of a coordinate
_COMMAND_RANGE = 100.0  # unit of u, where there are no limits


def coordinate_ranges(model: CompiledModel, length: float) -> Matrix:
    """
    Return (low, high) of each coordinate, (n, 2), in which a robot of a length [m] can be drawn.

    Those of joints are their limits, or a half turn, or half the length. Those of bodies are as
    far as their surface moves by a good part of the body's length and each body can take.
    """
    low, high = model.q_lower.copy(), model.q_upper.copy()
    for i, (module, joint, body) in enumerate(model.description.coordinate_slices()):
        for k, name in enumerate(module.joint.coordinates(), start=joint.start):
            far = _ROTATION_RANGE if module.joint.unit(name) == 'rad' else _SLIDE_RANGE * length
            low[k], high[k] = _finite(low[k], -far), _finite(high[k], far)
        if body.stop > body.start:
            reach = _reach(model, i, body.start)
            low[body], high[body] = -reach, reach
    low, high = np.minimum(low, model.q0), np.maximum(high, model.q0)
    return np.column_stack([low, high])


def command_ranges(model: CompiledModel) -> Matrix:
    """Return (low, high) of each command, (m, 2)."""
    low = [_finite(x, -_COMMAND_RANGE) for x in model.lower]
    high = [_finite(x, _COMMAND_RANGE) for x in model.upper]
    return np.column_stack([low, high]).reshape(-1, 2)


def _finite(limit: float, otherwise: float) -> float:
    return float(limit) if np.isfinite(limit) else otherwise


def _reach(model: CompiledModel, index: int, first: int) -> Vector:
    """Return how far each coordinate of a body can go from zero, to both sides."""
    body = model.description.modules[index].body
    names, skin = body.coordinates(), body.skin()
    length = float(np.ptp(skin.points[:, 2])) or body.length
    J = placement(model, 0.0 * model.q0).points(index, skin.points).jacobians
    own = J[:, :, first : first + len(names)]
    turn, way = np.abs(own[:, :3]).max(axis=(0, 1)), np.linalg.norm(own[:, 3:], axis=1).max(axis=0)
    share = np.where(turn * length > 1e-3 * way, _BENDING_RANGE, _STRETCH_RANGE)
    units = model.scales.units[first : first + len(names)]
    far = share * length / np.maximum(way, _MIN_SURFACE_MOTION * length / units)
    return np.array([_possible(body, len(names), j, far[j]) for j in range(len(names))])


def _possible(body: Body, size: int, j: int, far: float) -> float:
    """Return the largest of a range and its halves that a body can take on both sides."""
    q = np.zeros(size)
    q[j] = far
    for _ in range(_MAX_HALVINGS):
        if all(not body.explain(x) and body.stretch(x) > _MIN_STRETCH for x in (q, -q)):
            break
        q *= 0.5
    return float(f'{q[j]:.2g}')
