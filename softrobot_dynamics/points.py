# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames fixed to the material of bodies: their poses and Jacobians, anywhere in a robot.

At a body's tip the frame is that of the forward pass. At a material point x it follows from the
body's formula p = f(x, q): the origin is p, the axes are those that Gram and Schmidt make of
dp/dx1 and dp/dx2, as [P, (5)-(7)] do for the tip. The formula is traced once and then evaluated
by numpy; nothing is compiled. That takes a good part of a millisecond: not for control loops.
"""

import functools
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.frames import point_jacobian
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kinematics import graph
from softrobot_dynamics.kinematics.arithmetic import NUMERIC
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.kinematics.differentiate import tangent
from softrobot_dynamics.kinematics.graph import SYMBOLIC
from softrobot_dynamics.poses import transform
from softrobot_dynamics.recursion import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_POSE,
    Robot,
    STATE,
)

FRAMES = ('body', 'base')  # in whose axes a twist, a wrench or a Jacobian is given


class MaterialFrame(NamedTuple):
    """A frame of a body in its joint frame S_J, and how the body's n coordinates move it."""

    rotation: np.ndarray  # (3, 3)
    origin: np.ndarray  # (3,) [m]
    spin: np.ndarray  # (3, n) angular Jacobian, in this frame
    velocity: np.ndarray  # (3, n) linear Jacobian, in S_J


class Placement(NamedTuple):
    """A robot at q (n,), all poses of which are in its workspace; bodies are given by index."""

    model: object  # CompiledModel
    robot: Robot
    q: np.ndarray

    def joint(self, body):
        """Rotation (3, 3) and origin (3,) [m], base frame, of the joint frame of a body."""
        pose = self.robot.W[body * STATE + JOINT_POSE :]
        return pose[:9].reshape(3, 3), pose[9:12]

    def material(self, body, point=None):
        """Return the :class:`MaterialFrame` at a point x (3,) [m], None: the tip."""
        m, W = self.robot.modules[body], self.robot.W
        n, first = m[BODY_COUNT], m[BODY_FIRST]
        if point is None:
            slab = W[m[BODY_SLAB] :]
            return _unpack(slab, slab[layout.JACOBIAN : layout.JACOBIAN + 6 * n], n)
        part = self.model.description.modules[body].body
        return material_frame(part, point, self.q[first : first + n])

    def pose(self, body, point=None):
        """Transform (4, 4) from the frame at a point, None: the tip, to the base frame."""
        (R, t), frame = self.joint(body), self.material(body, point)
        return transform(R @ frame.rotation, R @ frame.origin + t)

    def jacobian(self, body, point=None, axes='body'):
        """Jacobian (6, n), angular rows first, of the frame at a point, in these axes."""
        (R, t), frame = self.joint(body), self.material(body, point)
        m, J = self.robot.modules[body], np.empty((6, self.model.n))
        origin, rotation = R @ frame.origin + t, R @ frame.rotation
        cached(point_jacobian)(self.robot, body, False, origin, J.reshape(-1))
        own = slice(m[BODY_FIRST], m[BODY_FIRST] + m[BODY_COUNT])
        J[:3, own], J[3:, own] = rotation @ frame.spin, R @ frame.velocity
        if axes == 'body':
            J[:3], J[3:] = rotation.T @ J[:3], rotation.T @ J[3:]
        return J


def material_frame(body, point, q):
    """
    Return the :class:`MaterialFrame` at a point x (3,) [m] of a body at its coordinates q.

    Entries are NaN where the body has no such frame.
    """
    evaluate = _from_fields if body.tabulated else _from_formula
    with np.errstate(all='ignore'):
        values = evaluate(body, np.asarray(point, dtype=float), np.asarray(q, dtype=float))
        return _gram_schmidt(values)


def _from_formula(body, x, q):
    """Position and its derivatives by x1, x2, (3, 3), then the slopes of these by each q_j."""
    symbols = {('x', i): v for i, v in enumerate(x)} | {('q', j): v for j, v in enumerate(q)}
    return np.array(graph.evaluate(_trace(body), symbols, NUMERIC), dtype=float).reshape(-1, 3, 3)


def _from_fields(body, x, q):
    """As :func:`_from_formula`, for a body linear in q with fields known by number only."""
    fields, slopes = body.fields_at(x[None])[0], body.slopes_at(x[None])[0]
    still = np.array([x, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    moving = np.stack([fields.T, slopes[:, :, 0], slopes[:, :, 1]], axis=1)
    return np.concatenate([[still + np.tensordot(q, moving, axes=1)], moving])


@functools.lru_cache(maxsize=256)
def _trace(body):
    """Nodes of what :func:`_from_formula` evaluates."""
    x, n = [graph.symbol('x', i) for i in range(3)], len(body.coordinates())
    position = body.position(x, [graph.symbol('q', j) for j in range(n)], SYMBOLIC)
    values = [graph.as_node(c) for c in position]
    values += [node for i in (0, 1) for node in tangent(values[:3], {('x', i): 1.0})]
    slopes = [tangent(values, {('q', j): 1.0}) for j in range(n)]
    return (*values, *(node for slope in slopes for node in slope))


def _gram_schmidt(values):
    """
    Return the :class:`MaterialFrame` of p, a, b (3, 3) and of their slopes by q (n, 3, 3).

    The x axis is along a, the y axis in its plane with b; so a turns about y and z, and the plane
    about x.
    """
    (p, a, b), slopes = values[0], values[1:]
    n1 = a / np.linalg.norm(a)
    n3 = np.cross(n1, b)
    n3 = n3 / np.linalg.norm(n3)
    R = np.column_stack([n1, np.cross(n3, n1), n3])
    (_, da, db), (b1, b2, _) = (slopes @ R).transpose(1, 0, 2), b @ R
    about_y, about_z = -da[:, 2] / (a @ n1), da[:, 1] / (a @ n1)
    about_x = (db[:, 2] + about_y * b1) / b2
    return MaterialFrame(R, p, np.array([about_x, about_y, about_z]), slopes[:, 0].T)


def _unpack(pose, jacobian, n):
    """Return the :class:`MaterialFrame` of a pose (12,) and a Jacobian (6 n,) as in a slab."""
    spin, velocity = jacobian.reshape(2, n, 3)
    return MaterialFrame(pose[:9].reshape(3, 3), pose[9:12], spin.T, velocity.T)
