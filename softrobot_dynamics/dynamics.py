# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Friendly calls: check the arguments, allocate, run a compiled program, check the result.

All vectors are keyword-only, float64, SI units. Every function raises ArgumentError, naming the
argument, for a wrong shape or a number that is not finite. For calls at control rate build a
controller or a simulator, which allocate nothing.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.frames import point_jacobian, poses
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.recursion import FULL, INERTIAL, STATE, TIP_POSE
from softrobot_dynamics.recursion import inverse_dynamics as recursion


class Actuation(NamedTuple):
    """How the actuators act: u in actuator units, y their coordinates (tendon: elongation)."""

    matrix: np.ndarray  # (n, m) dnu/du
    coordinates: np.ndarray  # (m,) y [m or rad], zero at q = 0
    velocities: np.ndarray  # (m,) dy/dt
    bias: np.ndarray  # (m,) (d/dt dy/dq) qd
    jacobian: np.ndarray  # (m, n) dy/dq


def checked(name, value, shape):
    """Return ``value`` as a contiguous float64 array of ``shape``, finite; or ArgumentError."""
    try:
        array = np.ascontiguousarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, value, f'numbers of shape {shape}') from None
    if array.shape != shape:
        raise ArgumentError(name, value, f'shape {shape}, not {array.shape}')
    if not np.isfinite(array).all():
        raise ArgumentError(name, value, 'finite numbers')
    return array


def inertial_inverse_dynamics(model, *, q, qd, qdd):
    """Return IID [P, Alg. 1]: M(q) qdd + c(q, qd), (n,), for q, qd, qdd (n,)."""
    return _recursion(model, q, qd, qdd, INERTIAL)[0]


def inverse_dynamics(model, *, q, qd, qdd):
    """Return ID [P, Alg. 2]: M qdd + c + g + s, with gravity, elasticity and damping, (n,)."""
    return _recursion(model, q, qd, qdd, FULL)[0]


def mass_inertial_inverse_dynamics(model, *, q, qd, qdd):
    """Return MIID [P, A.6]: IID (n,) and the mass matrix (n, n), in one pass."""
    return _recursion(model, q, qd, qdd, INERTIAL, with_mass=True)


def mass_inverse_dynamics(model, *, q, qd, qdd):
    """Return MID [P, A.6]: ID (n,) and the mass matrix (n, n), in one pass."""
    return _recursion(model, q, qd, qdd, FULL, with_mass=True)


def gravity_force(model, *, q):
    """Return g(q) = dV/dq, (n,)."""
    q = checked('q', q, (model.n,))
    return _terms(model, q, np.zeros(model.n)).h - elastic_force(model, q=q)


def elastic_force(model, *, q):
    """Elastic force s(q, 0), (n,), of bodies and joint springs."""
    q = checked('q', q, (model.n,))
    return model.stiffness @ (q - model.rest)


def damping_force(model, *, q, qd):
    """Damping force d(q, qd), (n,), of bodies and joints."""
    checked('q', q, (model.n,))
    return model.damping @ checked('qd', qd, (model.n,))


def forward_kinematics(model, *, q):
    """Tip frames of all bodies in the base frame, (N, 4, 4)."""
    robot = _placed(model, checked('q', q, (model.n,)))
    frames = np.zeros((len(model.body_names), 4, 4))
    frames[:, 3, 3] = 1.0
    for i, frame in enumerate(frames):
        pose = robot.W[i * STATE + TIP_POSE : i * STATE + TIP_POSE + 12]
        frame[:3, :3], frame[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
    return frames


def jacobian(model, *, q, body=None):
    """
    Jacobian (6, n) of a body's tip: angular rows first, at the tip, in the tip frame.

    ``body`` is a body's name, or 'tip' or None for the last one.
    """
    index = body_index(model, body)
    q = checked('q', q, (model.n,))
    robot = _placed(model, q)
    pose = robot.W[index * STATE + TIP_POSE : index * STATE + TIP_POSE + 12]
    J = np.empty((6, model.n))
    cached(point_jacobian)(robot, index, True, pose[9:12].copy(), J.reshape(-1))
    rotation = pose[:9].reshape(3, 3)
    return np.vstack([rotation.T @ J[:3], rotation.T @ J[3:]])


def actuation(model, *, q, qd):
    """Return the :class:`Actuation` of all actuators at (q, qd)."""
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    t = _terms(model, q, qd)
    return Actuation(t.J.T * model.signs, t.y - model.y0, t.J @ qd, t.bias, t.J)


def forward_dynamics(model, *, q, qd, u):
    """Acceleration qdd (n,) under the actuation u (m,): M qdd = A u - (c + g + s)."""
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    u, t = checked('u', u, (model.m,)), _terms(model, q, qd)
    return np.linalg.solve(t.M, (model.signs * u) @ t.J - t.h)


def body_index(model, body):
    """Index of a body by name ('tip' or None: the last one); ArgumentError if unknown."""
    if body is None or (body == 'tip' and 'tip' not in model.body_names):
        return len(model.body_names) - 1
    if body not in model.body_names:
        raise ArgumentError('body', body, 'one of ' + ', '.join(model.body_names))
    return model.body_names.index(body)


def _terms(model, q, qd):
    """Return all terms at a state; ArgumentError where the model has none."""
    terms = model.evaluator()(q, qd)
    _require_finite(q, terms.h)
    return terms


def _require_finite(q, result):
    if not np.isfinite(result).all():
        raise ArgumentError('q', q, 'a posture that the bodies can represent')


def _placed(model, q):
    """Workspace after a forward pass at rest, with all poses."""
    evaluator = model.evaluator()
    _require_finite(q, evaluator(q, np.zeros(model.n)).h)
    cached(poses)(evaluator.robot)
    return evaluator.robot


def _recursion(model, q, qd, qdd, mode, with_mass=False):
    n = model.n
    q, qd, qdd = checked('q', q, (n,)), checked('qd', qd, (n,)), checked('qdd', qdd, (n,))
    Q, M = np.empty(n), np.empty((n, n))
    model.program(recursion)(model.robot(), q, qd, qdd, mode, with_mass, Q, M)
    _require_finite(q, Q)
    return (Q, M) if with_mass else (Q,)
