# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""M, D and K of a robot in motion under its command, a few columns at a time."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.differences import COLUMN_STEP, subtract_fibres
from softrobot_dynamics.recursion.passes import (
    backward,
    BODY_COUNT,
    BODY_FIRST,
    forward,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    lay_ground,
    pass_module,
    poses,
    Robot,
)
from softrobot_dynamics.recursion.passive import passive_forces


class Work(NamedTuple):
    """Where a robot is linearised, and scratch, for n coordinates, m actuators."""

    q: Vector  # (n,)
    qd: Vector  # (n,)
    force: Vector  # (m,) along y
    qdd: Vector  # (n,) in force
    base: Matrix  # (2, n) ID(q, qd, qdd), and the damping in it
    forces: Matrix  # (2, n) the same where it is displaced
    elastic: Vector  # (n,)
    x: Vector  # (n,) displaced coordinates
    v: Vector  # (n,) and rates
    pull: Matrix  # (2, n) generalized force of straight lines at q, and displaced
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
        base=np.zeros((2, n)),
        forces=np.zeros((2, n)),
        elastic=np.zeros(n),
        x=np.zeros(n),
        v=np.zeros(n),
        pull=np.zeros((2, n)),
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
    """Evaluate all bodies where the robot is, and the forces there."""
    forward(robot, work.q, work.qd, work.qdd, FULL)
    backward(robot, work.q, work.qd, work.qdd, FULL, work.base[0])
    passive_forces(robot, work.q, work.qd, work.elastic, work.base[1])
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
            work.v[j] += 1.0  # damping is linear in rates
            _evaluate_again(robot, work, j)
            work.v[j] = work.qd[j]
            for i in range(len(work.q)):
                x.D[i, j] = work.forces[1, i] - work.base[1, i]
        work.x[j] += COLUMN_STEP
        _evaluate_again(robot, work, j)
        for i in range(len(work.q)):
            x.K[i, j] = (work.forces[0, i] - work.base[0, i]) / COLUMN_STEP
        if lines.address != 0:
            _pull(robot, terms, lines, work, work.x, work.pull[1])
            for i in range(len(work.q)):
                x.K[i, j] -= (work.pull[1, i] - work.pull[0, i]) / COLUMN_STEP
        subtract_fibres(robot, work, j, x.K)


@kernel
def _evaluate_again(robot, work, j):
    """Fill the forces displaced in coordinate j: only its own module has changed."""
    own, before = work.owner[j], work.owner[max(0, j - 1)]
    lay_ground(robot, FULL)
    for i in range(len(robot.modules)):
        anew = i == own or i == before  # the one before returns to where it was
        pass_module(robot, i, work.x, work.v, work.qdd, anew)
    backward(robot, work.x, work.v, work.qdd, FULL, work.forces[0])
    passive_forces(robot, work.x, work.v, work.elastic, work.forces[1])


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
