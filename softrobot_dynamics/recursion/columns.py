# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""M, D and K of a robot in motion under its command, a few columns at a time."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import call, run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.differences import COLUMN_STEP, pull_fibres, subtract_fibres
from softrobot_dynamics.recursion.passes import (
    backward,
    BODY_COUNT,
    BODY_FIRST,
    BODY_KERNEL,
    BODY_NUMBERS,
    BODY_SLAB,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    lay_ground,
    pass_module,
    poses,
    Robot,
    STATE,
)
from softrobot_dynamics.recursion.passive import passive_forces


class Work(NamedTuple):
    """Where a robot is linearised, and scratch, for n coordinates, m actuators."""

    q: Vector  # (n,)
    qd: Vector  # (n,)
    force: Vector  # (m,) along y
    qdd: Vector  # (n,) in force
    force_here: Vector  # (n,) ID(q, qd, qdd)
    force_there: Vector  # (n,) the same where it is displaced
    elastic: Vector  # (n,) in force_here
    damping: Vector  # (n,) in force_here
    x: Vector  # (n,) displaced coordinates
    v: Vector  # (n,) and rates
    pull: Matrix  # (2, n) generalized force of straight lines at q, and displaced
    fibres: Vector  # (n,) the same of lengths within bodies, at q
    owner: Integers  # (n,) module of each coordinate
    varies: Integers  # (n,) whether its damping is that of a strain energy


def allocate_work(model: Model, robot: Robot) -> Work:
    """Return the :class:`Work` for a model and its robot."""
    n, owner, varies = (
        model.n,
        np.zeros(model.n, dtype=np.int64),
        np.zeros(model.n, dtype=np.int64),
    )
    for i, m in enumerate(robot.modules):
        for first, count in ((JOINT_FIRST, JOINT_COUNT), (BODY_FIRST, BODY_COUNT)):
            owner[m[first] : m[first] + m[count]] = i
    for first, count in model.nonlinear:
        varies[first : first + count] = 1
    return Work(
        q=np.zeros(n),
        qd=np.zeros(n),
        force=np.zeros(model.m),
        qdd=np.zeros(n),
        force_here=np.zeros(n),
        force_there=np.zeros(n),
        elastic=np.zeros(n),
        damping=np.zeros(n),
        x=np.zeros(n),
        v=np.zeros(n),
        pull=np.zeros((2, n)),
        fibres=np.zeros(n),
        owner=owner,
        varies=varies,
    )


@kernel
def accelerate(terms, x, work):
    """Keep M, and fill the acceleration in force, after an evaluation; it uses up the terms."""
    n = len(work.q)
    for i in range(n):
        work.qdd[i] = -terms.h[i]
        for k in range(len(work.force)):
            work.qdd[i] += terms.J[k, i] * work.force[k]
        for j in range(n):
            x.M[i, j] = terms.M[i, j]
    if cholesky(terms.M) == 0:
        solve_lower(terms.M, work.qdd)
        solve_lower_transposed(terms.M, work.qdd)
    else:
        work.qdd[:] = 0.0


@kernel
def begin_columns(robot, terms, lines, work):
    """Fill the forces where the robot is, after an evaluation there."""
    lay_ground(robot, FULL)
    for i in range(len(robot.modules)):
        pass_module(robot, i, work.q, work.qd, work.qdd, False)
    backward(robot, work.q, work.qd, work.qdd, FULL, work.force_here)
    passive_forces(robot, work.q, work.qd, work.elastic, work.damping)
    pull_fibres(robot, work)
    if lines.address != 0:
        _pull(robot, terms, lines, work, work.q, work.pull[0])


@kernel
def columns(robot, terms, lines, x, work, first, last):
    """
    Measure columns of K and D, each by one more evaluation of the body it belongs to.

    D is only measured where it varies; elsewhere it is there already.
    """
    copy(work.qd, work.v)
    for j in range(first, last):
        copy(work.q, work.x)
        if work.varies[j] != 0:
            _damp(robot, work, j, x.D)
        work.x[j] += COLUMN_STEP
        _evaluate_again(robot, work, j)
        for i in range(len(work.q)):
            x.K[i, j] = (work.force_there[i] - work.force_here[i]) / COLUMN_STEP
        if lines.address != 0:
            _pull(robot, terms, lines, work, work.x, work.pull[1])
            for i in range(len(work.q)):
                x.K[i, j] -= (work.pull[1, i] - work.pull[0, i]) / COLUMN_STEP
        subtract_fibres(robot, work, j, x.K)


@kernel
def _damp(robot, work, j, D):
    """Fill column j of D, of a body with a strain energy: damping is its own, linear in rates."""
    i = work.owner[j]
    m, W, S = robot.modules[i], robot.W, robot.S
    n, first, slab = m[BODY_COUNT], m[BODY_FIRST], m[BODY_SLAB]
    numbers, q, v = robot.P[m[BODY_NUMBERS] :], work.q[first:], work.v[first:]
    work.v[j] += 1.0
    call(robot.kernels[i, BODY_KERNEL], numbers, q, v, W[i * STATE :], W[slab:], S)
    work.v[j] = work.qd[j]
    found = slab + layout.bias_offset(n) + 2 * n
    for k in range(n):
        D[first + k, j] = W[found + k] - work.damping[first + k]


@kernel
def _evaluate_again(robot, work, j):
    """Fill the forces displaced in coordinate j: only its own module has changed."""
    own, before = work.owner[j], work.owner[max(0, j - 1)]
    lay_ground(robot, FULL)
    for i in range(len(robot.modules)):
        anew = i == own or i == before  # the one before returns to where it was
        pass_module(robot, i, work.x, work.v, work.qdd, anew)
    backward(robot, work.x, work.v, work.qdd, FULL, work.force_there)


@kernel
def _pull(robot, terms, lines, work, q, out):
    """Generalized force (n,) of the straight lines between bodies, after a forward pass at q."""
    out[:] = 0.0
    for k in range(len(work.force)):
        terms.y[k] = terms.bias[k] = 0.0
        terms.J[k, :] = 0.0
    poses(robot)
    run(lines, q, work.qd)
    for k in range(len(work.force)):
        for i in range(len(out)):
            out[i] += terms.J[k, i] * work.force[k]
