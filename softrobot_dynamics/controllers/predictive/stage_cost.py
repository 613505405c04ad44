# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Cost of a state on the horizon, its gradient and its Gauss-Newton Hessian.

Per second: half the sum of weighted squares of what the tip, the outputs, the coordinates and
their rates differ in from what they shall be, and of what coordinates, rates, distances and
forces of contact are beyond soft limits. Large errors of outputs cost in proportion (Huber, Ann.
Math. Stat. 35, 1964), so that one that no command can remove does not outweigh all others; the
Hessian is then that of the parabola that touches this cost from above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.predictive.contact import HorizonForces
from softrobot_dynamics.controllers.predictive.distances import (
    allocate_distances,
    HorizonDistances,
)
from softrobot_dynamics.controllers.rotations import rotation_error
from softrobot_dynamics.kernels.layout import ORIGIN
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.passes import Robot, STATE, TIP_POSE

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.predictive.step_workspace import StepWorkspace
    from softrobot_dynamics.model.model import CompiledModel

_COST_TYPES = 'int64, int64, VECTOR, float64, int64'


class Weights(NamedTuple):
    """Weights of squares, in the cost per second; commands count as shares of their range."""

    tip: Vector  # (1,) [1/m^2]
    rotation: Vector  # (1,) [1/rad^2]
    output: Vector  # (m,) [1/unit of y^2]
    huber_threshold: Vector  # (m,) [unit of y] error beyond which the cost is linear
    posture: Vector  # (n,) [1/unit of q^2]
    speed: Vector  # (n,) [1/unit of qd^2]
    limit: Vector  # (1,) of coordinates and rates beyond soft limits, in units of the coordinates
    distance: Vector  # (1,) [1/m^2] of gaps below the clearance
    force: Vector  # (1,) [1/N^2] of forces of contact above their limit
    effort: Vector  # (m,) [1/unit of u^2]
    change: Vector  # (m,) of du/dt [s^2/unit of u^2]


class Aims(NamedTuple):
    """Desired states at the N knots."""

    tip: Matrix  # (N, 3) [m], base frame
    y: Matrix  # (N, m) relative to q = 0
    rotation: Vector  # (9,) axes of the tip, row by row, base frame
    q: Vector  # (n,)
    u: Vector  # (m,)
    lower: Vector  # (n,) soft limits of coordinates
    upper: Vector  # (n,)
    speed: Vector  # (n,) of rates
    clearance: Vector  # (1,) [m] soft limit of gaps
    time: Vector  # (1,) [s] of the motions of obstacles when the horizon begins


class CostArrays(NamedTuple):
    """Derivatives of the costs of the states after N steps, and workspace."""

    gradient: Array  # (N, 2 n)
    by_qq: Array  # (N, n, n)
    by_vv: Array  # (N, n) diagonal; q and qd do not meet
    point: Vector  # (3,)
    rotation_error: Vector  # (3,) [rad]
    J: Vector  # (6 n,)
    y0: Vector  # (m,)
    units: Vector  # (n,)
    distances: HorizonDistances
    forces: HorizonForces


def allocate_weights(n: int, m: int) -> Weights:
    """Return :class:`Weights` of nothing."""
    one = {x: np.zeros(1) for x in ('tip', 'rotation', 'limit', 'distance', 'force')}
    of_u = {x: np.zeros(m) for x in ('output', 'effort', 'change')}
    of_q = {x: np.zeros(n) for x in ('posture', 'speed')}
    return Weights(**one, **of_u, **of_q, huber_threshold=np.full(m, np.inf))


def allocate_aims(n: int, m: int, count: int) -> Aims:
    """Return :class:`Aims` at zero, without limits."""
    free = {'lower': np.full(n, -np.inf), 'upper': np.full(n, np.inf), 'speed': np.full(n, np.inf)}
    places = {'tip': np.zeros((count, 3)), 'y': np.zeros((count, m))}
    return Aims(
        **places,
        q=np.zeros(n),
        u=np.zeros(m),
        clearance=np.zeros(1),
        time=np.zeros(1),
        rotation=np.eye(3).ravel(),
        **free,
    )


def allocate_costs(
    model: CompiledModel, count: int, robot: Robot, forces: HorizonForces
) -> CostArrays:
    """Return :class:`CostArrays` of a model, whose poses are those of a ``robot``."""
    n = model.n
    return CostArrays(
        gradient=np.zeros((count, 2 * n)),
        by_qq=np.zeros((count, n, n)),
        by_vv=np.zeros((count, n)),
        point=np.zeros(3),
        rotation_error=np.zeros(3),
        J=np.zeros(6 * n),
        y0=model.y0.copy(),
        units=np.array(model.scales.units, dtype=float),
        distances=allocate_distances(model, robot, 0.0),
        forces=forces,
    )


def single_cost(
    w: StepWorkspace, weights: Weights, aims: Aims, costs: CostArrays
) -> Callable[..., float]:
    """Return :func:`state_cost` for a workspace, a function of (body, k, x, h, differentiate)."""
    given = {'w': w, 'weights': weights, 'aims': aims, 'c': costs}
    found: Callable[..., float] = cached(state_cost, _COST_TYPES, **given)
    return found


@kernel
def state_cost(w, weights, aims, c, body, k, x, h, differentiate):
    """
    Return the cost of the state x (2 n,) that step ``k`` of ``h`` [s] in ``w`` has just reached.

    With ``differentiate``, its derivatives are filled in ``c``. ``body`` is whose tip it is.
    """
    n, gradient, by_qq, by_vv = len(w.q), c.gradient[k], c.by_qq[k], c.by_vv[k]
    if differentiate:
        gradient[:] = 0.0
        by_vv[:] = 0.0
        for i in range(n):
            by_qq[i, :] = 0.0
    total = 0.0
    if weights.tip[0] > 0.0 or weights.rotation[0] > 0.0:
        total += _tip_cost(w, weights, aims, c, body, k, h, differentiate)
    for i in range(len(weights.output)):
        weight = h * weights.output[i]
        if weight > 0.0:
            error = (
                w.terms.y[i] + dot(w.terms.J[i], w.position_correction) - c.y0[i] - aims.y[k, i]
            )
            threshold = weights.huber_threshold[i]
            if abs(error) > threshold:  # linear from there on, below the parabola that is left
                total += 0.5 * weight * threshold * (abs(error) - threshold)
                weight *= threshold / abs(error)
            total += 0.5 * weight * error * error
            if differentiate:
                _add_square(w.terms.J[i], weight, error, gradient, by_qq)
    weight, found = h * weights.distance[0], c.distances
    if weight > 0.0 and found.measure.address != 0:
        found.time[0] = aims.time[0] + (k + 1) * h
        run(found.measure, x[:n], x[n:])
        for r in range(found.gap_count[0]):
            error = found.gaps[r] - aims.clearance[0]
            total += 0.5 * weight * error * error
            if differentiate:
                _add_square(found.rows[r], weight, error, gradient, by_qq)
    if weights.force[0] > 0.0 and c.forces.measure.address != 0:
        run(c.forces.measure, w.position_correction, c.forces.max_force)
        total += _force_cost(c.forces, h * weights.force[0], gradient, by_qq, differentiate)
    return total + _coordinate_cost(weights, aims, c, k, x, h, differentiate)


@kernel
def _tip_cost(w, weights, aims, c, body, k, h, differentiate):
    """Return the cost of the place and the axes of the tip of a ``body``; add its derivatives."""
    n, robot, total, pose = len(w.q), w.robot, 0.0, body * STATE + TIP_POSE
    weight, turning = h * weights.tip[0], h * weights.rotation[0]
    for i in range(3):
        c.point[i] = robot.W[pose + ORIGIN + i]
    point_jacobian(robot, body, True, c.point, c.J)
    if turning > 0.0:
        rotation_error(aims.rotation, robot.W[pose : pose + 9], c.rotation_error)
    for i in range(3):
        row = c.J[(3 + i) * n : (4 + i) * n]
        error = c.point[i] + dot(row, w.position_correction) - aims.tip[k, i]
        total += 0.5 * weight * error * error
        if differentiate:
            _add_square(row, weight, error, c.gradient[k], c.by_qq[k])
        if turning > 0.0:
            row = c.J[i * n : (i + 1) * n]
            error = dot(row, w.position_correction) - c.rotation_error[i]
            total += 0.5 * turning * error * error
            if differentiate:
                _add_square(row, turning, error, c.gradient[k], c.by_qq[k])
    return total


@kernel
def _force_cost(forces, weight, gradient, by_qq, differentiate):
    """Return the cost of forces of contact above their limit; add its derivatives."""
    total = 0.0
    for r in range(forces.above[0]):
        error = forces.excess[r]
        total += 0.5 * weight * error * error
        if differentiate:
            _add_square(forces.rows[r], weight, error, gradient, by_qq)
    return total


@kernel
def _coordinate_cost(weights, aims, c, k, x, h, differentiate):
    """Return the cost of the coordinates and their rates, also beyond soft limits; likewise."""
    total, gradient, by_qq, by_vv = 0.0, c.gradient[k], c.by_qq[k], c.by_vv[k]
    n = len(by_vv)
    for i in range(n):
        q, v, unit, speed = x[i], x[n + i], c.units[i], weights.speed[i] * h
        posture, strict = weights.posture[i] * h, weights.limit[0] * h / (unit * unit)
        error, rate_violation = q - aims.q[i], 0.0
        violation = _limit_violation(q, aims.lower[i], aims.upper[i])
        if aims.speed[i] < np.inf:
            rate_violation = _limit_violation(v, -aims.speed[i], aims.speed[i])
        total += 0.5 * (posture * error * error + speed * v * v)
        total += 0.5 * strict * (violation * violation + rate_violation * rate_violation)
        if differentiate:
            gradient[i] += posture * error + strict * violation
            gradient[n + i] += speed * v + strict * rate_violation
            by_qq[i, i] += posture + (strict if violation != 0.0 else 0.0)
            by_vv[i] += speed + (strict if rate_violation != 0.0 else 0.0)
    return total


@kernel
def _add_square(row, weight, error, gradient, by_qq):
    """Add the derivatives of weight error^2 / 2 by q, ``row`` (n,) being those of error."""
    for i in range(len(row)):
        share = weight * row[i]
        gradient[i] += share * error
        target = by_qq[i]
        for j in range(len(row)):
            target[j] += share * row[j]


@kernel
def _limit_violation(value, lower, upper):
    """Return how far a value is beyond its limits, with a sign."""
    if value > upper:
        return value - upper
    return value - lower if value < lower else 0.0


@kernel
def command_cost(weights, aims, u, before, h):
    """Return the cost of a command u (m,) that is held for ``h`` [s] after another."""
    total = 0.0
    for i in range(len(u)):
        error, change = u[i] - aims.u[i], u[i] - before[i]
        total += h * weights.effort[i] * error * error + weights.change[i] / h * change * change
    return 0.5 * total
