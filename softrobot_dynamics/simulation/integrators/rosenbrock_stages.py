# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Steps in time of M qdd = force - ID(q, qd, 0), implicit in stiffness and damping.

Explicit steps are limited by damping to some 20 us. Here both are taken implicitly by matrices K
and D (n, n), near the derivatives of the true forces; what they leave out is explicit. Methods are
of Rosenbrock's kind, for y = (q, qd), y' = f(y) and A near df/dy::

    (1 / (g h) - A) u_i = f(y + sum_j a_ij u_j) + sum_j c_ij u_j / h,   y += sum_j m_j u_j

The one here keeps its order whatever K and D are (a W-method), and damps stiff motions at once for
good ones (it is L-stable). A step is ``begin_step``, then ``solve_stage`` for each stage, after
``next_stage`` and an evaluation at its (q, qd) for all but the first, then ``finish_step``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import all_finite, factorise, solve_factorised
from softrobot_dynamics.simulation.integrators.forces import acceleration


class Method(NamedTuple):
    """Coefficients of a method of s stages; its error estimate is of the order below its own."""

    order: int
    gamma: float
    nodes: Vector  # (s,) times of stages, in steps
    a: Matrix  # (s, s) strictly lower
    c: Matrix  # (s, s) strictly lower
    m: Vector  # (s,)
    e: Vector  # (s,) for the difference to the solution of the lower order


def method(
    order: int,
    gamma: float,
    alpha: Sequence[Sequence[float]],
    beta: Sequence[Sequence[float]],
    b: Sequence[float],
    embedded: Sequence[float],
) -> Method:
    """Return the :class:`Method` of coefficients as literature has them (f(y + sum alpha k))."""
    inverse = np.linalg.inv(np.array(beta) + gamma * np.eye(len(b)))
    c = np.tril(np.eye(len(b)) / gamma - inverse, -1)
    return Method(
        order=order,
        gamma=gamma,
        nodes=np.sum(alpha, axis=1),
        a=np.array(alpha) @ inverse,
        c=c,
        m=np.array(b) @ inverse,
        e=np.subtract(b, embedded) @ inverse,
    )


# Rang, Angermann, BIT 45 (2005), ROS34PW2: four.
ROS34PW2 = method(
    order=3,
    gamma=4.3586652150845900e-01,
    alpha=[
        [0.0, 0.0, 0.0, 0.0],
        [8.7173304301691801e-01, 0.0, 0.0, 0.0],
        [8.4457060015369423e-01, -1.1299064236484185e-01, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ],
    beta=[
        [0.0, 0.0, 0.0, 0.0],
        [-8.7173304301691801e-01, 0.0, 0.0, 0.0],
        [-9.0338057013044082e-01, 5.4180672388095326e-02, 0.0, 0.0],
        [2.4212380706095346e-01, -1.2232505839045147e00, 5.4526025533510214e-01, 0.0],
    ],
    b=[
        2.4212380706095346e-01,
        -1.2232505839045147e00,
        1.5452602553351020e00,
        4.3586652150845900e-01,
    ],
    embedded=[3.7810903145819369e-01, -9.6042292212423178e-02, 0.5, 2.1793326075422950e-01],
)


class StageWorkspace(NamedTuple):
    """Arrays of a step by a method of s stages, for n coordinates."""

    method: Method
    M: Matrix  # (n, n) mass matrix at the start
    F: Vector  # (n,) force - ID(q, qd, 0) at the start
    L: Matrix  # (n, n) factors of M + g h D + (g h)^2 K
    uq: Matrix  # (s, n)
    uv: Matrix  # (s, n)
    q: Vector  # (n,) of the present stage; in the end, of the step
    qd: Vector  # (n,)
    a: Vector  # (n,) scratch
    r: Vector  # (n,) scratch
    error: Vector  # (n,) estimated, in q


def allocate_stages(method: Method, n: int) -> StageWorkspace:
    """Return :class:`StageWorkspace` for n coordinates."""
    s = len(method.m)
    return StageWorkspace(
        method=method,
        M=np.zeros((n, n)),
        F=np.zeros(n),
        L=np.zeros((n, n)),
        uq=np.zeros((s, n)),
        uv=np.zeros((s, n)),
        q=np.zeros(n),
        qd=np.zeros(n),
        a=np.zeros(n),
        r=np.zeros(n),
        error=np.zeros(n),
    )


@kernel
def begin_step(K, D, h, b):
    """Begin a step of h [s] after :func:`~.forces.save_start`; 0, or 1 if it cannot be made."""
    n, g = len(b.F), b.method.gamma * h
    for i in range(n):
        for j in range(n):
            b.L[i, j] = b.M[i, j] + g * (D[i, j] + g * K[i, j])
    return 1 if factorise(b.L) != 0 else 0


@kernel
def next_stage(i, q, qd, b):
    """Fill b.q, b.qd, where stage i > 0 is evaluated."""
    _combine(b.method.a[i], i, q, qd, b)


@kernel
def _combine(weights, s, q, qd, b):
    """Fill b.q, b.qd with the start and a combination of the first s stages."""
    for k in range(len(q)):
        b.q[k], b.qd[k] = q[k], qd[k]
    for j in range(s):
        w, uq, uv = weights[j], b.uq[j], b.uv[j]
        for k in range(len(q)):
            b.q[k] += w * uq[k]
            b.qd[k] += w * uv[k]


@kernel
def solve_stage(i, terms, K, force, qd, h, b):
    """
    Solve stage i, whose ``terms`` (at b.q, b.qd unless i = 0) are used up.

    Returns 0, or 1 if the robot cannot be there.
    """
    n, g, a, r = len(qd), b.method.gamma * h, b.a, b.r
    for k in range(n):
        r[k] = qd[k] if i == 0 else b.qd[k]
    if i > 0:
        if acceleration(terms, force, a) != 0:
            return 1
        for j in range(i):
            w, uq, uv = b.method.c[i, j] / h, b.uq[j], b.uv[j]
            for k in range(n):
                r[k] += w * uq[k]
                a[k] += w * uv[k]
    x = b.uv[i]
    for k in range(n):
        total = b.F[k] if i == 0 else 0.0
        for j in range(n):
            total -= g * K[k, j] * r[j]
        if i > 0:
            for j in range(n):
                total += b.M[k, j] * a[j]
        x[k] = total
    solve_factorised(b.L, x)
    for k in range(n):
        x[k] *= g
        b.uq[i, k] = g * (x[k] + r[k])
    return 0


@kernel
def finish_step(q, qd, b):
    """Fill b.q, b.qd with the state after the step, and b.error; 1 if they are no numbers."""
    n, method = len(q), b.method
    s = len(method.m)
    _combine(method.m, s, q, qd, b)
    for k in range(n):
        total = 0.0
        for j in range(s):
            total += method.e[j] * b.uq[j, k]
        b.error[k] = total
    return 0 if all_finite(b.q) and all_finite(b.qd) else 1
