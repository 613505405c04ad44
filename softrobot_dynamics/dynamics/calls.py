# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Calls at a state: check the arguments, allocate, run a compiled program, check the result.

All vectors are keyword-only, float64, SI units. Every function raises ArgumentError, naming the
argument, for a wrong shape or a number that is not finite. For calls at control rate build a
controller or a simulator, which allocate nothing.

``wrenches`` maps body names to a wrench (6,), moment [N m] then force [N], at the body's tip in
its tip frame, or to a :class:`~softrobot_dynamics.dynamics.wrenches.Wrench` at any material point,
or to a list of those. ``body`` is a body's name, or 'tip' or None for the last one.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.arguments import (
    body_index,
    checked,
    checked_point,
    checked_rows,
    one_of,
    require_finite,
    require_frame,
)
from softrobot_dynamics.dynamics.closures import closed_acceleration, tree_force
from softrobot_dynamics.dynamics.points import FRAMES, MaterialPoints, Placement
from softrobot_dynamics.dynamics.wrenches import read_wrenches, Wrenches
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.singular_mass import accelerations

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Actuation(NamedTuple):
    """The actuation at a state: u in actuator units, y the coordinates (tendon: elongation)."""

    matrix: Matrix  # (n, m) dnu/du
    coordinates: Vector  # (m,) y [m or rad], zero at q = 0
    velocities: Vector  # (m,) dy/dt
    bias: Vector  # (m,) (d/dt dy/dq) qd
    jacobian: Matrix  # (m, n) dy/dq


def gravity_force(model: CompiledModel, *, q: ArrayLike) -> Vector:
    """Return g(q) = dV/dq, (n,)."""
    q = checked('q', q, (model.n,))
    return _terms(model, q, np.zeros(model.n)).h - elastic_force(model, q=q)


def elastic_force(model: CompiledModel, *, q: ArrayLike) -> Vector:
    """Elastic force s(q), (n,), of bodies and joint springs."""
    q = checked('q', q, (model.n,))
    return _passive(model, q, np.zeros(model.n))[0]


def damping_force(model: CompiledModel, *, q: ArrayLike, qd: ArrayLike) -> Vector:
    """Damping force d(q, qd), (n,), of bodies and joints."""
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    return _passive(model, q, qd)[1]


def forward_kinematics(model: CompiledModel, *, q: ArrayLike) -> Array:
    """Tip frames of all bodies in the base frame, (N, 4, 4)."""
    placed = placement(model, q)
    return np.array([placed.pose(body) for body in range(len(model.body_names))])


def frame(
    model: CompiledModel, *, q: ArrayLike, body: str | None = None, point: ArrayLike | None = None
) -> Matrix:
    """
    Frame (4, 4) fixed to a body's material, in the base frame.

    ``point`` is a material point x (3,) [m] (of a rigid body: a point in its joint frame); None
    is the tip with its tip frame. The axes at a point are those of the tip's definition
    [P, (5)-(7)]: x along dp/dx1, y in its plane with dp/dx2; on a rigid body, the joint frame's.
    """
    index, point = body_index(model, body), checked_point(point)
    pose = placement(model, q).pose(index, point)
    require_frame(point, pose)
    return pose


def jacobian(
    model: CompiledModel,
    *,
    q: ArrayLike,
    body: str | None = None,
    point: ArrayLike | None = None,
    frame: str = 'body',
) -> Matrix:
    """
    Jacobian (6, n) of the :func:`frame` at a body's tip or at a material point x (3,) [m].

    Angular rows first: J qd is the angular velocity [rad/s], then the velocity of the point
    [m/s], in the axes of that frame ('body') or of the base ('base').
    """
    index, point = body_index(model, body), checked_point(point)
    J = placement(model, q).jacobian(index, point, one_of('frame', frame, FRAMES))
    require_frame(point, J)
    return J


def material_points(
    model: CompiledModel,
    *,
    q: ArrayLike,
    points: ArrayLike,
    qd: ArrayLike | None = None,
    body: str | None = None,
    frame: str = 'body',
) -> MaterialPoints:
    """
    Return the ``MaterialPoints`` of a body: where its material points are, and how they move.

    ``points`` x (K, 3) [m] as in :func:`frame`. Fields: positions (K, 3) [m], velocities (K, 3)
    [m/s] at qd (n,), None: at rest, and frames (K, 4, 4), in the base frame; jacobians (K, 6, n)
    as those of :func:`jacobian`, in the axes of each point's frame ('body') or of the base.

    The first call for a type of body compiles, for some seconds, unless another process has done
    so before; the first one for new points makes tables of them.
    """
    index = body_index(model, body)
    points = checked_rows('points', points, 3)
    qd = None if qd is None else checked('qd', qd, (model.n,))
    axes = one_of('frame', frame, FRAMES)
    found = placement(model, q).points(index, points, qd, axes)
    wrong = ~np.isfinite(found.frames).all(axis=(1, 2))
    for x, pose in zip(points[wrong], found.frames[wrong]):
        require_frame(x, pose, 'points')
    return found


def actuation(model: CompiledModel, *, q: ArrayLike, qd: ArrayLike) -> Actuation:
    """Return the :class:`Actuation` of all actuators at (q, qd)."""
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    t = _terms(model, q, qd)
    return Actuation(
        matrix=t.J.T * model.signs,
        coordinates=t.y - model.y0,
        velocities=t.J @ qd,
        bias=t.bias.copy(),
        jacobian=t.J.copy(),
    )


def forward_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    u: ArrayLike,
    wrenches: Wrenches | None = None,
) -> Vector:
    """
    Acceleration qdd (n,) under actuation u (m,): M qdd = A u + J^T w - (c + g + s).

    Of a model with surroundings, or that may touch itself, contact acts as well (``sd.contacts``).
    Loops of closures must be closed at q, qd, and stay closed; ``sd.closures`` has their forces.
    Raises SingularMassError, naming coordinates, where nothing has inertia along them.
    """
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    u, loads = checked('u', u, (model.m,)), read_wrenches(model, wrenches)
    t = _terms(model, q, qd)
    force = tree_force(model, model.per_thread.evaluator, q, qd, u, loads)
    if model.closure_plan is not None:
        return closed_acceleration(model, q, qd, force)
    return accelerations(model, t.M, force)


def placement(model: CompiledModel, q: ArrayLike) -> Placement:
    """
    Return the :class:`~.points.Placement` of a robot at q (n,), checked.

    It holds until the next call for the same model in this thread.
    """
    q, evaluator = checked('q', q, (model.n,)), model.per_thread.evaluator
    require_finite(model, q, evaluator(q, np.zeros(model.n)).h)
    return Placement(model, evaluator.robot, q)


def _terms(model: CompiledModel, q: Vector, qd: Vector) -> Terms:
    """Return all terms at a state, until the next call; ArgumentError where there are none."""
    terms = model.per_thread.evaluator(q, qd)
    require_finite(model, q, terms.h)
    return terms


def _passive(model: CompiledModel, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """Return elastic and damping forces at a state; ArgumentError where the model has none."""
    forces = model.per_thread.evaluator.passive(q, qd)
    require_finite(model, q, np.concatenate(forces))
    return forces
