# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames fixed to the material of bodies, straight from their formulas.

Derivatives by the material point are jets, those by q complex steps: exact to rounding.
"""

import numpy as np
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.differences import derivative

from oracles.jets import Jet, jet, JETS
from oracles.trees import compose, IDENTITY, joint_frame

STEP = 1e-40  # of the complex steps


def frames_and_derivatives(robot, points, q):
    """
    Return [(pose (4, 4), Jacobian (6, n))] of frames in the base frame, in its axes.

    ``points`` is a list of (body index, material point (3,) or None for the tip). The axes at a
    point are those of Gram and Schmidt from dp/dx1, then dp/dx2.
    """
    rows = np.vstack([q, q + 1j * STEP * np.eye(len(q))])
    return [_with_derivatives(R, p) for R, p in _frames(robot, points, rows)]


def values_and_derivatives(body, x, q):
    """
    Position p of a material point x, dp/dx1, dp/dx2; then derivatives by each q_j: (n + 1, 9).

    Where a body's position is known at points given as numbers only, those by x are differences.
    """
    q = np.asarray(q, dtype=float)
    moved = [_values(body, x, q + 1j * STEP * unit).imag / STEP for unit in np.eye(len(q))]
    return np.array([_values(body, x, q.astype(complex)).real, *moved])


def _values(body, x, q):
    if body.tabulated:

        def place(y):
            return np.array(body.position(list(y), q, NUMERIC))

        step = 1e-4 * body.length
        ways = [derivative(lambda t, e=e: place(x + t * e), step) for e in np.eye(3)[:2]]
        return np.concatenate([place(x), *ways])
    first, second = (
        [jet(c) for c in body.position([Jet(a, b) for a, b in zip(x, e)], q, JETS)]
        for e in np.eye(3)[:2]
    )
    rows = [c.value for c in first], [c.first for c in first], [c.first for c in second]
    return np.array([complex(v) for row in rows for v in row])


def _with_derivatives(R, p):
    """Pose (4, 4) by the first of n + 1 rows, Jacobian (6, n) by the others."""
    pose, spins = np.eye(4), R[1:].imag / STEP @ R[0].real.T
    pose[:3, :3], pose[:3, 3] = R[0].real, p[0].real
    turns = np.array([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0]])
    return pose, np.vstack([turns, p[1:].imag.T / STEP])


def _frames(robot, points, q):
    """Rotation (m, 3, 3) and origin (m, 3) of each, at the rows of q (m, n)."""
    tips, joints, own, first = [], [], [], 0
    for module in robot.modules:
        outer = tips[module.parent] if module.parent >= 0 else IDENTITY
        inner, first = _take(q.T, first, module.joint)
        joints.append(compose(outer, joint_frame(module.joint, inner, JETS)))
        inner, first = _take(q.T, first, module.body)
        own.append(inner)
        tips.append(compose(joints[-1], module.body.tip_frame(inner, JETS)))
    frames = [
        tips[i] if x is None else compose(joints[i], _local(robot, i, x, own[i], len(q)))
        for i, x in points
    ]
    return [(_rows(R, len(q)).reshape(-1, 3, 3), _rows(p, len(q))) for R, p in frames]


def _local(robot, index, x, q, count):
    """Material frame at x in the joint frame, at as many postures."""

    def along(direction):
        at = [Jet(a, b) for a, b in zip(x, direction)]
        return [jet(c) for c in robot.modules[index].body.position(at, q, JETS)]

    first, second = (_rows([c.first for c in along(e)], count) for e in np.eye(3)[:2])
    n1 = first / np.sqrt(_dot(first, first))
    n2 = second - _dot(n1, second) * n1
    n2 = n2 / np.sqrt(_dot(n2, n2))
    axes = np.stack([n1, n2, np.cross(n1, n2)], axis=-1).reshape(count, 9)
    return list(axes.T), [c.value for c in along(np.zeros(3))]


def _dot(a, b):
    return np.sum(a * b, axis=-1, keepdims=True)


def _rows(values, count):
    """Return (count, ...) of values, each one number or one for each posture."""
    return np.stack([np.broadcast_to(jet(v).value, count) for v in values], axis=-1)


def _take(q, first, part):
    last = first + len(part.coordinates())
    return list(q[first:last]), last
