# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Steps of equal length, implicit in stiffness and damping, by an exponential method.

A step of h from (q, qd) takes the robot for a linear one with matrices where it starts, follows
that, and evaluates the robot half way (or at the end, see below). The force that the linear one
lacks there is taken to have grown in proportion to time, to N at the end of the step, and the
linear one is moved again under it::

    M v' + D v + K x = F + N t / h,   x' = v,   from x = 0, v = qd;   q += x,  qd = v

This is an exponential method of Runge and Kutta's kind (Hochbruck and Ostermann, Acta Numerica 19,
2010, Sec. 2.3, c2 = 1/2), of second order whatever K and D are. Forces may be from 0 to 1.5 times
as stiff. Rates that damping holds back, in soft bodies by some 1e5 1/s, end where the forces of
that moment hold them; a method with one rational function a step leaves them where they have just
been pushed to, and whoever measures a rate then, as a control law does, is misled.

Linear motions are made in parts by a method of second order that damps stiff motions at once, the
Rosenbrock method ROS2. On what is linear it is a combination of one and of two steps of backward
Euler's method, of g [s], all of which take the inverse of one matrix, M + g D + g^2 K. A step has
two parts; one (after which the robot is evaluated) where a stiffness that changes makes vibrations
that neither damping nor such a step resolves: one part damps them, with two they gather energy.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    copy,
    invert,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.simulation.integrators.forces import acceleration, generalized_force

TWO_STEPS_WEIGHT, ONE_STEP_WEIGHT = 1.0 + 2.0**0.5, -(2.0**0.5)  # of two steps of g, and of one


class ExponentialWorkspace(NamedTuple):
    """Arrays of a step, for n coordinates; states are (x, v), (2, n)."""

    M: Matrix  # (n, n) mass matrix at the start
    F: Vector  # (n,) force - ID(q, qd, 0) at the start; then with D qd added
    N: Vector  # (n,) force that the linear robot will lack at the end
    inverse: Matrix  # (n, n) of M + g D + g^2 K
    state: Matrix  # under F
    state_increment: Matrix  # that N adds to it
    once: Matrix  # after one step of backward Euler's method
    twice: Matrix  # after two
    a: Vector  # (n,) scratch
    q: Vector  # (n,) where the robot is evaluated; in the end, after the step
    qd: Vector  # (n,)
    parts: int  # of a step, 1 or 2
    blocks: Integers  # (B, 2) coordinates that no matrix couples with others: first, behind last
    first: Matrix  # scratch of the size of the first block, where there are several
    other: Matrix  # of that of each other block


def allocate_motion(n: int, parts: int, blocks: Integers | None = None) -> ExponentialWorkspace:
    """Return a :class:`ExponentialWorkspace` for steps of so many parts; all others one block."""
    vectors = {name: np.zeros(n) for name in ('F', 'N', 'a', 'q', 'qd')}
    states = {name: np.zeros((2, n)) for name in ('state', 'state_increment', 'once', 'twice')}
    squares = {name: np.zeros((n, n)) for name in ('M', 'inverse')}
    if blocks is None or len(np.unique(np.diff(blocks[1:], axis=1))) > 1:
        blocks = np.array([[0, n]])
    sizes = np.diff(blocks, axis=1).ravel() if len(blocks) > 1 else np.zeros(2, dtype=int)
    scratch = {'first': np.zeros((sizes[0],) * 2), 'other': np.zeros((sizes[1],) * 2)}
    return ExponentialWorkspace(
        **vectors, **states, **squares, **scratch, parts=parts, blocks=blocks
    )


def parts_of_step(model: Model, h: float) -> int:
    """Return how many parts a step of h [s] should have for a CompiledModel."""
    ranges = [range(first, first + count) for first, count in model.nonlinear]
    changing = np.array([i for each in ranges for i in each], dtype=int)
    stiffness, damping = (np.diag(each)[changing] for each in (model.stiffness, model.damping))
    return 2 if (damping >= 2.0 * h * stiffness).all() else 1


@kernel
def predict(K, D, q, qd, h, b):
    """
    Fill b.q, b.qd with where the robot is to be evaluated, on the way of a step of h [s].

    ``forces.save_start`` has gone before. Returns 0, or 1 if the step cannot be made.
    """
    n, g, x, v = len(q), L_STABLE_GAMMA * h / b.parts, b.state[0], b.state[1]
    for k in range(len(b.blocks)):
        first, last = b.blocks[k, 0], b.blocks[k, 1]
        for i in range(first, last):
            for j in range(first, last):
                b.inverse[i, j] = b.M[i, j] + g * (D[i, j] + g * K[i, j])
                b.F[i] += D[i, j] * qd[j]
            x[i], v[i] = 0.0, qd[i]
    if _invert(b) != 0:
        return 1
    _move(K, g, 0, 1.0, 0.0, b.state, b)
    for i in range(n):
        b.q[i], b.qd[i] = q[i] + x[i], v[i]
    return 0


@kernel
def correct(terms, K, D, force, q, h, b):
    """
    Fill b.q, b.qd with the state after the step; ``terms``, those at b.q, b.qd, are used up.

    Returns 0, or 1 if the robot cannot be there.
    """
    n, g, x, v, a = len(q), L_STABLE_GAMMA * h / b.parts, b.state[0], b.state[1], b.a
    if _accelerate(terms, force, b) != 0:
        return 1
    for k in range(len(b.blocks)):
        first, last = b.blocks[k, 0], b.blocks[k, 1]
        for i in range(first, last):
            lack = -b.F[i]
            for j in range(first, last):
                lack += b.M[i, j] * a[j] + D[i, j] * v[j] + K[i, j] * x[j]
            b.N[i] = lack * b.parts
    b.state_increment[:] = 0.0
    _move(K, g, 0, 0.0, 1.0, b.state_increment, b)
    for i in range(n):
        x[i] += b.state_increment[0, i]
        v[i] += b.state_increment[1, i]
    if b.parts == 2:
        _move(K, g, 1, 1.0, 1.0, b.state, b)
    for i in range(n):
        b.q[i], b.qd[i] = q[i] + x[i], v[i]
    return 0 if all_finite(b.q) and all_finite(b.qd) else 1


@inlined
def _invert(b):
    """Replace b.inverse by its inverse; not 0 if there is none."""
    if len(b.blocks) == 1:
        return invert(b.inverse)
    wrong = 0
    for k in range(len(b.blocks)):
        first, block = b.blocks[k, 0], b.first if k == 0 else b.other
        _take_block(b.inverse, first, block)
        wrong += invert(block)
        for i in range(len(block)):
            copy(block[i], b.inverse[first + i, first : first + len(block)])
    return wrong


@inlined
def _accelerate(terms, force, b):
    """Fill b.a with the acceleration under ``force``; not 0 if the mass matrix is none."""
    if len(b.blocks) == 1:
        return acceleration(terms, force, b.a)
    generalized_force(terms, force, b.a)
    wrong = 0
    for k in range(len(b.blocks)):
        first, last = b.blocks[k, 0], b.blocks[k, 1]
        block, a = b.first if k == 0 else b.other, b.a[first:last]
        _take_block(terms.M, first, block)
        wrong += cholesky(block)
        solve_lower(block, a)
        solve_lower_transposed(block, a)
    return wrong


@inlined
def _take_block(A, first, block):
    """Fill ``block`` (k, k) from A (n, n), from a coordinate on."""
    for i in range(len(block)):
        copy(A[first + i, first : first + len(block)], block[i])


@inlined
def _move(K, g, part, of_F, of_N, state, b):
    """Move a linear state (2, n) by one part, the one of that number, under so much of F and N."""
    once, twice = b.once, b.twice
    _backward_euler_step(K, g, of_F, of_N * (part + L_STABLE_GAMMA) / b.parts, state, once, b)
    _backward_euler_step(
        K, g, of_F, of_N * (part + 2.0 * L_STABLE_GAMMA) / b.parts, once, twice, b
    )
    for i in range(len(b.q)):
        state[0, i] = TWO_STEPS_WEIGHT * twice[0, i] + ONE_STEP_WEIGHT * once[0, i]
        state[1, i] = TWO_STEPS_WEIGHT * twice[1, i] + ONE_STEP_WEIGHT * once[1, i]


@inlined
def _backward_euler_step(K, g, of_F, of_N, state, then, b):
    """Make a step of g [s] by backward Euler's method from a state (2, n) to another."""
    for k in range(len(b.blocks)):
        first, last = b.blocks[k, 0], b.blocks[k, 1]
        a, x, v = b.a[first:last], state[0, first:last], state[1, first:last]
        x_then, v_then = then[0, first:last], then[1, first:last]
        for i in range(len(a)):
            push = of_F * b.F[first + i] + of_N * b.N[first + i] - dot(K[first + i, first:last], x)
            a[i] = dot(b.M[first + i, first:last], v) + g * push
        for i in range(len(a)):
            v_then[i] = dot(b.inverse[first + i, first:last], a)
            x_then[i] = x[i] + g * v_then[i]
