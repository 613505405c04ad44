# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames fixed to the material of bodies, straight from their formulas.

Derivatives by the material point are jets, those by q complex steps: exact to rounding.
"""

from differences import derivative
import numpy as np
from softrobot_dynamics.tracing.arithmetic import NUMERIC

from oracles.jets import Jet, jet, JETS
from oracles.trees import compose, IDENTITY, joint_frame

STEP = 1e-40  # of the complex steps


def frames_and_slopes(robot, points, q):
    """
    Return [(pose (4, 4), Jacobian (6, n))] of frames in the base frame, in its axes.

    ``points`` is a list of (body index, material point (3,) or None for the tip). The axes at a
    point are those of Gram and Schmidt from dp/dx1, then dp/dx2.
    """
    q = np.asarray(q, dtype=float)
    still = _frames(robot, points, q)
    moved = [_frames(robot, points, q + 1j * STEP * unit) for unit in np.eye(len(q))]
    return [_with_slopes(R, p, [m[k] for m in moved]) for k, (R, p) in enumerate(still)]


def values_and_slopes(body, x, q):
    """
    Position p of a material point x, dp/dx1 and dp/dx2, then their slopes by each q_j: (n + 1, 9).

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


def _with_slopes(R, p, moved):
    pose, columns = np.eye(4), []
    pose[:3, :3], pose[:3, 3] = R, p
    for turned, shifted in moved:
        spin = turned.imag / STEP @ R.T
        columns.append([spin[2, 1], spin[0, 2], spin[1, 0], *(shifted.imag / STEP)])
    return pose, np.array(columns).T


def _frames(robot, points, q):
    """Rotation (3, 3) and origin (3,) of each."""
    tips, joints, own, first = [], [], [], 0
    for module in robot.modules:
        outer = tips[module.parent] if module.parent >= 0 else IDENTITY
        inner, first = _take(q, first, module.joint)
        joints.append(compose(outer, joint_frame(module.joint, inner, JETS)))
        inner, first = _take(q, first, module.body)
        own.append(inner)
        tips.append(compose(joints[-1], module.body.tip_frame(inner, JETS)))
    return [
        _numbers(tips[i] if x is None else compose(joints[i], _local(robot, i, x, own[i])))
        for i, x in points
    ]


def _local(robot, index, x, q):
    """Material frame at x in the joint frame."""

    def along(direction):
        at = [Jet(a, b) for a, b in zip(x, direction)]
        return [jet(c) for c in robot.modules[index].body.position(at, q, JETS)]

    first, second = (np.array([c.first for c in along(e)]) for e in np.eye(3)[:2])
    n1 = first / np.sqrt(first @ first)
    n2 = second - (n1 @ second) * n1
    n2 = n2 / np.sqrt(n2 @ n2)
    axes = np.column_stack([n1, n2, np.cross(n1, n2)])
    return list(axes.ravel()), [c.value for c in along(np.zeros(3))]


def _numbers(frame):
    R, p = (np.array([jet(v).value for v in part]) for part in frame)
    return R.reshape(3, 3), p


def _take(q, first, part):
    last = first + len(part.coordinates())
    return list(q[first:last]), last
